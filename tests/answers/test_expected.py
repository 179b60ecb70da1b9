"""The columns in which a question looks for its answer."""

import pytest

from mate_tf.answers import expected
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

TABLE = {
    "Order id": ["O-1", "O-2", "O-3"],
    "Customer name": ["Ann", "Bob", "Cy"],
    "Ordered": ["2024-01-05", "2024-02-07", "2024-01-02"],
    "Price": ["$5", "$7", "$6"],
    "Work time": ["1h 10m", "2h 5m", "0h 30m"],
    "Change ($)": ["1", "2", "3"],
    "Change %": ["4", "5", "6"],
}


@pytest.fixture(scope="module")
def sheet():
    texts = [list(column) for column in TABLE.values()]
    return Sheet(list(TABLE), texts, columns.read(list(TABLE), texts))


def names(sheet, question, program=None):
    """The names of the columns, of a program with all conditions that the question may mean."""
    meaning = Meaning(sheet, question)
    if program is None:
        program = max(meaning.programs, key=lambda each: len(each.said))
    found = expected.expected(sheet, meaning, program)
    return None if found is None else [sheet.names[column] for column in sorted(found.columns)]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("When was O-2 sent?", ["Ordered"]),
        ("How much did O-2 cost?", ["Price"]),
        ("How long did O-2 take?", ["Work time"]),
        ("What is the price of O-2?", ["Price"]),
        ("Which customer has O-2?", ["Customer name"]),
        ("Which order is from Ann?", ["Order id"]),
        ("What is the change of O-2?", ["Change ($)", "Change %"]),
    ],
)
def test_columns(sheet, question, found):
    assert names(sheet, question) == found


def test_words_that_tell_nothing(sheet):
    assert names(sheet, "list them", Program()) is None
    assert expected.mask(sheet, Meaning(sheet, "list them"), Program()) is None


def test_the_same_name(sheet):
    question = "What is the change of O-2?"
    meaning = Meaning(sheet, question)
    program = max(meaning.programs, key=lambda each: len(each.said))
    found = expected.expected(sheet, meaning, program)
    assert expected.find_same_name(sheet, found, 5, question) == "Change %"
    assert expected.find_same_name(sheet, found, 5, "What is the change in dollars of O-2?") == ""


def test_what_is_largest_is_its_column(sheet):
    meaning = Meaning(sheet, "lowest price of any order")
    program = next(each for each in meaning.programs if each.order and each.order.column == 3)
    assert names(sheet, meaning.question, program) == ["Price"]
    assert names(sheet, "lowest order by price", program) != ["Price"]


def test_flags_are_not_dates():
    table = {
        "Donor": ["Ann", "Bob"],
        "first_time": ["Y", "N"],
        "Given": ["2024-01-05", "2024-02-07"],
    }
    texts = list(table.values())
    sheet = Sheet(list(table), texts, columns.read(list(table), texts))
    assert names(sheet, "When did Ann give?") == ["Given"]
