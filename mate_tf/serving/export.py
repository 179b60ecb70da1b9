"""Writes a SavedModel that carries its vocabulary and converter settings along."""

import contextlib
import dataclasses
import os
import shutil

import tensorflow as tf
from absl import logging

from mate_tf.errors import InputError
from mate_tf.files.atomic import write_json
from mate_tf.serving import reading, signatures
from mate_tf.tables.conversion import ConversionConfig

SETTINGS_FILE = "mate_tf.json"
VOCABULARY_FILE = "vocab.txt"


def extras_dir(export_dir: str) -> str:
    """Where TensorFlow keeps files of the user's beside a SavedModel."""
    return os.path.join(export_dir, "assets.extra")


def export(
    model,
    export_dir: str,
    vocab_file: str,
    converter_options: dict,
    class_names=(),
    reads_tables=True,
) -> str:
    """Writes `model` as a SavedModel; an earlier one at the same place is replaced at the end.

    It has the signature `serving_default`, on strings, unless it reads no tables or its converter
    has a setting that a graph does not have (`reading.not_in_graph`); the log says so.

    The vocabulary and the options of the converter are exported too. Options of tables are changed:
    as much as fits is read of every table, and no more rows and columns than the model has ids for.

    Args:
        model: a `TableClassifier`.
        export_dir: folder to write.
        vocab_file: WordPiece vocabulary the model was trained with.
        converter_options: keyword arguments of the converter that made its examples.
        class_names: what the classes are called, if it classifies.
        reads_tables: whether it can be asked about tables.

    Returns:
        export_dir.

    Raises:
        InputError: if export_dir exists and is no SavedModel.
    """
    if os.path.isdir(export_dir) and os.listdir(export_dir) and not is_saved_model(export_dir):
        raise InputError(f"{export_dir}: exists and is no SavedModel; give another --export_dir")
    options, names, reader = dict(converter_options), list(class_names), None
    if reads_tables:
        config = _fitting(ConversionConfig(**options), model.config)
        options, reader = dataclasses.asdict(config), _reader(vocab_file, config)
    # A killed run leaves its folder behind; the next one begins with removing it.
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
        shutil.rmtree(export_dir, ignore_errors=True)
        os.replace(partial, export_dir)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return export_dir


def _reader(vocab_file, config: ConversionConfig) -> reading.TableReader | None:
    """Returns what makes features of strings in the graph; None if it cannot follow an option."""
    missing = reading.not_in_graph(config)
    if missing:
        logging.warning(
            "no %s: strings are not read with %s in the graph; mate_tf.Predictor does",
            signatures.SERVING_DEFAULT,
            ", ".join(missing),
        )
        return None
    return reading.TableReader(vocab_file, config)


def _fitting(config: ConversionConfig, model) -> ConversionConfig:
    """Returns a config that reads as much as fits of any table.

    Rows and columns beyond the model's number would share the last one.
    """
    return dataclasses.replace(
        config,
        max_row_id=min(config.max_row_id, model.max_num_rows),
        max_column_id=min(config.max_column_id, model.max_num_columns),
        drop_rows_to_fit=True,
        drop_columns_to_fit=True,
        trim_question_to_fit=True,
    )


def is_saved_model(path: str) -> bool:
    """Whether `path` is a folder with a SavedModel in it."""
    return os.path.isfile(os.path.join(path, "saved_model.pb"))
