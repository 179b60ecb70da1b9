"""Writes a SavedModel that carries its vocabulary and converter settings along."""

import os
import shutil

import tensorflow as tf
from absl import logging

from mate_tf.errors import InputError
from mate_tf.files.atomic import write_json
from mate_tf.serving import reading, signatures

SETTINGS_FILE = "mate_tf.json"
VOCABULARY_FILE = "vocab.txt"
# An exported model is asked about tables it was not made for: it reads what fits of them.
_FIT_ANY_TABLE = {
    "drop_rows_to_fit": True,
    "drop_columns_to_fit": True,
    "trim_question_to_fit": True,
}


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

    With it go the vocabulary and the settings of a converter; those of tables are changed so that
    of every table it takes as much as fits, and no more rows and columns than the model tells
    apart.

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
    options, names = dict(converter_options), list(class_names)
    if reads_tables:
        options |= _FIT_ANY_TABLE | _told_apart(model.config, converter_options)
    # A killed run leaves its folder behind; the next one begins with removing it.
    partial = f"{export_dir.rstrip('/')}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        module = signatures.ServingModule(model, _reader(vocab_file, options, reads_tables), names)
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


def _reader(vocab_file, options, reads_tables) -> reading.TableReader | None:
    """What makes features of strings in the graph; None if it cannot as the settings want it."""
    if not reads_tables:
        return None
    missing = reading.not_in_graph(options)
    if missing:
        logging.warning(
            "no %s: strings are not read with %s in the graph; mate_tf.Predictor does",
            signatures.SERVING_DEFAULT,
            ", ".join(missing),
        )
        return None
    return reading.TableReader(vocab_file, options)


def _told_apart(config, options) -> dict:
    """Limits of the converter; rows and columns beyond the model's would share the last one."""
    limits = {"max_row_id": config.max_num_rows, "max_column_id": config.max_num_columns}
    return {name: min(limit, options.get(name, limit)) for name, limit in limits.items()}


def is_saved_model(path: str) -> bool:
    """Whether `path` is a folder with a SavedModel in it."""
    return os.path.isfile(os.path.join(path, "saved_model.pb"))
