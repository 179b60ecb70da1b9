"""Files of an export: settings and vocabulary next to a SavedModel. Does not import TensorFlow."""

import dataclasses
import hashlib
import os
from typing import Any

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.files.json_files import read_json_object
from mate_tf.tables.conversion import ConversionConfig

SETTINGS_FILE = "mate_tf.json"
VOCABULARY_FILE = "vocab.txt"


@dataclasses.dataclass(frozen=True)
class ExportedModel:
    """A SavedModel that answers questions about tables.

    Attributes:
        folder: its folder.
        options: fields of the `ConversionConfig` of its examples.
        class_names: names of the classes; empty for models that do not classify.
        fingerprint: of the vocabulary.
        model: config, precision and names of the variables, see `export`; {} in older exports.
    """

    folder: str
    options: dict[str, Any]
    class_names: list[str]
    fingerprint: str
    model: dict[str, Any]

    def converter(self, reading: dict[str, bool] | None = None) -> ExampleConverter:
        """Returns the converter of its examples.

        Args:
            reading: options of `ConversionConfig.reading`, in place of those of the export.

        Raises:
            InputError: if an option or the vocabulary is not the exported one.
        """
        extras = extras_dir(self.folder)
        config = _conversion(self.options, extras).reading(reading)
        path = os.path.join(extras, VOCABULARY_FILE)
        converter = ExampleConverter.from_config(path, config)
        if self.fingerprint != fingerprint(path):
            raise InputError(
                f"{path}: is not the vocabulary that was exported with the model; export it again"
            )
        return converter


def extras_dir(export_dir: str) -> str:
    """Returns the folder of additional files in a SavedModel, `assets.extra`."""
    return os.path.join(export_dir, "assets.extra")


def is_saved_model(path: str) -> bool:
    """Returns True if the folder `path` contains a SavedModel."""
    return os.path.isfile(os.path.join(path, "saved_model.pb"))


def fingerprint(vocab_file: str) -> str:
    """Returns the SHA-256 of a vocabulary, which tells whether it is the one of a model."""
    return hashlib.sha256(paths.read_bytes(vocab_file)).hexdigest()


def read(folder: str) -> ExportedModel:
    """Reads the settings of an export.

    Raises:
        InputError: if the folder has no SavedModel of mate-tf, or its model does not read tables.
    """
    settings = read_settings(folder)
    if settings.get("writes_text"):
        raise InputError(
            f"{folder}: the model writes texts; load it with mate_tf.serving.Summarizer"
        )
    if not settings.get("reads_tables", True):
        raise InputError(
            f"{folder}: the model does not read tables; it takes tf.train.Examples with the "
            "signature serving_examples"
        )
    model = settings.get("model")
    return ExportedModel(
        folder,
        settings["converter"],
        settings["class_names"],
        settings.get("vocabulary", ""),
        model if isinstance(model, dict) else {},
    )


def read_settings(saved_model_dir: str) -> dict:
    """Reads the settings file of an export; raises InputError if it is missing or broken."""
    path = os.path.join(extras_dir(saved_model_dir), SETTINGS_FILE)
    if not is_saved_model(saved_model_dir):
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


def _conversion(options: dict, extras: str) -> ConversionConfig:
    """Returns the options of an export's converter."""
    known = dataclasses.asdict(ConversionConfig())
    for name, value in options.items():
        where = f"{os.path.join(extras, SETTINGS_FILE)}: converter.{name}"
        if name not in known:
            raise InputError(f"{where}: unknown, as in exports of a newer version of mate-tf")
        if type(value) is not type(known[name]):
            raise InputError(f"{where}={value!r}: expected {type(known[name]).__name__}")
    return ConversionConfig(**options)
