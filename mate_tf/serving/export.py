"""Writes a SavedModel with its vocabulary and the settings of its converter."""

import contextlib
import dataclasses
import os
import shutil

import tensorflow as tf
from absl import logging

from mate_tf.errors import InputError
from mate_tf.evaluation import calibration as calibrations
from mate_tf.files.atomic import write_json
from mate_tf.serving import signatures, table_reader
from mate_tf.tables.conversion import ConversionConfig

SETTINGS_FILE = "mate_tf.json"
VOCABULARY_FILE = "vocab.txt"


def extras_dir(export_dir: str) -> str:
    """Returns the folder of additional files in a SavedModel, `assets.extra`."""
    return os.path.join(export_dir, "assets.extra")


def export(
    model,
    export_dir: str,
    vocab_file: str,
    converter_options: dict,
    class_names=(),
    reads_tables=True,
    calibration: calibrations.Calibration | None = None,
) -> str:
    """Writes `model` as a SavedModel. An earlier one in the same folder is replaced at the end.

    The SavedModel always has the signature `serving_examples`. It also has `serving_default`, which
    takes strings, if the model reads tables and the graph supports all options of the converter
    (see `table_reader.not_in_graph`). Otherwise a warning is logged.

    The vocabulary and the options of the converter are exported too. Options of tables are changed:
    rows, columns and question are shortened to fit into the sequence, and rows and columns are
    limited to the ids that the model has.

    Args:
        model: a `TableClassifier`.
        export_dir: folder to write.
        vocab_file: WordPiece vocabulary the model was trained with.
        converter_options: keyword arguments of the converter that made its examples.
        class_names: names of the classes, for models that classify.
        reads_tables: True if the model answers questions about tables.
        calibration: makes confidences of its probabilities; None: answers have no confidence.

    Returns:
        export_dir.

    Raises:
        InputError: if export_dir exists, is not empty and is no SavedModel.
    """
    if os.path.isdir(export_dir) and os.listdir(export_dir) and not is_saved_model(export_dir):
        raise InputError(f"{export_dir}: exists and is no SavedModel; give another --export_dir")
    options, names, reader = dict(converter_options), list(class_names), None
    if reads_tables:
        limits = model.config.max_num_rows, model.config.max_num_columns
        config = ConversionConfig(**options).fitting(*limits)
        options, reader = dataclasses.asdict(config), _reader(vocab_file, config)
    # A killed run leaves its partial folder behind. The next run removes it first.
    partial = f"{export_dir.rstrip('/')}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        module = signatures.ServingModule(model, reader, names)
        with contextlib.ExitStack() as exporting:
            for block in model.encoder.blocks:
                exporting.enter_context(block.attention.exporting())
            tf.saved_model.save(module, partial, signatures=module.signatures())
        os.makedirs(extras_dir(partial))
        shutil.copyfile(vocab_file, os.path.join(extras_dir(partial), VOCABULARY_FILE))
        settings = {"converter": options, "class_names": names, "reads_tables": reads_tables}
        write_json(os.path.join(extras_dir(partial), SETTINGS_FILE), settings, sort_keys=True)
        if calibration is not None:
            path = os.path.join(extras_dir(partial), calibrations.FILE)
            write_json(path, dataclasses.asdict(calibration))
        shutil.rmtree(export_dir, ignore_errors=True)
        os.replace(partial, export_dir)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return export_dir


def _reader(vocab_file, config: ConversionConfig) -> table_reader.TableReader | None:
    """Returns the reader of the signature on strings; None if the graph lacks a set option."""
    missing = table_reader.not_in_graph(config)
    if missing:
        logging.warning(
            "no signature %s: the graph does not support %s; use mate_tf.Predictor instead",
            signatures.SERVING_DEFAULT,
            ", ".join(missing),
        )
        return None
    return table_reader.TableReader(vocab_file, config)


def is_saved_model(path: str) -> bool:
    """Returns True if the folder `path` contains a SavedModel."""
    return os.path.isfile(os.path.join(path, "saved_model.pb"))
