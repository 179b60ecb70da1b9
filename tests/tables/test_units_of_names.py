"""Units in the names of columns."""

import pytest

from mate_tf.tables import columns, numbers, units


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("Weight (g)", "g"),
        ("wait_s", "s"),
        ("Runtime min", "min"),
        ("Hours", "h"),
        ("days_to_maturity", "d"),
        ("Price (EUR)", "€"),
        ("Min", ""),
        ("S", ""),
        ("Second", ""),
        ("Price (net)", ""),
        ("", ""),
    ],
)
def test_find_in_name(name, symbol):
    assert units.find_in_name(name) == symbol


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("wait_s", "longer than 3 minutes", [False, True, True]),
        ("Weight (g)", "more than 0.1 kg", [False, True, True]),
        ("Price (EUR)", "more than $100", None),  # not compared
        ("Time", "longer than 3 minutes", None),  # may be seconds
        ("Weight", "more than 100 kg", [False, True, True]),
    ],
)
def test_values_are_compared_in_the_unit_of_the_name(name, question, expected):
    (column,) = columns.read([name], [["30", "190", "600"]])
    (value,) = columns.said(question)
    bits = columns.relation(value, column)
    assert (bits and [bit == numbers.LT for bit in bits]) == expected
