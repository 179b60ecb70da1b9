"""Base class of models that answer examples: exports, and Keras models in this process."""

import dataclasses
import os
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_object
from mate_tf.serving import export, signatures
from mate_tf.serving.read_part import ReadPart
from mate_tf.serving.signatures import SERVING_EXAMPLES
from mate_tf.tables.conversion import ConversionConfig


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

    keras_model = None
    config = None
    engine = "tensorflow"
    precision = None

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
        InputError: if the folder has no SavedModel of mate-tf, or its model reads no tables.
    """

    def __init__(self, saved_model_dir: str, reading=None):
        settings = read_settings(saved_model_dir)
        if settings.get("writes_text"):
            raise InputError(
                f"{saved_model_dir}: its model writes texts; load it with "
                "mate_tf.serving.Summarizer"
            )
        if not settings.get("reads_tables", True):
            raise InputError(
                f"{saved_model_dir}: its model reads no tables; it takes tf.train.Examples with "
                f"the signature {SERVING_EXAMPLES}"
            )
        extras = export.extras_dir(saved_model_dir)
        config = _conversion(settings["converter"], extras).reading(reading)
        self._model, signature = load_signature(saved_model_dir, SERVING_EXAMPLES)
        vocabulary = os.path.join(extras, export.VOCABULARY_FILE)
        converter = ExampleConverter.from_config(vocabulary, config)
        _check_vocabulary(converter, settings)
        super().__init__(signature, converter, settings["class_names"])


def _check_vocabulary(converter: ExampleConverter, settings: dict) -> None:
    """Raises InputError if the vocabulary is not the one that was exported."""
    if settings.get("vocabulary") != export.fingerprint(converter.vocab_file):
        raise InputError(
            f"{converter.vocab_file}: is not the vocabulary that was "
            "exported with the model; export it again"
        )


def _conversion(options: dict, extras: str) -> ConversionConfig:
    """Returns the options of an export's converter."""
    known = dataclasses.asdict(ConversionConfig())
    for name, value in options.items():
        where = f"{os.path.join(extras, export.SETTINGS_FILE)}: converter.{name}"
        if name not in known:
            raise InputError(f"{where}: unknown, as in exports of a newer version of mate-tf")
        if type(value) is not type(known[name]):
            raise InputError(f"{where}={value!r}: expected {type(known[name]).__name__}")
    return ConversionConfig(**options)


def load_signature(saved_model_dir: str, name: str) -> tuple:
    """Returns a SavedModel, which must be kept, and one of its signatures.

    Raises:
        InputError: if a file is missing or damaged, or there is no such signature.
    """
    try:
        model = tf.saved_model.load(saved_model_dir)
        return model, model.signatures[name]
    except Exception as error:  # which one depends on where the files are damaged
        raise InputError(f"{saved_model_dir}: not a readable SavedModel ({error!r})") from error


def read_settings(saved_model_dir: str) -> dict:
    """Reads the settings file of an export; raises InputError if it is missing or broken."""
    path = os.path.join(export.extras_dir(saved_model_dir), export.SETTINGS_FILE)
    if not export.is_saved_model(saved_model_dir):
        raise InputError(f"{saved_model_dir}: no SavedModel here; --mode=export writes one")
    hint = "; was it exported by mate-tf?"
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file{hint}")
    settings = {"class_names": []} | read_json_object(path)
    if not isinstance(settings.get("converter"), dict):
        raise InputError(f"{path}: expected an object under the key converter{hint}")
    names = settings["class_names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{path}: class_names: expected a list of texts{hint}")
    return settings
