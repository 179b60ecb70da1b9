"""Types of columns, values of their cells, and what follows from the values.

(price,) = columns.read(["Price"], [["1.749,90", "3.120,25", "20,00"]])
price.values  # (1749.9, 3120.25, 20.0)
columns.ranks(price)  # ([2, 3, 1], [2, 1, 3])
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from mate_tf.tables import amounts, column_kinds, moments, numbers, units
from mate_tf.tables.amounts import Amount
from mate_tf.tables.column_kinds import Cells, Column, Kind, Writing
from mate_tf.tables.moments import Clock, Length, Moment, Numeric

__all__ = ["Column", "Kind", "Moment", "ranks", "read", "relation", "relations", "said"]

_MOST_WORDS = 7
"""Words of the longest date: "Sunday, the 30th of June 2019 14:30"."""
_PUNCTUATION = " ?!,;:\"'()[]{}"


def read(names: Sequence[str], texts: Sequence[Sequence[str]]) -> list[Column]:
    """Reads the columns of a table.

    How numbers and dates are written is decided by the cells of the column and, if they do not
    tell, by the other columns.

    Args:
        names: names of the columns.
        texts: texts of the cells of each column.
    """
    return list(_read_table(tuple(names), tuple(map(tuple, texts))))


@lru_cache(maxsize=8)  # the table that is asked about is read for the model and for the answer
def _read_table(names: tuple[str, ...], texts: tuple[tuple[str, ...], ...]) -> tuple[Column, ...]:
    cells = [Cells(*each) for each in zip(names, texts, strict=True)]
    written = [each.writing() for each in cells]
    table = Writing.for_table(written)
    return tuple(_column(each, own, table) for each, own in zip(cells, written, strict=True))


def _column(cells: Cells, own: Writing, table: Writing) -> Column:
    if cells.present:
        for kind in (column_kinds.dates, column_kinds.clocks, column_kinds.numbers):
            column = kind(cells, own, table)
            if column is not None:
                return column
    return Column(Kind.TEXT, (None,) * len(cells.texts))


def ranks(column: Column, without: Collection[int] = ()) -> tuple[list[int], list[int]]:
    """Computes dense ranks of a column's values, ascending and descending, from 1.

    Args:
        column: the column.
        without: rows that have no rank, such as those of totals.

    Returns:
        ascending and descending ranks; 0 for cells without a value.
    """
    left_out = set(without)
    return numbers.column_ranks(
        [None if row in left_out else value for row, value in enumerate(column.values)]
    )


def relations(question: str, column: Column) -> list[int]:
    """Computes how the numbers and dates of a question compare to each cell.

    Amounts are converted to the unit of the column. Amounts of another unit do not count.

    Args:
        question: the question.
        column: the column.

    Returns:
        for each cell, the union of the bits `numbers.EQ`, `LT` and `GT` over the question's values.
    """
    if column.kind is Kind.TEXT:
        return [0] * len(column.values)
    result = [_in_column(each.value, column) for each in said(question)]
    return numbers.relations([each for each in result if each is not None], column.values)


def relation(value: "SaidValue", column: Column) -> list[int] | None:
    """Computes how one value of a question compares to each cell, as `relations` does.

    Returns:
        one of the bits for each cell, 0 for those without a value; None if it does not compare.
    """
    result = None if column.kind is Kind.TEXT else _in_column(value.value, column)
    return None if result is None else numbers.relations([result], column.values)


class SaidValue(NamedTuple):
    """A number, date, time or duration in a question.

    Attributes:
        value: the value.
        text: its words.
        before, behind: the other words of the question, normalized and in lower case.
    """

    value: Amount | Moment | Numeric | Clock | Length
    text: str
    before: str
    behind: str


_DAYS = re.compile(
    r"\b(?P<first>\d{1,2})(?:st|nd|rd|th)? (?P<between>and|to|until|till) "
    r"(?P<last>\d{1,2}(?:st|nd|rd|th)? (?:of )?"
    r"(?P<month>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?: \d{4})?)\b)",
    re.IGNORECASE,
)
"""Two days of one month, which is said once: "20 and 26 December"."""


@lru_cache(maxsize=1024)
def said(question: str) -> tuple[SaidValue, ...]:
    """Finds the numbers, dates, times and durations in a question, the longest ones, in order."""
    question = _DAYS.sub(r"\g<first> \g<month> \g<between> \g<last>", question)
    words, mentions, begin = amounts.normalize(question).split(" "), [], 0
    while begin < len(words):
        for end in range(min(begin + _MOST_WORDS, len(words)), begin, -1):
            value = _without(words[begin:end])
            if value is not None:
                while begin + 1 < end and _without(words[begin + 1 : end]) == value:
                    begin += 1  # the first word of "before 29 February 2012" says nothing
                while begin + 1 < end and _without(words[begin : end - 1]) == value:
                    end -= 1  # nor does the last one of "$20 and"
                text = " ".join(words[begin:end]).strip(_PUNCTUATION)
                around = " ".join(words[:begin]).lower(), " ".join(words[end:]).lower()
                mentions.append(SaidValue(value, text, *around))
                begin = end
                break
        else:
            begin += 1
    return tuple(mentions)


def _without(words: Sequence[str]):
    """Reads words as one value, without the punctuation around it."""
    text = " ".join(words).strip(_PUNCTUATION)
    return _read(text) or _read(text.rstrip("."))


def _read(text: str):
    value = moments.read(text)
    if value is not None:
        return value
    amount = amounts.read(text)
    if amount is None or amount.prefix or not amount.is_whole:
        return None
    # "5 players from Bern" is read as 5, the word after it is not a unit.
    is_long = amount.unit is not None and amount.unit.is_word and " " in text
    return None if is_long else amount


def _in_column(given, column: Column) -> float | Moment | None:
    """Returns a value of a question as the column's values are; None if it does not compare."""
    if column.kind is Kind.DATE:
        if isinstance(given, Numeric):
            return given.moment(column.has_day_first)
        if isinstance(given, Amount):
            year = given.point
            if year is None or given.unit is not None or not year.is_integer():
                return None
            return Moment(int(year)) if 1 <= year <= 9999 else None
        return given if isinstance(given, Moment) else None
    if column.kind in (Kind.TIME, Kind.DURATION):
        if isinstance(given, Clock):
            return given.seconds(column.kind is Kind.DURATION)
        if isinstance(given, Length):
            return given.seconds
        if isinstance(given, Amount) and given.unit and given.unit.kind == "duration":
            return amounts.value_of(given) * given.unit.factor
        return None
    unit = units.find(column.unit or column.named_unit)
    if isinstance(given, Length) and unit and unit.kind == "duration":
        return given.seconds / unit.factor
    if not isinstance(given, Amount):
        return None
    factor, is_duration = 1.0, given.unit is not None and given.unit.kind == "duration"
    if is_duration and unit is None:
        return None  # 3 minutes may be 180 of a column that does not say what it counts
    if not (given.unit is None or given.unit.is_word or unit is None or given.unit == unit):
        if given.unit.kind != unit.kind:
            return None
        factor = given.unit.factor / unit.factor
    return _by_the_column(given, factor, column) * factor


