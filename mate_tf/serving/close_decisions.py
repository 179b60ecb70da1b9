"""Answers of a model in small precision whose decisions are close, computed again in float32."""

from collections.abc import Callable, Sequence

import numpy as np

from mate_tf.serving.read_part import ReadPart

_THRESHOLD = 0.5  # above it a cell is selected, if cells have independent probabilities


def margin(outputs: dict[str, np.ndarray]) -> float:
    """Returns how far the probabilities of an answer are from those of another answer.

    Args:
        outputs: outputs of `ServingModule.serving_examples` for one example, without batch axis:
            cells and `selected` of shape [rows, columns], classes or operations [K].

    Returns:
        The smallest of these differences: of the two best operations or classes; of a cell and the
        threshold 1/2; of the least probable selected cell and the most probable other one.
    """
    if "class_probabilities" in outputs:
        return _gap(outputs["class_probabilities"])
    cells, selected = outputs["cell_probabilities"], outputs["selected"] > 0
    # Cells that are not read, and those outside the selected column, have probability 0.
    to_threshold = np.abs(cells[cells > 0] - _THRESHOLD).min(initial=1.0)
    to_others = cells[selected].min(initial=1.0) - cells[~selected].max(initial=0.0)
    return min(
        float(to_threshold), float(to_others), _gap(outputs.get("aggregation_probabilities", ()))
    )


def _gap(probabilities) -> float:
    """Returns the difference of the two largest probabilities; 1 if there is one or none."""
    if len(probabilities) < 2:
        return 1.0
    second, best = np.sort(probabilities)[-2:]
    return float(best - second)


class WithFloat32:
    """A model in small precision, which leaves close decisions to one in float32.

    Args:
        fast: the `ServedModel` or `EngineServed` in small precision.
        exact: the one in float32 with the same weights.
        least: answers with a smaller `margin` are those of `exact`.
    """

    def __init__(self, fast, exact, least: float):
        self.converter, self.class_names = fast.converter, fast.class_names
        self.engine, self.precision = fast.engine, fast.precision
        self._fast, self._exact, self._least = fast, exact, least

    @property
    def keras_model(self):
        """The `TableClassifier` in small precision."""
        return self._fast.keras_model

    @property
    def config(self):
        """Fields of the model's `ClassifierConfig`."""
        return self._fast.config

    def __call__(self, *examples) -> list[dict[str, np.ndarray]]:
        """Returns the outputs for each tf.train.Example, without batch axis."""
        return self._with_exact(examples, self._fast(*examples), lambda close: self._exact(*close))

    def compute(self, parts: Sequence[ReadPart]) -> list[dict[str, np.ndarray]]:
        """Returns the outputs for each part of a table, without batch axis."""
        return self._with_exact(parts, self._fast.compute(parts), self._exact.compute)

    def _with_exact(self, given: Sequence, outputs: list[dict], compute: Callable) -> list[dict]:
        """Replaces the outputs of close decisions."""
        close = [index for index, each in enumerate(outputs) if margin(each) < self._least]
        if close:
            again = compute([given[index] for index in close])
            for index, each in zip(close, again, strict=True):
                outputs[index] = each
        return outputs
