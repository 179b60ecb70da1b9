"""Trained models that come with the package, in place of which tests write a tiny one."""

import dataclasses

import numpy as np
import pytest

from mate_tf.errors import InputError
from mate_tf.serving import presets
from mate_tf.serving.model_folder import Kind
from mate_tf.serving.predictor import Predictor


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The only folder with presets, empty."""
    folder = tmp_path / "presets"
    monkeypatch.setattr(presets, "FOLDERS", (tmp_path / "absent", folder))
    return folder


def test_by_its_name(folder, trained_model, table):
    predictor = Predictor.from_pretrained(trained_model)
    predictor.save_preset(folder / "tiny")
    assert presets.names() == ["tiny"]
    found = Predictor.from_preset("tiny").ask(table, "which city?")
    assert found == predictor.ask(table, "which city?")


def test_marks_of_shared_words_stay_in_a_conversation(folder, trained_model, table):
    Predictor.from_pretrained(trained_model).save_preset(folder / "tiny")
    path, question = folder / "tiny" / Kind.PRESET.value, f"which {table.columns[0]}?"
    path.write_text(path.read_text().replace("mark_matches: false", "mark_matches: true"))
    predictor = Predictor.from_preset("tiny")
    alone = predictor.example(table, question)
    assert 1 in alone.features.feature["prev_label_ids"].int64_list.value
    first = predictor.ask(table, question)
    assert first.cells
    assert predictor.example(table, question, first) == alone
    # With `mark_previous` there are both.
    config = predictor._model.converter.config
    predictor._model.converter.config = dataclasses.replace(config, mark_previous=True)
    features = predictor.example(table, question, first).features.feature
    marks, before = (
        np.array(each["prev_label_ids"].int64_list.value)
        for each in (features, alone.features.feature)
    )
    ids = (features[name].int64_list.value for name in ("row_ids", "column_ids"))
    chosen = [(row - 1, column - 1) in first.coordinates for row, column in zip(*ids, strict=True)]
    np.testing.assert_array_equal(marks, before + 2 * np.array(chosen))
    assert any(chosen)


def test_what_is_missing(folder):
    with pytest.raises(InputError, match="no preset 'mini' comes with this mate-tf; there is none"):
        Predictor.from_preset()
    (folder / "other").mkdir(parents=True)
    (folder / "other" / Kind.PRESET.value).touch()
    for name in ("mini", "../other", ""):
        with pytest.raises(InputError, match=f"no preset '{name}' .*; there is other"):
            presets.find(name)
    assert presets.find("other") == str(folder / "other")
    with pytest.raises(InputError, match=r"config.yaml is here, but no weights"):
        Predictor.from_preset("other")
