"""Base class of models that answer examples: exports, and Keras models in this process."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mate_tf.checkpoints import finite
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.serving import export_files, signatures
from mate_tf.serving.read_part import ReadPart
from mate_tf.serving.signatures import SERVING_EXAMPLES


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
        config: fields of its config; None for an export.
        engine, precision: what computes; the precision of an export is not known.
    """

    keras_model: Any = None
    config: dict[str, Any] | None = None
    engine = "tensorflow"
    precision: str | None = None

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

    def compute(self, parts: Sequence[ReadPart]) -> list[dict[str, np.ndarray]]:
        """Returns the outputs for each part of a table, without batch axis."""
        return self(*(part.example for part in parts))


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
        self.keras_model, self.config = model, model.config.as_dict()
        self._module = signatures.ServingModule(model, class_names=class_names)
        self.precision = model.encoder.compute_dtype
        self._calls = 0

    def _serve(self, serialized: tf.Tensor) -> dict[str, tf.Tensor]:
        self._calls += 1
        if self._calls > EAGER_CALLS:
            return self._module.serving_examples(serialized)
        return self._module.answers(
            signatures.parse_examples(serialized, self.keras_model.num_parts)
        )


class ExportedModel(ServedModel):
    """A SavedModel written by `mate_tf.serving.export`, loaded, with its example converter.

    Args:
        saved_model_dir: folder of the SavedModel.
        reading: options of `ConversionConfig.reading`, in place of those of the export.

    Attributes:
        converter: an `ExampleConverter` with the settings of the export.
        class_names: names of the classes; empty for models that do not classify.

    Raises:
        InputError: if the folder has no SavedModel of mate-tf, or its model does not read tables.
    """

    def __init__(self, saved_model_dir: str, reading=None):
        result = export_files.read(saved_model_dir)
        self._model, signature = load_signature(saved_model_dir, SERVING_EXAMPLES)
        super().__init__(signature, result.converter(reading), result.class_names)


def load_signature(saved_model_dir: str, name: str) -> tuple:
    """Returns a SavedModel, which must be kept, and one of its signatures.

    Raises:
        InputError: if a file is missing or damaged, a weight is not finite, or there is no such
            signature.
    """
    paths.check_no_pattern(saved_model_dir, saved_model_dir)
    try:
        model = tf.saved_model.load(saved_model_dir)
        signature = model.signatures[name]
    except Exception as error:  # which one depends on where the files are damaged
        raise InputError(f"{saved_model_dir}: not a readable SavedModel ({error!r})") from error
    finite.check_variables(saved_model_dir, signature.variables)
    return model, signature
