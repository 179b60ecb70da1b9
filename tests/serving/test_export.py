"""What is in a SavedModel, and that nobody's files are harmed by writing one."""

import contextlib
import json
import os
import pathlib
import shutil
import types

import pytest
from tensorflow.core.protobuf import saved_model_pb2

from mate_tf.attention.abilities import ChangesForExport
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.serving import export

from ..tiny_model import LENGTH, MAX_COLUMNS, MAX_ROWS


def settings(path):
    with open(os.path.join(export.extras_dir(path), export.SETTINGS_FILE)) as file:
        return json.load(file)["converter"]


def test_vocabulary_and_settings_come_along(saved_model, vocab_file, options):
    copy = os.path.join(export.extras_dir(saved_model), export.VOCABULARY_FILE)
    with open(copy) as file:
        assert file.read() == vocab_file.read_text()
    written = settings(saved_model)
    assert set(written) == set(options)  # each a key of the converter
    ExampleConverter(copy, **written)
    changed = {name: value for name, value in written.items() if value != options[name]}
    assert changed == {
        "drop_rows_to_fit": True,
        "drop_columns_to_fit": True,
        "trim_question_to_fit": True,
        "prune_rows": True,
        "prune_columns": True,
        "renumber_to_fit": True,
        "fill_cells": True,
        "max_row_id": MAX_ROWS,
        "max_column_id": MAX_COLUMNS,
    }
    assert written["max_seq_length"] == LENGTH


def test_no_graphs_of_gradients(saved_model):
    """No signature has gradients, nor an operation with its own, which TensorFlow would warn of."""
    description = saved_model_pb2.SavedModel()
    with open(os.path.join(saved_model, "saved_model.pb"), "rb") as file:
        description.ParseFromString(file.read())
    library = description.meta_graphs[0].graph_def.library
    assert library.function
    assert not library.registered_gradients
    nodes = [node for function in library.function for node in function.node_def]
    assert not [node.name for node in nodes if "_gradient_op_type" in node.attr]


@pytest.fixture
def no_tensorflow(monkeypatch):
    """Saving takes seconds, and what is saved does not matter here."""

    def save(module, path, signatures, options):
        os.makedirs(path)
        with open(os.path.join(path, "saved_model.pb"), "w") as file:
            file.write("new")
        for name in ("variables.index", "variables.data-00000-of-00001"):
            pathlib.Path(path, "variables").mkdir(exist_ok=True)
            pathlib.Path(path, "variables", name).touch()

    monkeypatch.setattr(export.tf.saved_model, "save", save)


def test_patterns_and_layers_that_can_change_know_that_they_are_exported(
    no_tensorflow, monkeypatch, model, vocab_file, tmp_path
):
    entered = []

    def recording(part):
        entered.append(part)
        return contextlib.nullcontext()

    every = (*model.encoder.patterns, *(block.attention for block in model.encoder.blocks))
    parts = [part for part in every if isinstance(part, ChangesForExport)]
    assert parts
    for part in parts:
        monkeypatch.setattr(type(part), "exporting", recording)
    export.write(
        types.SimpleNamespace(signatures=dict),
        model.encoder,
        str(tmp_path / "export"),
        vocab_file,
        {},
    )
    assert entered == parts


def test_replaces_a_saved_model(no_tensorflow, model, vocab_file, tmp_path):
    path = tmp_path / "export"
    path.mkdir()
    (path / "saved_model.pb").write_text("old")
    leftover = tmp_path / ".export.replacing_new"  # of a killed run
    leftover.mkdir()
    (leftover / "garbage").write_text("")
    export.export(model, f"{path}/", str(vocab_file), {"max_row_id": 9})
    assert (path / "saved_model.pb").read_text() == "new"
    assert settings(path)["max_row_id"] == 9  # the smaller of both limits
    assert os.listdir(tmp_path) == ["export"]


def test_leaves_other_folders_alone(no_tensorflow, model, vocab_file, tmp_path):
    (tmp_path / "thesis.txt").write_text("")
    with pytest.raises(
        InputError, match="exists and is not a SavedModel; give another --export_dir"
    ):
        export.export(model, str(tmp_path), str(vocab_file), {})
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_failure_leaves_the_old_one(no_tensorflow, model, tmp_path):
    path = tmp_path / "export"
    path.mkdir()
    (path / "saved_model.pb").write_text("old")
    with pytest.raises(InputError, match="cannot read the vocabulary"):
        export.export(model, str(path), str(tmp_path / "absent.txt"), {})
    assert (path / "saved_model.pb").read_text() == "old"
    assert os.listdir(tmp_path) == ["export"]


def test_removed_files_leave_the_old_one(no_tensorflow, model, vocab_file, tmp_path):
    """Somebody has removed files of the new one."""
    path = tmp_path / "export"
    path.mkdir()
    (path / "saved_model.pb").write_text("old")

    def export_without(*removed):
        with export.new_saved_model(str(path)) as new:
            export.write(types.SimpleNamespace(signatures=dict), model.encoder, new, vocab_file, {})
            for name in removed:
                shutil.rmtree(os.path.join(new, name))

    for name in ("variables", "assets.extra", ""):
        with pytest.raises(
            InputError, match=f"{path}: .* was removed meanwhile, .*earlier one stays"
        ):
            export_without(name)
        assert (path / "saved_model.pb").read_text() == "old"
        assert os.listdir(tmp_path) == ["export"]
    export_without()
    assert (path / "saved_model.pb").read_text() == "new"
