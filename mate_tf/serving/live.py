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
        encoder: function from features to the outputs of the encoder, in place of the model's own,
            such as a `QuantizedEncoder`.
    """

    def __init__(self, model, converter: ExampleConverter, class_names=(), encoder=None):
        super().__init__(self._serve, converter, class_names)
        self.keras_model = model
        self._module = signatures.ServingModule(model, class_names=class_names)
        self._encoder = encoder
        self._traced_answers = tf.function(
            self._module.answers, autograph=False, reduce_retracing=True
        )
        self._calls = 0

    def _serve(self, serialized: tf.Tensor) -> dict[str, tf.Tensor]:
        self._calls += 1
        traced = self._calls > EAGER_CALLS
        if traced and self._encoder is None:
            return self._module.serving_examples(serialized)
        features = signatures.parse_examples(serialized, self.keras_model.num_parts)
        if self._encoder is None:
            return self._module.answers(features)
        answers = self._traced_answers if traced else self._module.answers
        return answers(features, self._encoder(features))
