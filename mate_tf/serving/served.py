"""Base class of models that answer examples: exports, and Keras models in this process."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from mate_tf.data.converters.examples import ExampleConverter


class ServedModel:
    """A graph that answers examples, and the converter that makes them.

    Args:
        serving_examples: function from <string>[batch] to the outputs of
            `ServingModule.serving_examples`.
        converter: makes its examples.
        class_names: names of the classes, if it classifies.

    Attributes:
        converter: the converter.
        class_names: list of the names.
        keras_model: the `TableClassifier`; None for an export.
    """

    keras_model = None

    def __init__(self, serving_examples: Callable, converter: ExampleConverter, class_names=()):
        self._serving_examples = serving_examples
        self.converter = converter
        self.class_names = list(class_names)

    def __call__(self, *examples: tf.train.Example) -> list[dict[str, np.ndarray]]:
        """Returns the outputs for each example, without batch axis."""
        serialized = tf.constant([example.SerializeToString() for example in examples])
        outputs = self._serving_examples(serialized)
        arrays = {name: value.numpy() for name, value in outputs.items()}
        return [
            {name: values[index] for name, values in arrays.items()}
            for index in range(len(examples))
        ]
