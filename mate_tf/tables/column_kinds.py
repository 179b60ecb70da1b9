"""Decides what the cells of a column are: dates, times and durations, or numbers.

`dates`, `clocks` and `numbers` each return the column as one of their kind, or None if fewer than
`LEAST_SHARE` of its cells are. `columns.read` asks them in this order.
"""

import dataclasses
import enum
import re
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from mate_tf.tables import amounts, moments, units
from mate_tf.tables.moments import Clock, Length, Moment, Numeric

LEAST_SHARE = 0.7
"""Share of a column's cells that must have a value of its kind; missing ones do not count."""

Value = float | Moment
_Kind = TypeVar("_Kind", Moment, Numeric, Clock, Length)


class Kind(enum.StrEnum):
    """Kind of a column's values."""

    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    DURATION = "duration"
    TEXT = "text"


@dataclasses.dataclass(frozen=True)
class Column:
    """A column with its kind and the values of its cells.

    Attributes:
        kind: its kind.
        values: for each cell: a number, in `unit`; a `Moment`; seconds for times and durations;
            None for cells without a value, and for all cells of a text column.
        unit: unit of the numbers, as it is shown; "" for none.
        named_unit: unit that its name says if no cell has one; values are compared in it.
        is_converted: numbers were converted from other units to this one.
        decimals: most places after the decimal sign of a cell.
        partial: rows of cells that say more than the value: "4,634 m (15,203 ft)", "<5", "100+".
        other_units: unit of each row whose unit cannot be converted; its value is None.
        has_day_first: 03/04 in this column is the 3rd of April.
        has_decimal_comma: the comma is the decimal sign of its numbers.
        notes: what the cells do not tell, in words.
    """

    kind: Kind
    values: tuple[Value | None, ...]
    unit: str = ""
    named_unit: str = ""
    is_converted: bool = False
    decimals: int = 0
    partial: frozenset[int] = frozenset()
    other_units: dict[int, str] = dataclasses.field(default_factory=dict)
    has_day_first: bool = True
    has_decimal_comma: bool = False
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Writing:
    """Spelling of numbers and dates; None where the cells do not tell.

    Attributes:
        has_decimal_comma: the comma is the decimal sign.
        has_day_first: 03/04 is the 3rd of April.
    """

    has_decimal_comma: bool | None = None
    has_day_first: bool | None = None

    @classmethod
    def for_table(cls, columns: Sequence["Writing"]) -> "Writing":
        """Returns what the columns of a table agree on."""
        names = [field.name for field in dataclasses.fields(cls)]
        told = {name: {getattr(each, name) for each in columns} - {None} for name in names}
        return cls(*(told[name].pop() if len(told[name]) == 1 else None for name in names))

    def or_else(self, other: "Writing") -> "Writing":
        """Returns this one, completed by another."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
        return Writing(*(own if own is not None else theirs for own, theirs in pairs))


def _words(*words: str) -> re.Pattern:
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)


# fmt: off
_NAMES_OF_YEARS = _words(
    "years?", "founded", "established", "built", "born", "died", "since", "seasons?", "opened",
    "closed", "released?", "debut", "inaugurated", "elected", "vintage", "jahr", "année", "año",
    "anno",
)
_NAMES_OF_DATES = _words("dates?", "days?", "datum", "fecha", "data", "when")
_NAMES_OF_DURATIONS = _words(
    "duration", "length", "runtime", "run", "running", "laps?", "elapsed", "took", "split",
    "dauer", "durée",
)
_NAMES_OF_TIMES = _words(
    "departures?", "departs?", "arrivals?", "arrives?", "starts?", "ends?", "begins?", "opens?",
    "closes?", "clock", "at", "time of day", "kick-?off", "uhrzeit", "heure", "hora",
)
# fmt: on
# Two years, 1999-2004 or 2010-11: the first one orders them.
_YEARS = re.compile(r"\d\d(?P<first>\d\d) ?[-/] ?(?:\d{4}|(?P<second>\d\d)|present|now)", re.I)
_BOUND = re.compile(r"(?:[<>≤≥~≈±]|about|ca\.|circa|over|under|up to).*|.*\d ?\+", re.IGNORECASE)
_LEADING_ZERO = re.compile(r"0\d+")


class Cells:
    """The cells of a column, each read in all ways that are possible.

    Args:
        name: name of the column.
        texts: texts of its cells.

    Attributes:
        name, texts: the name, and the texts, normalized.
        present: rows whose cell is neither empty nor a mark for a missing value.
        moments: row -> `Moment`, `Numeric`, `Clock` or `Length`, for cells that are one.
        amounts: row -> `Amount`, for cells that have a number.
    """

    def __init__(self, name: str, texts: Sequence[str]):
        self.name = name
        self.texts = [amounts.normalize(text) for text in texts]
        written = [(row, text) for row, text in enumerate(self.texts) if text]
        read = [(row, text) for row, text in written if text.lower() not in amounts.MISSING]
        self.present = [row for row, _ in read]
        self.moments = {row: value for row, text in read if (value := moments.read(text))}
        self.amounts = {row: value for row, text in read if (value := amounts.read(text))}

    def of_kind(self, kind: type[_Kind]) -> dict[int, _Kind]:
        """Returns row -> value of the moments of a kind."""
        return {row: value for row, value in self.moments.items() if isinstance(value, kind)}

    def numbers(self) -> dict[int, amounts.Amount]:
        """Returns the amounts of cells that are neither dates nor times."""
        return {row: each for row, each in self.amounts.items() if row not in self.moments}

    def is_enough(self, count: int) -> bool:
        """Returns whether so many cells decide the kind of the column."""
        return count >= LEAST_SHARE * len(self.present)

    def writing(self) -> Writing:
        """Returns how these cells are written, as far as they tell."""
        whole = [each for each in self.numbers().values() if each.is_whole and not each.prefix]
        point = any(each.comma is None for each in whole)
        comma = any(each.point is None for each in whole)
        dates = self.of_kind(Numeric).values()
        day = any(each.first > 12 or each.has_points for each in dates)
        month = any(each.second > 12 for each in dates)
        return Writing(None if point == comma else comma, None if day == month else day)


def dates(cells: Cells, own: Writing, table: Writing) -> Column | None:
    """Returns a column of dates; None if it is none.

    Plain years are dates if the name of the column says so or other cells are dates.

    Args:
        cells: the cells.
        own, table: how they, and how all columns of the table are written.
    """
    pairs = [row for row in cells.present if _YEARS.fullmatch(cells.texts[row])]
    are_years = _are_pairs_of_years([cells.texts[row] for row in pairs])
    plain, numeric = cells.of_kind(Moment), cells.of_kind(Numeric)
    dated = {*plain, *numeric} - set(pairs if are_years else ())
    pairs = [row for row in pairs if row not in dated]
    years = [row for row in cells.present if row not in dated and _is_year(cells.texts[row])]
    is_of_years = bool(_NAMES_OF_YEARS.search(cells.name))
    if not dated and not is_of_years and not (pairs and years):
        return None
    if not cells.is_enough(len(dated) + len(years) + len(pairs)):
        return None
    ambiguous = [each for row, each in numeric.items() if row in dated]
    day_first = own.or_else(table).has_day_first
    notes = []
    if day_first is None:
        day_first = True
        if any(max(each.first, each.second) > 12 for each in ambiguous):
            notes.append("some dates have the day first and some the month")
        elif any(each.first != each.second for each in ambiguous):
            notes.append("day and month cannot be told apart; the day is taken to come first")
    values: list[Value | None] = [None] * len(cells.texts)
    for row in dated:
        values[row] = plain[row] if row in plain else numeric[row].moment(day_first)
    for row in (*years, *pairs):
        values[row] = Moment(int(cells.texts[row][:4]))
    return Column(
        Kind.DATE,
        tuple(values),
        partial=frozenset(pairs),
        has_day_first=day_first,
        notes=tuple(notes),
    )


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and text != "0000"


def _are_pairs_of_years(texts: Sequence[str]) -> bool:
    """Returns whether 2010-11 is two years and not a year and a month.

    One of the cells, as 1999-00, has no such month, or the second year always follows the first.
    """
    pairs = [_YEARS.fullmatch(text) for text in texts]
    pairs = [(int(pair["first"]), int(pair["second"])) for pair in pairs if pair["second"]]
    return any(not 1 <= second <= 12 for _, second in pairs) or all(
        second == (first + 1) % 100 for first, second in pairs
    )


def clocks(cells: Cells, own: Writing, table: Writing) -> Column | None:
    """Returns a column of times of day or of durations, in seconds; None if it is none.

    Arguments as for `dates`. Cells with three numbers, as 1:30:00, are durations, and so are those
    with two that cannot be times, or whose column has such a name.
    """
    times, lengths = cells.of_kind(Clock), cells.of_kind(Length)
    if not times and not lengths:
        return None
    others = {
        row: each
        for row, each in cells.numbers().items()
        if each.is_whole and (each.unit.kind == "duration" if each.unit else bool(times))
    }
    if not cells.is_enough(len(times) + len(lengths) + len(others)):
        return None
    is_length = not any(each.is_time for each in times.values()) and (
        bool(lengths)
        or (
            not _NAMES_OF_TIMES.search(cells.name)
            and (
                bool(others or _NAMES_OF_DURATIONS.search(cells.name))
                or any(each.is_length for each in times.values())
                or 2 * sum(len(each.parts) == 3 for each in times.values()) > len(times)
            )
        )
    )
    values: list[Value | None] = [None] * len(cells.texts)
    for row, clock in times.items():
        values[row] = clock.seconds(is_length)
    for row, each in lengths.items():
        values[row] = each.seconds
    comma = bool(own.or_else(table).has_decimal_comma)
    for row, amount in others.items():
        values[row] = amounts.value_of(amount, comma) * (amount.unit.factor if amount.unit else 1.0)
    return Column(Kind.DURATION if is_length else Kind.TIME, tuple(values), unit="s")


def numbers(cells: Cells, own: Writing, table: Writing) -> Column | None:
    """Returns a column of numbers; None if it is none.

    Arguments as for `dates`.
    """
    numbers = _with_one_prefix(cells)
    texts = [cells.texts[row].strip() for row in cells.present]
    has_ids = any(map(_LEADING_ZERO.fullmatch, texts)) or amounts.are_names(texts)
    if not numbers or has_ids or not cells.is_enough(len(numbers)):
        return None
    comma, notes = _has_decimal_comma(cells, numbers, own, table)
    values: list[Value | None] = [None] * len(cells.texts)
    for row, each in numbers.items():
        values[row] = amounts.value_of(each, comma)
    numbers = _letters_read_by_the_column(numbers, values)
    unit, others, is_converted = _in_one_unit(numbers, values)
    without = [row for row, each in numbers.items() if each.unit is None and values[row]]
    if unit and without:
        notes.append(f"cells without a unit, such as {cells.texts[without[0]]!r}, count as {unit}")
    return Column(
        Kind.NUMBER,
        tuple(values),
        unit=unit,
        named_unit="" if unit else units.find_in_name(cells.name),
        is_converted=is_converted,
        decimals=max(
            0 if _is_grouped(each, values[row]) else each.decimals for row, each in numbers.items()
        ),
        partial=frozenset(
            row
            for row, each in numbers.items()
            if not each.is_whole or _BOUND.fullmatch(cells.texts[row].strip())
        ),
        other_units=others,
        has_decimal_comma=comma,
        notes=tuple(notes),
    )


def _is_grouped(amount: amounts.Amount, value: Value | None) -> bool:
    """Returns whether the sign in 1.234 separated thousands, so that it has no decimals."""
    return value is None or (
        amount.decimals == 3
        and amount.point != amount.comma
        and max(filter(None, (amount.point, amount.comma)), key=abs, default=0) == value
    )


def _with_one_prefix(cells: Cells) -> dict[int, amounts.Amount]:
    """Returns the numbers that begin their cell, and those after the prefix of most cells.

    So "Week 2" and "Week 10" are numbers, but "Route 66" among other names is not.
    """
    numbers = cells.numbers()
    prefixes = Counter(each.prefix.lower() for each in numbers.values() if each.prefix)
    common, count = prefixes.most_common(1)[0] if prefixes else ("", 0)
    kept = {"", common} if count > 1 and cells.is_enough(count) else {""}
    return {row: each for row, each in numbers.items() if each.prefix.lower() in kept}


def _has_decimal_comma(
    cells: Cells, numbers: dict[int, amounts.Amount], own: Writing, table: Writing
) -> tuple[bool, list[str]]:
    """Returns whether the comma is the decimal sign, and what is not certain about it, in words."""
    if own.has_decimal_comma is not None:
        return own.has_decimal_comma, []
    doubtful = {
        row: each
        for row, each in numbers.items()
        if None not in (each.point, each.comma) and each.point != each.comma
    }
    if len(doubtful) < sum(each.point != each.comma for each in numbers.values()):
        comma = bool(table.has_decimal_comma)
        return comma, ["decimal points and decimal commas are mixed"] if doubtful else []
    # 1.234 and not 1,234, which has a thousands separator in English.
    with_point = [r for r, each in doubtful.items() if abs(each.point or 0) < abs(each.comma or 0)]
    comma = table.has_decimal_comma
    if comma is None:  # money has two decimals, so 1.000 € are a thousand
        comma = len(with_point) == len(doubtful) > 0 and all(
            each.unit is not None and each.unit.is_currency for each in doubtful.values()
        )
    unsure = with_point or (list(doubtful) if comma else [])
    if not unsure:
        return comma, []
    value = amounts.value_of(doubtful[unsure[0]], comma)
    return comma, [
        f"{cells.texts[unsure[0]]!r} is taken as {value:.12g}: nothing in the column tells whether "
        "its sign separates decimals or thousands"
    ]


def _letters_read_by_the_column(
    numbers: dict[int, amounts.Amount], values: list
) -> dict[int, amounts.Amount]:
    """Reads "m" and "B" by the other cells: as metres or millions, as bytes or billions.

    Args:
        numbers: row -> amount.
        values: values of all rows, changed in place.

    Returns:
        row -> amount, with the unit that was read.
    """
    scales = {each.scale for each in numbers.values()}
    known = {each.unit for each in numbers.values() if each.unit}
    metres, changed = {units.find("m")}, dict(numbers)
    for row, each in numbers.items():
        if each.scale == "b" and not each.unit and {unit.kind for unit in known} == {"data"}:
            values[row] /= 1e9
            changed[row] = each._replace(unit=units.find("B"))
        elif each.unit and known == metres and scales & {"k", "b", "bn"}:
            values[row] *= 1e6
            changed[row] = each._replace(unit=None)
    return changed


def _in_one_unit(
    numbers: dict[int, amounts.Amount], values: list
) -> tuple[str, dict[int, str], bool]:
    """Converts values in place to the commonest unit; of equally common ones, to the smallest.

    Returns:
        the unit; the units of rows that cannot be converted; whether any value was converted.
    """
    known = {row: each.unit for row, each in numbers.items() if each.unit is not None}
    if not known:
        return "", {}, False
    counts = Counter(known.values())
    kind = Counter(unit.kind for unit in known.values()).most_common(1)[0][0]
    unit = min(
        (each for each in counts if each.kind == kind),
        key=lambda each: (-counts[each], each.factor),
    )
    others, is_converted = {}, False
    for row, each in known.items():
        if each.kind != kind:
            others[row], values[row] = each.symbol, None
        elif each.factor != unit.factor:
            values[row] = float(f"{values[row] * each.factor / unit.factor:.12g}")
            is_converted = True
    return unit.symbol, others, is_converted
