"""Keras models that answer without an export."""

import tensorflow as tf

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.serving import signatures
from mate_tf.serving.served import ServedModel

EAGER_CALLS = 32
"""Calls after which the graph is traced. Tracing takes seconds, so a few questions are answered
sooner without a graph; after that each call is faster with one."""


class LiveModel(ServedModel):
    """A `TableClassifier` in this process, with the same outputs as its export.

    Args:
        model: a `TableClassifier`.
        converter: makes its examples.
        class_names: names of the classes, if it classifies.
    """

    def __init__(self, model, converter: ExampleConverter, class_names=()):
        super().__init__(self._serve, converter, class_names)
        self.keras_model = model
        self._module = signatures.ServingModule(model, class_names=class_names)
        self._calls = 0

    def _serve(self, serialized: tf.Tensor) -> dict[str, tf.Tensor]:
        self._calls += 1
        if self._calls > EAGER_CALLS:
            return self._module.serving_examples(serialized)
        features = signatures.parse_examples(serialized, self.keras_model.num_parts)
        return self._module.answers(features)
