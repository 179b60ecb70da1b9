"""Writes a SavedModel with its vocabulary and the settings of its converter."""

import contextlib
import dataclasses
import glob
import os
import shutil
from collections.abc import Iterator

import tensorflow as tf
from absl import logging

from mate_tf import serving
from mate_tf.attention.abilities import ChangesForExport
from mate_tf.checkpoints import checkpoint_variables
from mate_tf.errors import InputError
from mate_tf.evaluation import calibration as calibrations
from mate_tf.files import folder
from mate_tf.files.atomic import write_json
from mate_tf.files.lock import locked_beside
from mate_tf.serving import signatures
from mate_tf.serving.export_files import (
    SETTINGS_FILE,
    VOCABULARY_FILE,
    extras_dir,
    fingerprint,
    is_saved_model,
)
from mate_tf.tables.conversion import ConversionConfig

_FILES = (
    *("saved_model.pb", "variables/variables.index", "variables/variables.data-*"),
    *(os.path.join(extras_dir(""), name) for name in (SETTINGS_FILE, VOCABULARY_FILE)),
)
"""Patterns of the files that each export has."""


def export(
    model,
    export_dir: str,
    vocab_file: str,
    converter_options: dict,
    class_names=(),
    reads_tables=True,
    calibration: calibrations.Calibration | None = None,
    reading=None,
) -> str:
    """Writes `model` as a SavedModel. An earlier one in the same folder is replaced at the end.

    The SavedModel always has the signature `serving_examples`. It also has `serving_default`, which
    takes strings, if the model reads tables and the graph supports all options of the converter
    (see `table_reader.not_in_graph`). Otherwise a warning is logged.

    The vocabulary and the options of the converter are exported too. Options of tables are changed:
    what does not fit into the sequence, or has no id in the model, is left out. That are the rows
    and columns that are least relevant for the question, and the last words of cells and question.

    Args:
        model: a `TableClassifier`.
        export_dir: folder to write.
        vocab_file: WordPiece vocabulary the model was trained with.
        converter_options: keyword arguments of the converter that made its examples.
        class_names: names of the classes, for models that classify.
        reads_tables: True if the model answers questions about tables.
        calibration: makes confidences of its probabilities; None: answers have no confidence.
        reading: options of `ConversionConfig.reading` in place of the defaults for serving.

    Returns:
        export_dir.

    Raises:
        InputError: if export_dir exists, is not empty and is not a SavedModel.
    """
    options, names, reader = dict(converter_options), list(class_names), None
    if reads_tables:
        limits = model.config.max_num_rows, model.config.max_num_columns
        config = ConversionConfig(**options).fitting(*limits).reading(reading)
        options, reader = dataclasses.asdict(config), _reader(vocab_file, config)
    settings = {"converter": options, "class_names": names, "reads_tables": reads_tables}
    settings["model"] = _described(model)
    with new_saved_model(export_dir) as new:
        module = signatures.ServingModule(model, reader, names)
        write(module, model.encoder, new, vocab_file, settings)
        if calibration is not None:
            path = os.path.join(extras_dir(new), calibrations.FILE)
            write_json(path, dataclasses.asdict(calibration))
    return export_dir


@contextlib.contextmanager
def new_saved_model(export_dir: str) -> Iterator[str]:
    """Yields a new folder, which replaces `export_dir` when the block ends.

    Raises:
        InputError: if export_dir exists, is not empty and is not a SavedModel; another process
            exports to it; or files of the new folder were removed meanwhile.
    """
    with locked_beside(export_dir, "an export"):
        folder.recover(export_dir)
        if os.path.isdir(export_dir) and os.listdir(export_dir) and not is_saved_model(export_dir):
            raise InputError(
                f"{export_dir}: exists and is not a SavedModel; give another --export_dir"
            )
        with folder.replaced(export_dir) as new:
            yield new
            missing = [name for name in _FILES if not glob.glob(f"{glob.escape(new)}/{name}")]
            if missing:
                raise InputError(
                    f"{export_dir}: {', '.join(missing)} of the new export ({new}) was removed "
                    "meanwhile, so the earlier one stays; export again"
                )


def write(module, encoder, path: str, vocab_file: str, settings: dict) -> None:
    """Writes a SavedModel with its vocabulary and settings into a new folder.

    Args:
        module: a tf.Module with a method `signatures`.
        encoder: the `TableEncoder` in it.
        path: the folder.
        vocab_file: WordPiece vocabulary the model was trained with.
        settings: contents of `SETTINGS_FILE`, besides the fingerprint of the vocabulary.
    """
    with contextlib.ExitStack() as exporting:
        for part in (*encoder.patterns, *(block.attention for block in encoder.blocks)):
            if isinstance(part, ChangesForExport):
                exporting.enter_context(part.exporting())
        # No signature has gradients; those of MATE would be a quarter of the graph.
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
        tf.saved_model.save(module, path, signatures=module.signatures(), options=options)
    os.makedirs(extras_dir(path))
    shutil.copyfile(vocab_file, os.path.join(extras_dir(path), VOCABULARY_FILE))
    settings = settings | {"vocabulary": fingerprint(vocab_file)}
    write_json(os.path.join(extras_dir(path), SETTINGS_FILE), settings, sort_keys=True)


def _described(model) -> dict:
    """Returns what another engine needs besides the variables, which the SavedModel has in order.

    Returns:
        config: fields of the `ClassifierConfig`; precision: dtype of the layers; variables: the
        names of all variables in the reference's checkpoints, "" for others.
    """
    names = {id(each): name for name, each in checkpoint_variables(model).items()}
    return {
        "config": model.config.as_dict(),
        "precision": model.encoder.compute_dtype,
        "variables": [names.get(id(each), "") for each in model.variables],
    }


def _reader(
    vocab_file, config: ConversionConfig
) -> "serving.in_graph.table_reader.TableReader | None":
    """Returns the reader of the signature on strings; None if the graph lacks a set option."""
    missing = serving.in_graph.table_reader.not_in_graph(config)
    if missing:
        logging.warning(
            "no signature %s: the graph does not support %s; use mate_tf.Predictor instead",
            signatures.SERVING_DEFAULT,
            ", ".join(missing),
        )
        return None
    return serving.in_graph.table_reader.TableReader(vocab_file, config)
