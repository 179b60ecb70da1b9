"""Which tables are read as a whole, and what is said of parts."""

import types

import numpy as np
import pytest

from mate_tf.errors import InputError
from mate_tf.serving import asking
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.serving.predictor import Predictor
from mate_tf.serving.prepared import PreparedTable
from mate_tf.tables.table import Table


@pytest.mark.parametrize(
    ("reading", "options"),
    [("whole", None), (None, None), ({}, {}), ({"prune_rows": False}, {"prune_rows": False})],
)
def test_options(reading, options):
    assert asking.options_of(reading) == options


def test_unknown_reading():
    with pytest.raises(InputError, match="'part' is neither 'whole' nor a dict of options"):
        asking.options_of("part")


def asked(predictor, rows, question):
    table = Table.from_rows(["Name", "City"], [[f"name {n}", "Bern"] for n in range(rows)])
    return predictor.ask(table, question).notes


def test_models_without_a_calibration_that_says_so_answer_short_tables_themselves(mini):
    plain = mini.with_calibration(None)
    assert asked(plain, 5, "who is in Bern?") == ()
    assert any("computed over all rows" in note for note in asked(plain, 500, "who is in Bern?"))
    assert any("computed over all rows" in note for note in asked(mini, 5, "who is in Bern?"))


@pytest.mark.parametrize(
    ("question", "aggregation", "cells", "expected"),
    [
        ("which city is order A-17 from?", "NONE", 1, False),
        ("how many units does order A-17 have?", "NONE", 1, False),
        ("how many orders are from Bern?", "NONE", 3, True),  # a list in place of a number
        ("how many orders are from Bern?", "NONE", 0, True),
        ("how many orders are from Bern?", "COUNT", 1, True),
        ("what is the total number of units?", "NONE", 1, True),
        ("which orders are from Bern?", "NONE", 3, True),
        ("which order has the most units?", "NONE", 1, True),
        ("which orders are from Bern?", "NONE", 0, False),
    ],
)
def test_what_a_part_of_the_rows_does_not_tell(question, aggregation, cells, expected):
    rows = [[f"A-{n}", "Bern", str(n % 9)] for n in range(40)]
    table = PreparedTable(Table.from_rows(["Order", "City", "Units"], rows))
    found = tuple(AnswerCell(row, 0, rows[row][0], 0.5) for row in range(cells))
    answer = Answer(found, aggregation, None, 0.5, "")
    part = types.SimpleNamespace(rows=np.arange(10), columns=np.arange(3))
    assert asking._needs_all(table, question, answer, part) == expected
    everything = types.SimpleNamespace(rows=np.arange(40), columns=np.arange(3))
    assert not asking._needs_all(table, question, answer, everything)


def test_cells_in_another_column_than_the_question_asks_for_are_no_answer(project):
    predictor = Predictor.from_preset("mini-conversation")
    table = predictor.prepare(project / "mate_tf" / "data" / "synthetic" / "example.csv")
    nurses = predictor.ask(table, "who is a nurse?")
    assert nurses.text == "Grace Dubois, Sofia Davies"
    assert predictor.ask(table, "what is their age?", nurses).text == "29, 38"
    salaries = predictor.ask(table, "how old are they?", nurses)
    assert not salaries.answerable
    assert salaries.notes == ("'how old' asks for 'Age', but the cells are in 'Salary'",)


@pytest.fixture(scope="module")
def orders():
    """400 rows, of which mini-conversation reads 70 at a time."""
    cities = ["Bern", "Basel", "Genf", "Chur"]
    rows = [
        [f"A{n:03}", cities[n % 4], ("lamp", "desk")[n % 3 % 2], str(n % 9)] for n in range(400)
    ]
    return Predictor.prepare([["order", "city", "product", "units"], *rows])


def test_a_conversation_about_a_long_table(orders):
    """The rows of the answer before are read, and the answer is of them."""
    predictor = Predictor.from_preset("mini-conversation")
    first = predictor.ask(orders, "which product is order A123?")
    assert first.coordinates == [(123, 2)]
    city = predictor.ask(orders, "which city is it from?", first)
    assert city.coordinates == [(123, 1)]
    assert city.answerable
    assert city.cuts == ("325 rows dropped: 75 to 123, 125 to 400",)
    assert 123 in predictor.read(orders, "which city is it from?", first).rows
    # Here it misses the row. A list of what a part has is not shown as an answer.
    units = predictor.ask(orders, "how many units does it have?", first)
    assert {row for row, _ in units.coordinates} != {123}
    assert not units.answerable
    assert units.notes == ("computed over 75 of 400 rows only",)
    assert units.aggregation == "NONE"


def test_rows_of_the_answer_before_that_do_not_fit(orders):
    predictor = Predictor.from_preset("mini-conversation")
    cells = tuple(AnswerCell(row, 0, f"A{row:03}", 1.0) for row in range(0, 400, 2))
    before = Answer(cells, "NONE", None, 1.0, "")
    answer = predictor.ask(orders, "which of them has the most units?", before)
    assert not answer.answerable
    assert "rows of the answer before are not read" in answer.notes
