"""What a program leaves out of a question."""

import pytest

from mate_tf.answers import left_out
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

EPISODES = {
    "Ep #": ["1", "2", "22", "45"],
    "Form": ["10A", "10B", "10B", "10C"],
    "Session": ["Week 1", "Week 2", "Week 2", "Week 3"],
    "Minutes": ["22", "45", "10", "2"],
    "Published": ["2024-01-03", "2024-02-03", "2024-03-01", "2024-04-09"],
    "Status": ["Cut", "Live", "Live", "Live"],
}
ORDERS = {
    "Order no": ["1", "2", "3"],
    "Item": ["chair", "chair", "desk"],
    "Qty": ["4", "5", "6"],
    "Delivery": ["Van", "Collected", "Van"],
}


def problem(table, question, chosen):
    texts = [list(cells) for cells in table.values()]
    sheet = Sheet(list(table), texts, columns.read(list(table), texts))
    meaning = Meaning(sheet, question)
    (program,) = (each for each in meaning.programs if str(each) == chosen)
    return left_out.in_program(sheet, meaning, program)


@pytest.mark.parametrize(
    ("question", "chosen", "expected"),
    [
        ("how long is episode 22?", "Ep # is 22", ""),
        ("which has over 2?", "Minutes > 2", "'2' may be meant of 'Ep #' or 'Session' or"),
        ("minutes of week 2?", "Session is 2", ""),
        ("how many are in 10B", "Form is 10B", ""),
        ("which is the most recent one?", "largest Published", ""),
        (
            "how many are live (cut ones too)?",
            "Status is Live or Status is Cut",
            "what 'ones too' adds is not known",
        ),
    ],
)
def test_values_and_orders(question, chosen, expected):
    assert problem(EPISODES, question, chosen).startswith(expected)
    assert bool(problem(EPISODES, question, chosen)) == bool(expected)


@pytest.mark.parametrize(
    ("question", "chosen", "is_of_rows"),
    [
        ("how many orders were collected?", "Delivery is Collected", True),
        ("how many chair orders went by van?", "Item is chair and Delivery is Van", True),
        ("how many chairs went by van?", "Item is chair and Delivery is Van", False),
    ],
)
def test_a_noun_that_names_the_rows_counts_them(question, chosen, is_of_rows):
    table = ORDERS
    expected = "" if is_of_rows else "it may ask for 'Qty', not for a number of rows"
    assert problem(table, question, chosen) == expected


def test_but_not_needs_what_stands_before():
    question = "how many did we order but not collected?"
    expected = "what stands before 'but' is not known"
    assert problem(ORDERS, question, "not Delivery is Collected") == expected
