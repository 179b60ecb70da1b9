"""A Keras model that answers without being exported."""

import tensorflow as tf

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.serving import signatures
from mate_tf.serving.served import ServedModel

EAGER_CALLS = 32
"""Calls after which the graph is traced. That takes a second for full attention in BERT-base and
ten for `mate_efficient`; without a graph each call takes 0.15 s more."""


class LiveModel(ServedModel):
    """A `TableClassifier` in this process, which gives the outputs that its export would give.

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
