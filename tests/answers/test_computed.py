"""Operations over cells by the values of their columns, and what is said about them."""

import pytest

from mate_tf.answers.computed import compute
from mate_tf.tables import columns, totals


def answer(aggregation, *texts, rows=None, name="Price", labels=None):
    """Computes over the cells of a column, or over some rows of it."""
    labels = labels or [f"row {row}" for row in range(len(texts))]
    found = columns.read(["Name", name], [labels, texts])
    of_totals = totals.rows(list(zip(labels, texts, strict=True)), found)
    chosen = range(len(texts)) if rows is None else rows
    cells = [(row, 1, texts[row]) for row in chosen]
    return compute(aggregation, cells, found, ["Name", name], of_totals)


@pytest.mark.parametrize(
    ("texts", "value", "text"),
    [
        (("−100", "50"), -50, "-50"),
        (("$900", "-$1,340"), -440, "-440"),
        (("1.749,90", "3.120,25", "20,00"), 4890.15, "4890.15"),
        (("250K", "3M"), 3_250_000, "3250000"),
        (("$1.2 million", "$300,000", "$500"), 1_500_500, "1500500"),
        (("$2.4 million", "$700 thousand"), 3_100_000, "3100000"),
        (("5 km", "300 m"), 5300, "5300 m"),
        (("0.1", "0.2"), 0.3, "0.3"),
        (("18.3", "0.7"), 19, "19"),
        (("1:30:00", "0:45:30"), 8130, "2:15:30"),
        (("90 min", "30 min"), 120, "120"),
    ],
)
def test_sums(texts, value, text):
    found = answer("SUM", *texts)
    assert (found.value, found.text, found.notes, found.is_answer) == (value, text, (), True)


def test_average():
    found = answer("AVERAGE", "4478m", "4,634 m", "4 545m")
    assert found.value == pytest.approx(4552.3333, abs=1e-3)
    assert found.text == "4552.33"
    assert answer("AVERAGE", "1", "2").text == "1.5"


def test_cells_that_are_left_out_are_named():
    found = answer("SUM", "3", "n/a", "4", "7", "5")
    assert found.value == 19
    assert found.notes == ('1 of 5 cells are not numbers and are not in the sum: "n/a" (row 2)',)
    found = answer("SUM", "4,634 m (15,203 ft)", "4,545 m")
    assert found.value == 9179
    assert found.notes == ('only the first number of "4,634 m (15,203 ft)" (row 1) is read',)
    for text in ("<5", "≥ 5", "about 5", "5+"):
        assert answer("SUM", "3", text).notes == (
            f'only the first number of "{text}" (row 2) is read',
        )


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (("a", "b"), "no sum: none of the cells is a number"),
        (("3–4", "2–1"), "no sum: none of the cells is a number"),
        (("30/06/2019", "02/07/2019"), "no sum: 'Price' has dates"),
        (("08:15", "09:30"), "no sum: 'Price' has times of day"),
        (("$5", "€3", "$7"), "no sum: the cells have different units: $, €"),
    ],
)
def test_no_result_is_no_answer(texts, note):
    found = answer("SUM", *texts)
    assert found.value is None
    assert found.notes == (note,)
    assert not found.is_answer


def test_totals_are_left_out():
    labels = ["paper", "ink", "stamps", "Total"]
    found = answer("SUM", "3", "4", "5", "12", labels=labels)
    assert found.value == 12
    assert found.notes == ('totals are left out: "12" (row 4)',)
    assert answer("COUNT", "3", "4", "5", "12", labels=labels).value == 3
    alone = answer("SUM", "3", "4", "5", "12", labels=labels, rows=[3])
    assert (alone.value, alone.notes) == (12, ())
    assert answer("NONE", "3", "4", "5", "12", labels=labels, rows=[3]).text == "12"
    listed = answer("NONE", "3", "4", "5", "12", labels=labels)
    assert not listed.is_answer
    assert listed.notes == ('totals are among the cells that they add up: "12" (row 4)',)


def test_what_the_column_does_not_tell():
    (note,) = answer("SUM", "1.234", "2.345").notes
    assert note.startswith("Price: '1.234' is taken as 1.234")


def test_of_two_columns():
    found = columns.read(["a", "b", "c"], [["1", "2"], ["3.5", "4"], ["$1", "€2"]])
    cells = [(0, 0, "1"), (0, 1, "3.5")]
    assert compute("SUM", cells, found, ["a", "b", "c"]).value == 4.5
    assert not compute("SUM", [(0, 2, "$1"), (1, 2, "€2")], found, ["a", "b", "c"]).is_answer


def test_nothing_and_other_operations():
    assert compute("NONE", [], [], []).text == ""
    with pytest.raises(ValueError, match="aggregation 'MAX' is not one of NONE, SUM"):
        compute("MAX", [], [], [])
