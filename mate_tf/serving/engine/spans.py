"""Heads of spans in NumPy: what `models.heads.spans` and `models.heads.reader` answer."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mate_tf.serving.engine.heads import LOG_ZERO

_SPAN, _BOUNDARY, _MLP = "span", "boundary", "mlp"

WEIGHTS = {
    "none": (),
    _SPAN: ("loss/span_output_weights", "loss/span_output_bias"),
    _BOUNDARY: (
        *("loss/start_output_weights", "loss/start_output_bias"),
        *("loss/end_output_weights", "loss/end_output_bias"),
    ),
    _MLP: (
        *("loss/span_hidden_weights", "loss/span_hidden_bias"),
        *("loss/span_mlp_output_weights", "loss/span_mlp_output_bias"),
    ),
}
"""Value of `span_prediction` -> names of the head's weights in checkpoints."""


def _gelu(x: np.ndarray) -> np.ndarray:
    # x**3 would take several times as long as all of this.
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x)))


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gelu": _gelu,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "linear": lambda x: x,
}
"""Values of `span_activation`; NumPy lacks the error function of "gelu_exact"."""


@dataclasses.dataclass(frozen=True)
class Spans:
    """The head that selects a span of a cell.

    Attributes:
        config: fields of the `ClassifierConfig`, name -> value.
        weights: name in checkpoints -> array.
    """

    config: Mapping[str, Any]
    weights: Mapping[str, np.ndarray]

    def outputs(
        self, features: Mapping[str, np.ndarray], sequence: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Computes pred_span, span_log_prob and empty_span_log_prob for one example.

        Args:
            features: name -> <int32>[seq].
            sequence: <float32>[seq, hidden], the encoder's output.

        Returns:
            As `ServingModule.serving_examples`; only the spans within cells are scored.
        """
        starts, ends = self._of_tokens(sequence)
        rows, columns = features["row_ids"], features["column_ids"]
        spans, scores = [], []
        for size in range(1, min(self.config["max_span_length"], len(rows)) + 1):
            first = np.arange(len(rows) - size + 1)
            last = first + size - 1
            within = (rows[first] == rows[last]) & (rows[first] > 0)
            within &= (columns[first] == columns[last]) & (columns[first] > 0)
            spans.append(np.stack([first, last], axis=1)[within])
            scores.append(self._scores(starts[first[within]], ends[last[within]]))
        # [spans in cells, 2] and [spans in cells]
        result, logits = np.concatenate(spans), np.concatenate(scores)
        candidates = logits
        if self.config["allow_empty_span"]:  # [CLS] is the empty span
            empty = self._scores(starts[:1], ends[:1])
            candidates = np.append(empty, logits)
        total = _log_sum(candidates)
        outputs = {
            "pred_span": np.zeros(2, np.int32),
            "span_log_prob": LOG_ZERO,
        }
        if len(result):
            best = int(np.argmax(logits))
            outputs["pred_span"] = result[best].astype(np.int32)
            outputs["span_log_prob"] = np.float32(logits[best] - total)
        if self.config["allow_empty_span"]:
            outputs["empty_span_log_prob"] = np.float32(candidates[0] - total)
        return outputs

    def _of_tokens(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns what each token adds to spans that begin and end with it, <float32>[seq, …]."""
        kind = self.config["span_prediction"]
        weights = [self.weights[name] for name in WEIGHTS[kind]]
        if kind == _BOUNDARY:
            of_start, start_bias, of_end, end_bias = weights
            return x @ of_start + start_bias, x @ of_end + end_bias
        of_start, of_end = np.split(weights[0], 2)
        return x @ of_start + weights[1], x @ of_end

    def _scores(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Returns the scores of spans, <float32>[spans], by what their ends add."""
        if self.config["span_prediction"] != _MLP:
            return starts + ends
        output, bias = (self.weights[name] for name in WEIGHTS[_MLP][2:])
        return ACTIVATIONS[self.config["span_activation"]](starts + ends) @ output + bias


def _log_sum(x: np.ndarray) -> np.float32:
    """Returns the logarithm of the sum of exponentials, <float32>[]; 0 of nothing."""
    if not len(x):
        return np.float32(0)
    largest = x.max()
    return largest + np.log(np.exp(x - largest).sum())
