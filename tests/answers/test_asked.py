"""Operations that the words of questions ask for."""

import pytest

from mate_tf.answers import asked
from mate_tf.answers.asked import AMOUNT, DIFFERENCE, MEDIAN
from mate_tf.tables import columns

NAMES = ["Order", "City", "Units", "Total price"]
COLUMNS = columns.read(NAMES, [["A1", "A2"], ["Bern", "Oslo"], ["3", "5"], ["10", "20"]])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many orders are from Bern?", "COUNT"),
        ("what is the number of orders?", "COUNT"),
        ("how many units were sold?", AMOUNT),
        ("what is the total number of units?", "SUM"),
        ("how much did we sell to Bern?", AMOUNT),
        ("what is the average number of units?", "AVERAGE"),
        ("which city has the highest number of units?", None),
        ("what is the total price of A1?", AMOUNT),  # a column has this name
        ("how many more units has A1 than A2?", DIFFERENCE),
        ("what is the median of the units?", MEDIAN),
        ("which city is A1 from?", None),
    ],
)
def test_operation(question, expected):
    assert asked.operation(question, NAMES, COLUMNS) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many cities are there?", [1]),
        ("what is the number of different cities?", [1]),
        ("how many units were sold in the city?", [2]),
        ("how many of the orders are from the city?", [0]),
        ("how many are there in the city?", []),
        ("which city has the most units?", []),
    ],
)
def test_counted(question, expected):
    assert asked.counted(question, NAMES) == expected


def test_amounts_of_several_rows_are_added_up():
    assert asked.for_rows(AMOUNT, 1) == "NONE"
    assert asked.for_rows(AMOUNT, 2) == "SUM"
    assert asked.for_rows("COUNT", 1) == "COUNT"
    assert asked.for_rows(None, 5) is None


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("Order", ["1041", "1042", "1050"], "COUNT"),
        ("Orders", ["12", "7", "9"], AMOUNT),
        ("Order", ["3", "3", "5"], AMOUNT),
    ],
)
def test_numbers_that_name_the_rows_are_counted(name, cells, expected):
    names = [name, "City"]
    read = columns.read(names, [cells, ["Bern", "Oslo", "Bern"]])
    assert asked.operation("how many orders are from Bern?", names, read) == expected
