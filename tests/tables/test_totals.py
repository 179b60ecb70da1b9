"""Rows that are totals of the others."""

import pytest

from mate_tf.tables import columns, totals


def found(*rows):
    names = [str(number) for number in range(len(rows[0]))]
    return sorted(totals.rows(rows, columns.read(names, list(zip(*rows, strict=True)))))


@pytest.mark.parametrize(
    "name", ["Total", "TOTAL:", "Grand total", "Sum", "Summe", "Subtotal", "Totals", "Total (all)"]
)
def test_by_name(name):
    assert found(("paper", "3"), ("ink", "4"), (name, "8")) == [2]


def test_names_that_only_look_so():
    assert found(("Total War", "3"), ("Sum 41", "4"), ("Totalitarian", "8")) == []
    assert found(("Total", "Bern"), ("Basel", "Chur")) == []  # no number
    assert found(("Total", "3"), ("Total", "4")) == []  # nothing else


def test_the_last_row_by_its_numbers():
    above = [("a", "1", "10"), ("b", "2", "20"), ("c", "4", "40")]
    assert found(*above, ("", "7", "70")) == [3]
    assert found(*above, ("everything", "7", "70")) == [3]
    assert found(*above, ("d", "7", "71")) == []
    assert found(("a", "1"), ("b", "2"), ("c", "3"), ("", "6")) == [3]
    assert found(("a", "1"), ("b", "2"), ("c", "3"), ("d", "6")) == []  # by chance
    assert found(("1",), ("2",), ("3",)) == []
    assert found(("a", "0", "0"), ("b", "0", "0"), ("c", "0", "0"), ("d", "0", "0")) == []
