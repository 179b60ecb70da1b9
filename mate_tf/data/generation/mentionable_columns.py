"""Columns of a table that generated statements and questions can mention."""

from collections.abc import Sequence
from typing import NamedTuple

from mate_tf.tables import numbers
from mate_tf.tables.table import Table
from mate_tf.tables.text import EMPTY, format_text, normalize_for_match

LONGEST_NAME = 8
"""Largest number of words of a cell or column name that is mentioned."""

LONGEST_CELL = 60
"""Largest number of characters of a cell in a generated question."""

_EXACT_INTEGERS = 2.0**24  # all integers up to this one are exact as float32
# Characters allowed in a cell next to its number. No dash, since it could be a minus sign.
_BESIDE_VALUES = frozenset(" $£€¥%.#+*†‡'\"")
# Words that are in nearly every text. Cells of these words only are not looked for.
# fmt: off
_COMMON_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "by", "for", "from", "in", "is", "it", "no", "not", "of",
    "on", "or", "the", "to", "was",
))
# fmt: on


def is_name(words: str) -> bool:
    """Returns True if a cell with these words can be mentioned in a statement."""
    return (
        words != EMPTY
        and words.count(" ") < LONGEST_NAME
        and not _COMMON_WORDS.issuperset(words.split())
    )


class Column(NamedTuple):
    """A column that statements can mention.

    Attributes:
        name: name of the column, as it is mentioned.
        cells: texts of the cells, as they are mentioned.
        keys: normal form of each cell's text; cells with different keys have different texts.
        values: for each cell its number, or its date as a tuple; empty if not all cells have one.
        exact: True if the values are numbers that can be added without rounding.
        index: number of the column in the table, from 0.
    """

    name: str
    cells: list[str]
    keys: list[str]
    values: list
    exact: bool
    index: int

    @property
    def order_words(self) -> tuple[str, str, str, str]:
        """Words for more than, less than, most and least, by the type of the values."""
        if isinstance(self.values[0], tuple):
            return "later than", "earlier than", "latest", "earliest"
        return "greater than", "less than", "greatest", "lowest"

    def differ(self, row: int, other: int) -> bool:
        """Returns True if two cells differ both in text and in value."""
        if self.values and self.values[row] == self.values[other]:
            return False
        return self.keys[row] != self.keys[other]


class Sheet:
    """The columns of a table that statements can mention.

    Attributes:
        num_rows: number of data rows.
        columns: columns with at least one cell that can be mentioned.
        ordered: columns with values that can be compared.
        exact: columns with numbers that can be added without rounding.
    """

    def __init__(self, table: Table):
        names = [format_text(name) for name in table.columns]
        self.num_rows = table.num_rows
        columns = [
            _read_column(index, table.columns[index], [row[index] for row in table.rows])
            for index, name in enumerate(names)
            if table.rows and is_name(name) and names.count(name) == 1
        ]
        self.columns = [column for column in columns if any(map(is_name, column.keys))]
        self.ordered = [column for column in columns if column.values]
        self.exact = [column for column in columns if column.exact]


def _read_column(index: int, name: str, cells: Sequence[str]) -> Column:
    """Makes a `Column` of its number, its name and the texts of its cells."""
    cells = [" ".join(cell.split()) for cell in cells]
    values, exact = _values(cells), False
    if values and isinstance(values[0], float):
        decimals = [_decimal(value) for value in values]
        exact = None not in decimals
        values = decimals if exact else values
    keys = [format_text(cell) for cell in cells]
    return Column(" ".join(name.split()), cells, keys, values, exact, index)


def _values(cells: list[str]) -> list:
    """Returns the value of each cell, if all are single numbers or dates with the same parts."""
    if not all(map(_is_one_value, cells)):
        return []
    values = numbers.column_values(cells)
    if None in values:
        return []
    dates = [value for value in values if isinstance(value, numbers.Date)]
    if not dates:
        return values
    parts = {tuple(part is not None for part in date) for date in dates}
    if len(parts) > 1 or dates[0].year is None:
        return []
    return [tuple(part for part in date if part is not None) for date in dates]


def _is_one_value(cell: str) -> bool:
    """Returns True if a cell is one number or date, with at most `_BESIDE_VALUES` next to it."""
    text = normalize_for_match(cell)
    spans = numbers.numeric_spans(text)
    if len(spans) != 1:
        return False
    begin, end, _ = spans[0]
    return _BESIDE_VALUES.issuperset(text[:begin] + text[end:])


def _decimal(value: float) -> float | None:
    """Returns the number of at most 6 digits that rounds to this float32, or None."""
    if value.is_integer():
        return value if abs(value) <= _EXACT_INTEGERS else None
    decimal = float(f"{value:.6g}")
    return decimal if numbers.to_float32(decimal) == value else None
