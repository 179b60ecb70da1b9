"""Cells that are not what a question asks for."""

import pytest

from mate_tf.answers import cells
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

NAMES = ["Order", "City", "Units"]
TEXTS = [["A1", "A2", "A3"], ["Bern", "Oslo", "Bern"], ["3", "5", "8"]]
SHEET = Sheet(NAMES, TEXTS, columns.read(NAMES, TEXTS))


@pytest.mark.parametrize(
    ("question", "column", "expected"),
    [
        ("how many different cities are there?", 1, ""),
        ("how many different towns are there?", 1, ""),
        ("how many different values of city are there?", 1, ""),
        ("how many different customers are there?", 1, "what counts once is not known"),
        ("how many different cities are there?", 0, "what counts once is not known"),
    ],
)
def test_counted(question, column, expected):
    counted = cells.counted(SHEET, Meaning(SHEET, question), Program(), column, True)
    assert counted == expected


@pytest.mark.parametrize(
    ("question", "selected", "expected"),
    [
        ("how old are they?", {2}, "'how old' asks for 'Age', but the cells are in 'Salary'"),
        ("How old is the nurse?", {1}, ""),
        ("how old are they?", set(), ""),
        (
            "how tall are they?",
            {2},
            "no column has what 'how tall' asks for",
        ),  # there is no such column
        ("how many are old?", {2}, ""),
        ("who is old?", {0}, ""),
        ("how far did they run?", {1}, "'how far' asks for 'Distance', but the cells are in 'Age'"),
        ("how far did they run?", {3}, ""),
    ],
)
def test_other_column(question, selected, expected):
    texts = [["Ann", "Bob"], ["41", "35"], ["54500", "47000"], ["5 km", "10 km"]]
    names = ["Name", "Age", "Salary", "Distance"]
    sheet = Sheet(names, texts, columns.read(names, texts))
    assert cells.other_column(sheet, question, selected) == expected
