"""Heads of a table classifier in NumPy: what `models.heads` computes to answer, without losses."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

LOG_ZERO = np.float32(-10_000.0)
"""Logit, or addend to a logit, of impossible choices; as in `models.heads.base`."""


class Cells:
    """Assignment of the tokens of one example to cells; see `layers.cells.Cells`.

    Args:
        rows, columns: <int>[seq], ids of the tokens.
        mask: <int>[seq], 0 for padding.
        shape: most rows with the header, and columns with column 0. Those beyond are merged into
            the last one.
    """

    def __init__(self, rows, columns, mask, shape: tuple[int, int]):
        self.shape, self._mask = shape, mask > 0
        self._ids = np.minimum(rows, shape[0] - 1) * shape[1] + np.minimum(columns, shape[1] - 1)
        self._counts = self.sum(np.ones(len(rows), np.float32))
        self.present = self._counts > 0
        self.in_table = self.present.copy()
        self.in_table[0], self.in_table[:, 0] = False, False

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Sums values <float32>[seq] over the tokens of each cell, <float32>[rows, columns]."""
        number = self.shape[0] * self.shape[1]
        sums = np.bincount(self._ids, np.where(self._mask, values, 0), number)
        return sums.astype(np.float32).reshape(self.shape)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Averages values <float32>[seq] over the tokens of each cell; 0 if there are no tokens."""
        return self.sum(values) / np.maximum(self._counts, 1)

    def to_tokens(self, values: np.ndarray) -> np.ndarray:
        """Returns the value of each token's cell, [rows, columns] -> [seq]."""
        return values.ravel()[self._ids]

    def column_mean(self, values: np.ndarray) -> np.ndarray:
        """Averages <float32>[rows, columns] over the present cells of each column."""
        return (values * self.present).sum(axis=0) / np.maximum(self.present.sum(axis=0), 1)


@dataclasses.dataclass(frozen=True)
class Heads:
    """The heads of a model.

    Attributes:
        config: fields of the `ClassifierConfig`, name -> value.
        weights: name in the reference's checkpoints -> array.
    """

    config: Mapping[str, Any]
    weights: Mapping[str, np.ndarray]

    def outputs(
        self, features: Mapping[str, np.ndarray], sequence: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Computes the outputs of `ServingModule.serving_examples` for one example.

        Args:
            features: name -> <int32>[seq].
            sequence: <float32>[seq, hidden], the encoder's output.
        """
        config, mask = self.config, features["input_mask"]
        shape = config["max_num_rows"], config["max_num_columns"]
        cells = Cells(features["row_ids"], features["column_ids"], mask, shape)
        probabilities, chosen = self._cells(sequence, cells, mask)
        of_cells = cells.mean(probabilities)[1:, 1:]
        selected = (chosen & cells.in_table)[1:, 1:]
        if config["disable_per_token_loss"]:
            selected = np.zeros_like(selected)
        probability = np.float32((of_cells * selected).sum())
        if not config["cell_cross_entropy"]:
            probability /= max(selected.sum(), 1)
        answer = {
            "probabilities": probabilities,
            "row_ids": features["row_ids"],
            "column_ids": features["column_ids"],
            "cell_probabilities": of_cells,
            "selected": selected.astype(np.int32),
            "probability": np.float32(probability),
        }
        pooled = self._pooled(features, sequence)
        if config["num_aggregation_labels"]:
            answer["aggregation_probabilities"] = _softmax(self._linear(pooled, "agg"))
        if config["num_classification_labels"] and not config["cells_or_class"]:
            answer["class_probabilities"] = _softmax(self._linear(pooled, "cls"))
        return answer

    def _cells(self, x: np.ndarray, cells: Cells, mask: np.ndarray):
        """Returns the probability of each token, <float32>[seq], and the chosen cells."""
        config = self.config
        logits = self._score(x, "output") / np.float32(config["temperature"])
        if config["cell_cross_entropy"]:
            return self._distribution(logits, cells, mask)
        if config["select_one_column"]:
            open_cells = cells.present.copy()
            column = self._column(x, cells)
            open_cells[:, np.arange(cells.shape[1]) != column] = False
            open_cells[:, 0] = False
            logits = cells.to_tokens(cells.mean(logits) + LOG_ZERO * ~open_cells)
        elif config["average_logits_per_cell"]:
            logits = cells.to_tokens(cells.mean(logits))
        probabilities = _sigmoid(logits) * (mask > 0)
        means = cells.mean(probabilities)
        chosen = means > config["cell_classification_threshold"]
        if config["always_select_cell"] and not (chosen & cells.in_table).any():
            data = means * cells.in_table
            chosen |= (data == data.max()) & (data > 0)
        return probabilities, chosen

    def _column(self, x: np.ndarray, cells: Cells) -> int:
        """Returns the selected column; 0: none."""
        logits = cells.column_mean(cells.mean(self._score(x, "column_output")))
        absent = ~np.any(cells.present, axis=0)
        absent[0] = not self.config["allow_empty_column_selection"]
        return int(np.argmax(logits + LOG_ZERO * absent))

    def _distribution(self, logits: np.ndarray, cells: Cells, mask: np.ndarray):
        """Computes the softmax over the data cells (`models.heads.CellSoftmaxHead`)."""
        config = self.config
        scores = (cells.mean(logits) + LOG_ZERO * ~cells.in_table).ravel()
        empty = config["allow_empty_column_selection"]
        probabilities = _softmax(np.append(scores, logits[0]) if empty else scores)
        of_cells = probabilities[: scores.size].reshape(cells.shape) * cells.in_table
        chosen = of_cells >= np.float32(config["cell_selection_ratio"]) * of_cells.max()
        if empty and not config["always_select_cell"]:
            chosen &= probabilities[-1] <= 0.5
        return cells.to_tokens(of_cells) * (mask > 0), chosen

    def _score(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[f"{name}_weights"] + self.weights[f"{name}_bias"]

    def _linear(self, x: np.ndarray, suffix: str) -> np.ndarray:
        for index in range(len(self.config["classification_hidden_sizes"]) * (suffix == "cls")):
            kernel, bias = (
                self.weights[f"hidden_{index}_{part}_{suffix}"] for part in ("weights", "bias")
            )
            x = np.maximum(x @ kernel + bias, 0)
        return (
            x @ self.weights[f"output_weights_{suffix}"].T + self.weights[f"output_bias_{suffix}"]
        )

    def _pooled(self, features, sequence: np.ndarray) -> np.ndarray:
        """Returns <float32>[hidden], see `EncoderConfig.pooling`."""
        pooling, real = self.config["encoder"]["pooling"], features["input_mask"] > 0
        if pooling == "first":
            pooled = sequence[0]
        elif pooling == "max":
            pooled = sequence[real].max(axis=0, initial=-np.inf) if real.any() else sequence[0] * 0
        else:
            tokens = real & (features["segment_ids"] == 0) if pooling == "question" else real
            pooled = sequence[tokens].sum(axis=0) / max(tokens.sum(), 1)
        kernel, bias = (self.weights[f"bert/pooler/dense/{part}"] for part in ("kernel", "bias"))
        return np.tanh(pooled @ kernel + bias)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def _softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max())
    return powers / powers.sum()
