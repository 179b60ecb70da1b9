"""Finds numbers and dates in text, and compares the cells of a column.

Section 2 of the TAPAS paper (Herzig et al., 2020) adds three numeric features to every table
token: the rank of its cell in the column, the inverse rank, and the relation of the cell to the
numbers in the question. All three are computed from the values found here.

Published checkpoints were trained with the reference's parser, so its peculiarities are kept:
- Only years 1700 to 2016 are dates.
- "fith" is an ordinal and "fifth" is not.
- "may" is a month even if it is a verb. A lower-case "sept" is not a month.
- The 29th of February is a date only with a leap year.
- A four-digit year is both a number and a date. A full stop after it ("in 1999.") belongs to the
  number, which then is not a date. A column of plain years is therefore a column of dates.
"""

import ctypes
import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from mate_tf.tables.text import WORD, normalize_for_match

EQ, LT, GT = 1, 2, 4
"""Bits of a relation. LT: the question's value is less than the cell's value."""

MIN_CONSOLIDATION_FRACTION = 0.7
"""Share of a column's cells that must hold a number (or a date) for the column to have values."""


class Date(NamedTuple):
    """A date; unknown parts are None, such as (None, 5, None) for "may"."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


Value = float | Date


class NumericSpan(NamedTuple):
    """Values of `text[begin:end]`: a number, a date, or for a year the number and the date."""

    begin: int
    end: int
    values: tuple[Value, ...]


_MIN_YEAR, _MAX_YEAR = 1700, 2016
# Dates without a year are checked with the year 1900, which is not a leap year.
_YEAR_OF_UNDATED = 1900

_NUMBER = re.compile(r"(?:(?:^|\s)[+-])?(?:\.\d+|\d+(?:,\d\d\d)*(?:\.\d*)?)")
_ORDINAL_SUFFIX = re.compile(r"(?:st|nd|rd|th)\Z")
# fmt: off
_CARDINALS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)
_ORDINALS = (
    "zeroth", "first", "second", "third", "fourth", "fith", "sixth", "seventh", "eighth",
    "ninth", "tenth", "eleventh", "twelfth",
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# fmt: on
NUMBER_WORDS = {
    word: float(number) for words in (_CARDINALS, _ORDINALS) for number, word in enumerate(words)
}
MONTH_NUMBERS = {month[:3]: number for number, month in enumerate(_MONTHS, start=1)}

_DATE_PARTS = {
    "YEAR": r"(?P<year>\d{4})",
    "MONTH": rf"(?P<month>(?ai:{'|'.join([*_MONTHS, *MONTH_NUMBERS])})|Sept)",
    "FULLMONTH": rf"(?P<month>(?ai:{'|'.join(_MONTHS)}))",
    "MM": r"(?P<month>1[0-2]|0?[1-9])",
    "DAY": r"(?P<day>3[01]|[12]\d|0?[1-9])",
    "WEEKDAY": rf"(?ai:{'|'.join(_WEEKDAYS)})",
    " ": r"\s+",
    ".": r"\.",
}
# No text matches two of these, and no two matches of one form overlap.
DATE_FORMS = (
    "FULLMONTH",
    "YEAR",
    "YEARs",
    "MONTH YEAR",
    "MONTH DAY",
    "DAY MONTH",
    "MONTH DAY, YEAR",
    "DAY MONTH YEAR",
    "WEEKDAY, MONTH DAY",
    "MM-DAY-YEAR",
    "YEAR-MM-DAY",
    "YEAR-MM",
    "DAY.MM.YEAR",
)


def date_pattern(form: str) -> str:
    """Returns the regular expression of one of `DATE_FORMS`.

    It has the groups year, month and day, if the form has these parts.
    """
    names = re.compile("|".join(sorted(map(re.escape, _DATE_PARTS), key=len, reverse=True)))
    return names.sub(lambda name: _DATE_PARTS[name.group()], form)


_DATES = tuple(re.compile(rf"(?<![^\W_]){date_pattern(form)}(?![^\W_])") for form in DATE_FORMS)
# A text without a match has no number and no date. This saves the parsing of most cells.
_WORTH_PARSING = re.compile(rf"\d|(?ai:{'|'.join([*NUMBER_WORDS, *_MONTHS])})")


def to_float32(value: float) -> float:
    """Rounds to float32; values beyond its range become infinite."""
    return ctypes.c_float(value).value


def _parse_number(text: str) -> float | None:
    """Parses a number in digits, as float32; returns None for NaN, infinity and other texts."""
    text = _ORDINAL_SUFFIX.sub("", text).replace(",", "")
    try:
        value = float(text)
    except ValueError:
        return None
    if math.isnan(value) or value == math.inf:
        return None
    return to_float32(value)


def _parse_date(match: re.Match[str]) -> Date | None:
    """Returns the date of a match; None if the day does not exist or the year is too far off."""
    parts = match.groupdict()
    name, month = parts.get("month"), None
    if name:
        month = int(name) if name.isdecimal() else MONTH_NUMBERS[name[:3].lower()]
    year, day = (int(parts[name]) if name in parts else None for name in ("year", "day"))
    try:
        checked = datetime.date(_YEAR_OF_UNDATED if year is None else year, month or 1, day or 1)
    except ValueError:
        return None
    return Date(year, month, day) if _MIN_YEAR <= checked.year <= _MAX_YEAR else None


@lru_cache(maxsize=65536)
def _numeric_spans(text: str) -> tuple[NumericSpan, ...]:
    """Computes `numeric_spans`, with a cache."""
    if not _WORTH_PARSING.search(text):
        return ()
    by_span: dict[tuple[int, int], list[Value]] = {}
    for match in _NUMBER.finditer(text):
        number = _parse_number(match.group())
        if number is not None:
            by_span[match.span()] = [number]
    for match in WORD.finditer(text):
        if match.span() not in by_span:
            number = NUMBER_WORDS.get(match.group(), _parse_number(match.group()))
            if number is not None:
                by_span[match.span()] = [number]
    for form in _DATES:
        for match in form.finditer(text):
            date = _parse_date(match)
            if date is not None:
                by_span.setdefault(match.span(), []).append(date)

    spans, furthest = [], 0
    # Spans are sorted by begin, and spans with the same begin from the longest to the shortest. So
    # a span is inside a kept one exactly if it ends no further than the kept spans.
    for (begin, end), values in sorted(by_span.items(), key=lambda item: (item[0][0], -item[0][1])):
        if end > furthest:
            spans.append(NumericSpan(begin, end, tuple(values)))
            furthest = end
    return tuple(spans)


def numeric_spans(text: str) -> list[NumericSpan]:
    """Finds the numbers and dates in a text: the longest spans, ordered by position.

    The text must be normalized by `text.normalize_for_match`; positions refer to this form.
    Numbers are rounded to float32. A number beyond the range of float32 is infinite.
    """
    return list(_numeric_spans(text))


def column_values(cell_texts: Sequence[str]) -> list[Value | None]:
    """Returns one value per cell of a column, all numbers or all dates; None for a cell without.

    The type is the one found in more cells, and dates if both are found in equally many. The value
    of a cell is its first one of this type. If less than 70 % of the cells have a value, all values
    are None.
    """
    cells = [
        [value for span in _numeric_spans(normalize_for_match(text)) for value in span.values]
        for text in cell_texts
    ]
    counts = Counter(kind for values in cells for kind in set(map(type, values)))
    kind = Date if counts[Date] >= counts[float] else float
    if counts[kind] < len(cells) * MIN_CONSOLIDATION_FRACTION:
        return [None] * len(cells)
    return [next((value for value in values if type(value) is kind), None) for values in cells]


def _sort_key(values: Sequence[Any]) -> Callable[[Any], tuple[float, ...]] | None:
    """Returns a sort key for the values; None if they are not comparable.

    Dates are compared by the parts that all of them have.
    """
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return None
    if kinds == {float}:
        return lambda value: (value,)
    common = [
        part for part in range(len(values[0])) if all(value[part] is not None for value in values)
    ]
    return (lambda value: tuple(value[part] for part in common)) if common else None


def column_ranks(values: Sequence[float | tuple | None]) -> tuple[list[int], list[int]]:
    """Computes dense ranks of a column's values, ascending and descending, from 1.

    Equal values have equal ranks. The rank is 0 for cells without a value, and for all cells if the
    values are not comparable.
    """
    ranks, inverse_ranks = [0] * len(values), [0] * len(values)
    present = [value for value in values if value is not None]
    key = _sort_key(present)
    if key is None:
        return ranks, inverse_ranks
    order = sorted({key(value) for value in present})
    rank_of = {value: rank for rank, value in enumerate(order, start=1)}
    for index, value in enumerate(values):
        if value is not None:
            ranks[index] = rank_of[key(value)]
            inverse_ranks[index] = len(order) + 1 - ranks[index]
    return ranks, inverse_ranks


def relations(
    question_values: Sequence[float | tuple], values: Sequence[float | tuple | None]
) -> list[int]:
    """Computes, for each cell, the union of the bits EQ, LT and GT over the question's values.

    Only those of the question's values count that are comparable with all values of the column.
    Dates are compared by the parts that all of them have.
    """
    bits = [0] * len(values)
    present = [value for value in values if value is not None]
    for question_value in question_values if present else ():
        key = _sort_key([*present, question_value])
        if key is None:
            continue
        own = key(question_value)
        for index, value in enumerate(values):
            if value is not None:
                other = key(value)
                bits[index] |= EQ if own == other else LT if own < other else GT
    return bits
