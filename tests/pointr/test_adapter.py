"""POINTR in the place of a `Predictor`; tests/cli/test_pointr.py asks trained models."""

import types

import numpy as np
import pytest

from mate_tf.pointr import adapter
from mate_tf.pointr.answer import PointrAnswer
from mate_tf.tables import cell_texts
from mate_tf.tables.table import Table

TABLE = Table.from_rows(["year", "winner"], [["2000", "Ann"], ["2001", "Bob"]])


@pytest.fixture
def models(monkeypatch):
    """Reads the first text of a table, or nothing."""

    def ask(table, question):
        (cell, text), *_ = (*table.texts, ("Ann", ""))
        grid = np.full([2, 2], 0.25, np.float32)
        name = cell if text else None
        return PointrAnswer(text, 0, 1, "Ann", name, text or "Ann", 0.5, 0.5, grid, ("a cut",), 0.4)

    monkeypatch.setattr(
        adapter,
        "PointrPredictor",
        lambda folder, reading: types.SimpleNamespace(ask=ask, calibration=None, engine="openvino"),
    )
    return adapter.TextsPredictor("a folder")


def test_an_answer_names_its_source(models):
    table = cell_texts.add(TABLE, [("Ann", "Ann sings.")], "texts")
    answer = models.ask(table, "what does Ann do?")
    assert (answer.text, answer.coordinates, answer.probability) == ("Ann sings.", [(0, 1)], 0.25)
    assert answer.notes == ("read in the text about 'Ann': Ann sings.",)
    assert (answer.confidence, answer.cuts, answer.answerable) == (0.4, ("a cut",), True)
    assert models.ask_batch([(table, "q"), (table, "r")], 16, [None, answer]) == [answer, answer]


def test_no_answer(models):
    answer = models.ask(TABLE, "what does Ann do?")
    assert (answer.text, answer.answerable, answer.notes) == ("", False, ())
