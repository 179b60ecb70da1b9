"""Questions that ask for what no program computes."""

import pytest

from mate_tf.answers import beyond, left_out
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

NAMES = ["Order", "City", "Units"]
TEXTS = [["A1", "A2", "A3"], ["Bern", "Oslo", "Bern"], ["3", "5", "8"]]
SHEET = Sheet(NAMES, TEXTS, columns.read(NAMES, TEXTS))
GROUPS = "groups of rows are not compared"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what is the median of the units?", "medians are not computed"),
        ("what is the difference between A1 and A2?", "differences are not computed"),
        ("what percentage of orders are from Bern?", "ratios are not computed"),
        ("which order has the second highest units?", "of an order only the first or last"),
        ("the top 3 orders by units", "of an order only the first or last"),
        ("how many orders per city?", GROUPS),
        ("which city has the most orders?", GROUPS),
        ("which city has the highest total units?", GROUPS),
        ("what is the most common city?", GROUPS),
        ("which city ordered the most?", GROUPS),
        ("which city has the most?", GROUPS),
        ("which order has the most units?", ""),
        ("how many units per order on average?", ""),
        ("is A1 or A2 from Bern?", ""),
        ("how many orders are from Bern?", ""),
        ("which is the second order?", ""),
    ],
)
def test_problem(question, expected):
    found = beyond.problem(SHEET, Meaning(SHEET, question))
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


@pytest.mark.parametrize(
    ("question", "chosen", "expected"),
    [
        (
            "which cost more than 200?",
            "Price > 200",
            "Price: cells in £, € are not compared with $",
        ),
        ("which is the lamp?", "Item is lamp", ""),
        ("which is not the lamp?", "not Item is lamp", ""),
        ("which was never sold?", "all rows", 'what "not" or "no" leaves out is not known'),
    ],
)
def test_in_program(question, chosen, expected):
    names = ["Item", "Price"]
    texts = [["lamp", "desk", "bed", "rug"], ["$300", "€250", "£900", "$20"]]
    sheet = Sheet(names, texts, columns.read(names, texts))
    meaning = Meaning(sheet, question)
    (program,) = (each for each in meaning.programs if str(each) == chosen)
    assert left_out.in_program(sheet, meaning, program) == expected


@pytest.mark.parametrize(
    ("question", "chosen", "problem"),
    [
        (
            "how many payments are over 200?",
            "Amount > 200",
            "'200' may be meant of 'Amount' or 'Balance'",
        ),
        ("how many payments have an amount over 200?", "Amount > 200", ""),
        ("how many payments are from May 2024?", "Day is May 2024", ""),
    ],
)
def test_an_amount_that_several_columns_have(question, chosen, problem):
    table = {
        "Payment no": ["301", "302", "303"],
        "Day": ["2 May 2024", "3 May 2024", "4 June 2024"],
        "Amount": ["100", "210", "350"],
        "Balance": ["900", "205", "120"],
    }
    texts = list(table.values())
    sheet = Sheet(list(table), texts, columns.read(list(table), texts))
    meaning = Meaning(sheet, question)
    (program,) = (each for each in meaning.programs if str(each) == chosen)
    assert left_out.in_program(sheet, meaning, program) == problem


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who bought lot 431?", "'Lot no' has no '431'"),
        ("who bought lot 1204?", ""),
        ("who bought lot 7?", ""),
    ],
)
def test_an_id_that_no_row_has(question, expected):
    names, texts = ["Lot no", "Buyer"], [["1,204", "0007"], ["Ann", "Bo"]]
    sheet = Sheet(names, texts, columns.read(names, texts))
    assert beyond.problem(sheet, Meaning(sheet, question)) == expected