def _by_the_column(given: Amount, factor: float, column: Column) -> float:
    """Returns the value of an amount of a question, whose sign is read as those of the column.

    5.000 and 5,000 are thousands in both spellings if a cell could be so large and none has three
    decimals: people do not always write a question as the table is written.
    """
    own = amounts.value_of(given, column.has_decimal_comma)
    readings = [each for each in (given.point, given.comma) if each is not None]
    numbers = [each for each in column.values if isinstance(each, float)]
    if len(set(readings)) < 2 or column.decimals > 2 or not numbers:
        return own
    thousands = max(readings, key=abs)
    return thousands if min(numbers) <= thousands * factor <= max(numbers) else own


def as_read(value: "SaidValue", column: Column) -> str:
    """Returns the number that a value of a question is taken for, "" if it can be read in one way.

    So "5.000" is 5000 for a column of German amounts, and 5 for one with three decimals.
    """
    amount = value.value
    if not isinstance(amount, Amount) or None in (amount.point, amount.comma):
        return ""
    if amount.point == amount.comma or column.kind is not Kind.NUMBER:
        return ""
    number = _in_column(amount, column)
    return "" if number is None else f"{number:.12g}"


def has_unit(column: Column, word: str) -> bool:
    """Returns whether a word is the unit of a column's numbers, in its cells or its name."""
    own = column.unit or column.named_unit
    known = (units.CURRENCIES.get(word), units.find(word))
    return any(each is not None and each.symbol == own for each in known)
