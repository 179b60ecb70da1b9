"""Loads an exported SavedModel and the converter that makes its examples."""

import os

import tensorflow as tf

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.files.json_object import read_json_object
from mate_tf.serving import export
from mate_tf.serving.served import ServedModel
from mate_tf.serving.signatures import SERVING_EXAMPLES
from mate_tf.tables.conversion import ConversionConfig


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
        settings = _settings(saved_model_dir)
        if not settings.get("reads_tables", True):
            raise InputError(
                f"{saved_model_dir}: its model reads no tables; it takes tf.train.Examples with "
                f"the signature {SERVING_EXAMPLES}"
            )
        try:
            self._model = tf.saved_model.load(saved_model_dir)
        except (OSError, ValueError, tf.errors.OpError) as error:
            raise InputError(f"{saved_model_dir}: not a readable SavedModel ({error})") from error
        vocabulary = os.path.join(export.extras_dir(saved_model_dir), export.VOCABULARY_FILE)
        super().__init__(
            self._model.signatures[SERVING_EXAMPLES],
            ExampleConverter.from_config(
                vocabulary, _conversion(settings["converter"]).reading(reading)
            ),
            settings.get("class_names", []),
        )


def _conversion(options: dict) -> ConversionConfig:
    """Returns the options of an export's converter."""
    config = ConversionConfig(**options)
    if config.renumber_to_fit:
        return config
    # Earlier versions exported without it, and dropped what comes last in the table.
    return config.fitting(config.max_row_id, config.max_column_id)


def _settings(saved_model_dir: str) -> dict:
    """Reads the settings file of an export; raises InputError if it is missing or broken."""
    path = os.path.join(export.extras_dir(saved_model_dir), export.SETTINGS_FILE)
    if not export.is_saved_model(saved_model_dir):
        raise InputError(f"{saved_model_dir}: no SavedModel here; --mode=export writes one")
    return read_json_object(path, hint="; was it exported by mate-tf?")
