"""Kinds of columns and values of cells, by a table of spellings; ranks and relations."""

import pathlib
import time

import pytest

from mate_tf.tables import amounts, column_kinds, columns, moments, numbers, units
from mate_tf.tables.columns import Kind, Moment

SPELLINGS = pathlib.Path(__file__).with_name("spellings.txt")


def blocks():
    """Yields kind, unit, name of a column, and its cells as pairs of text and value."""
    found = []
    for line in SPELLINGS.read_text(encoding="utf-8").splitlines():
        if line.startswith("@ "):
            head, _, name = line[2:].partition(" | ")
            kind, _, unit = head.partition(" ")
            found.append((kind, unit, name, []))
        elif line.strip() and not line.startswith("#"):
            text, _, value = line.rpartition(" => ")
            found[-1][-1].append((text, value))
    return found


def written(value) -> str:
    """A value as spellings.txt has it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.12g}"
    if value.year is None:
        return f"--{value.month:02}-{value.day:02}"
    text = f"{value.year:05}" if value.year < 0 else f"{value.year:04}"
    text += "".join(f"-{part:02}" for part in (value.month, value.day) if part is not None)
    if value.second is None:
        return text
    minutes, seconds = divmod(value.second, 60)
    clock = f"{int(minutes // 60):02}:{int(minutes % 60):02}"
    return f"{text}T{clock}:{int(seconds):02}" + f"{seconds % 1:.2f}"[1:] * (seconds % 1 > 0)


def read(*texts, name=""):
    (column,) = columns.read([name], [texts])
    return column


@pytest.mark.parametrize(
    ("kind", "unit", "name", "cells"), blocks(), ids=[name for _, _, name, _ in blocks()]
)
def test_spellings(kind, unit, name, cells):
    column = read(*(text for text, _ in cells), name=name)
    expected = [value.lstrip("?") or "?" for _, value in cells]
    numeric = [
        value if kind == "date" else f"{float(value):.12g}" for value in expected if value != "-"
    ]
    assert (column.kind, [written(each) for each in column.values if each is not None]) == (
        kind,
        numeric,
    )
    assert [each is None for each in column.values] == [value == "-" for value in expected]
    assert column.unit == unit or kind in ("time", "duration")
    if any(value.startswith("?") for _, value in cells):
        assert column.notes


def test_there_are_enough_spellings():
    assert sum(len(cells) for *_, cells in blocks()) > 480


def test_speed():
    """100,000 cells within 2 s on two idle cores; twice as long beside other work."""
    random_numbers = [f"{7919 * row % 10**6:,}" for row in range(50_000)]
    dates = [f"{row % 28 + 1}/{row % 12 + 1}/{1900 + row % 130}" for row in range(50_000)]
    start = time.process_time()
    columns.read(["a", "b"], [random_numbers, dates])
    assert time.process_time() - start < 4


def test_a_column_is_written_as_the_others_of_its_table():
    price, size = columns.read(["Preis", "Größe"], [["3,50", "12,99"], ["1.234", "2.500"]])
    assert price.values == (3.5, 12.99)
    assert size.values == (1234.0, 2500.0)
    assert "taken as 1234" in size.notes[0]
    day, other = columns.read(["a", "b"], [["30/06/2019"], ["03/04/2020"]])
    assert other.values == (Moment(2020, 4, 3),)
    assert day.notes == other.notes == ()


def test_units_that_cannot_be_converted():
    column = read("$5", "€3", "$7")
    assert column.values == (5.0, None, 7.0)
    assert column.other_units == {1: "€"}
    assert column.unit == "$"
    kilometres = read("5 km", "300 m", "1 km")
    assert kilometres.values == (5.0, 0.3, 1.0)
    assert kilometres.is_converted


def test_letters_are_read_by_the_column():
    assert read("512 B", "4 KB").values == (512.0, 4000.0)
    assert read("1.2m", "3m", "500k").values == (1_200_000.0, 3_000_000.0, 500_000.0)
    assert read("1.2 m", "3 m").unit == "m"


@pytest.mark.parametrize(
    ("cells", "is_number"),
    [
        (["10A", "10B", "10C"], False),
        (["10K", "5M", "2B"], True),
        (["20C", "70F"], True),
        (["50m Freestyle", "100m Freestyle", "200m Medley"], False),
        (["50m Freestyle", "100m Freestyle"], True),
    ],
)
def test_names_that_begin_with_numbers(cells, is_number):
    (read,) = columns.read(["Event"], [cells])
    assert (read.kind is columns.Kind.NUMBER) == is_number


def test_more_digits_than_the_value():
    column = read("4,634 m (15,203 ft)", "4,545 m (14,911 ft)")
    assert column.values == (4634.0, 4545.0)
    assert column.partial == {0, 1}


def test_prefixes():
    assert read("Week 1", "Week 2", "Week 10").values == (1.0, 2.0, 10.0)
    assert read("No. 5", "No. 12").values == (5.0, 12.0)
    assert read("Route 66", "Highway 5").kind is Kind.TEXT
    assert read("Gate4", "Gate12").kind is Kind.TEXT


@pytest.mark.parametrize("text", ["9" * 400, "1e400", "1" * 10_000, "9,9," * 50, "- - -", "("])
def test_what_is_no_number(text):
    assert amounts.read(amounts.normalize(text)) is None


def test_ranks_and_relations():
    coldest = read("−5", "7", "1", "−20", name="°C")
    assert columns.ranks(coldest) == ([2, 4, 3, 1], [3, 1, 2, 4])
    assert columns.ranks(coldest, without=[3]) == ([1, 3, 2, 0], [3, 1, 2, 0])
    assert columns.relations("colder than 1?", coldest) == [
        numbers.GT,
        numbers.LT,
        numbers.EQ,
        numbers.GT,
    ]
    dates = read("30/06/2019", "02/07/2019", "14/02/2020")
    assert columns.ranks(dates)[0] == [1, 2, 3]
    assert columns.relations("what happened in 2019?", dates) == [1, 1, 2]
    assert columns.relations("after 1 July 2019", dates) == [4, 2, 2]
    assert columns.relations("before 2/7/2019", dates) == [4, 1, 2]
    lengths = read("5 km", "300 m")
    assert columns.relations("longer than 2 km", lengths) == [2, 4]
    assert columns.relations("cheaper than $2", read("€1", "€3")) == [0, 0]
    assert columns.relations("who?", read("a", "b")) == [0, 0]
    assert columns.relations("over 90 minutes", read("1:45:00", "0:50:00")) == [2, 4]
    assert columns.relations("more than $1.5 million", read("$2M", "$900K")) == [2, 4]


def test_order_of_an_unknown_day():
    """30 cannot be a month, so the other order is taken for this cell."""
    mixed = read("30/06/2019", "06/30/2019", "01/02/2019")
    assert mixed.values == (Moment(2019, 6, 30), Moment(2019, 6, 30), Moment(2019, 2, 1))
    assert mixed.notes


def test_names_of_units():
    assert units.find("kilometres") == units.find("km")
    assert units.find("usd").symbol == "$"
    assert units.find("bananas") is None


def test_clocks():
    assert moments.read("2:30 pm").seconds(False) == 14.5 * 3600
    assert moments.read("25:61") is None
    assert column_kinds.LEAST_SHARE == 0.7
