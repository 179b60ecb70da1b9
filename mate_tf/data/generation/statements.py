"""Generates true and false statements about a table, for intermediate pre-training.

There are two kinds, as in Eisenschlos et al. (2020, "Understanding tables with intermediate
pre-training"). Synthetic statements are computed from the table. Counterfactual statements are
texts about the table in which the mention of one cell is replaced by another cell.

```
rng = random.Random(0)
synthetic(table, rng, 2)  # (Statement("the Mayor when City is Bern is Ann Red", False), ...)
counterfactual(table, "Bern lies on the Aare", rng)  # "Thun lies on the Aare"
```
"""

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mate_tf.data.generation.mentionable_columns import LONGEST_NAME, Column, Sheet, is_name
from mate_tf.tables.table import Table
from mate_tf.tables.text import WORD, format_text, normalize_for_match

_TRIES = 30


class Statement(NamedTuple):
    """A text about a table, and whether it follows from the table."""

    text: str
    is_true: bool


def synthetic(table: Table, rng: random.Random, count: int) -> Iterator[Statement]:
    """Generates distinct statements computed from a table, true and false ones in turns.

    The subject is a single cell ("the Mayor when City is Bern"), the first, last, greatest or
    lowest cell of a column, a sum, an average or a number of rows; each of all rows or of the rows
    that meet a condition. The statement gives its value, or compares it with another value. Columns
    without a unique name are not used. Only columns with exactly one number, or exactly one date,
    in each cell are used for comparisons.

    A very small table may give few or none.
    """
    sheet, seen = Sheet(table), set()
    truth = rng.random() < 0.5
    for _ in range(count):
        statement = next(
            (
                made
                for _ in range(_TRIES)
                if (made := rng.choice(_FORMS)(sheet, rng, truth)) and made not in seen
            ),
            None,
        )
        if statement is None:
            return
        seen.add(statement)
        yield Statement(statement, truth)
        truth = not truth


def counterfactual(table: Table, text: str, rng: random.Random) -> str | None:
    """Replaces the mention of one cell in a text by another cell of the same column.

    The two cells differ in more than case and punctuation, and the other cell is not mentioned in
    the text. Of overlapping mentions only the longest is used.

    Returns:
        The new text; None if no mentioned cell can be replaced.
    """
    matches = list(WORD.finditer(text))
    said = [match.group().lower() for match in matches]
    columns = [
        {name: cell for cell in column if is_name(name := format_text(cell))}
        for column in zip(*table.rows, strict=True)
    ]
    columns_of: dict[str, list[int]] = {}
    for index, names in enumerate(columns):
        for name in names:
            columns_of.setdefault(name, []).append(index)
    exchanges, furthest = [], 0
    for begin in range(len(said)):
        for end in range(min(begin + LONGEST_NAME, len(said)), max(begin, furthest), -1):
            name = " ".join(said[begin:end])
            if name in columns_of:
                exchanges += [(begin, end, columns[index]) for index in columns_of[name]]
                furthest = end
                break
    rng.shuffle(exchanges)
    whole = f" {' '.join(said)} "
    for begin, end, names in exchanges:
        others = sorted(name for name in names if f" {name} " not in whole)
        if others:
            cell = names[rng.choice(others)].strip()
            return text[: matches[begin].start()] + cell + text[matches[end - 1].end() :]
    return None


class _Part(NamedTuple):
    """Rows that meet a condition on a column; `words` begin with a space, or are ""."""

    words: str
    rows: list[int]
    column: Column | None = None


class _DescribedCell(NamedTuple):
    """A cell and the words that describe it."""

    words: str
    column: Column
    row: int


class _Result(NamedTuple):
    """A number, the words that describe it, and the function that computes it for other rows."""

    words: str
    value: float
    of_rows: Callable[[list[int]], float]


def _part(sheet: Sheet, rng: random.Random) -> _Part:
    """Draws all rows, or the rows that meet a condition on a column; at least one row."""
    kind = rng.choice(("all", "is", "is", "order"))
    everything = _Part("", list(range(sheet.num_rows)))
    columns = sheet.columns if kind == "is" else sheet.ordered
    if kind == "all" or not columns:
        return everything
    column, row = rng.choice(columns), rng.randrange(sheet.num_rows)
    if not is_name(column.keys[row]):
        return everything
    rows = [other for other in everything.rows if not column.differ(row, other)]
    words = f" when {column.name} is "
    if kind == "is":
        # With two spellings of the value it would not be clear if the condition includes both.
        if len({normalize_for_match(column.cells[other]) for other in rows}) > 1:
            return everything
        return _Part(words + column.cells[row], rows, column)
    more, less, _, _ = column.order_words
    limit = column.values[row]
    order, rows = rng.choice(
        (
            (more, [other for other in everything.rows if column.values[other] > limit]),
            (less, [other for other in everything.rows if column.values[other] < limit]),
        )
    )
    return _Part(f"{words}{order} {column.cells[row]}", rows, column) if rows else everything


def _choose(sheet: Sheet, rng: random.Random, column: Column) -> _DescribedCell | None:
    """Draws a cell of a column with a description; None if the draw has no good one."""
    part = _part(sheet, rng)
    if part.column is column:  # the condition would already give the cell
        return None
    if len(part.rows) == 1:
        kinds = [("", part.rows[0])]
    else:
        kinds = [("first ", part.rows[0]), ("last ", part.rows[-1])]
        if column.values:
            _, _, most, least = column.order_words
            value = column.values.__getitem__
            kinds += [
                (f"{most} ", max(part.rows, key=value)),
                (f"{least} ", min(part.rows, key=value)),
            ]
    kind, row = rng.choice(kinds)
    if not is_name(column.keys[row]):
        return None
    return _DescribedCell(f"the {kind}{column.name}{part.words}", column, row)


def _result(sheet: Sheet, rng: random.Random) -> _Result | None:
    """Draws a sum, an average or a number of rows with a description; None if not possible."""
    part = _part(sheet, rng)
    kind = rng.choice(("sum", "average", "number"))
    if kind == "number":
        words = f"the number of rows{part.words}"
        return _Result(words, len(part.rows), len) if part.words else None
    if not sheet.exact or len(part.rows) < 2:
        return None
    column = rng.choice(sheet.exact)
    if part.column is column:
        return None

    def of_rows(rows):
        total = sum(column.values[row] for row in rows)
        return total / len(rows) if kind == "average" else total

    return _Result(f"the {kind} of {column.name}{part.words}", of_rows(part.rows), of_rows)


def _cell_is(sheet: Sheet, rng: random.Random, truth: bool) -> str | None:
    """States the text of a cell."""
    chosen = _choose(sheet, rng, rng.choice(sheet.columns)) if sheet.columns else None
    if chosen is None:
        return None
    column, row = chosen.column, chosen.row
    if not truth:
        others = [
            other
            for other in range(sheet.num_rows)
            if column.differ(row, other) and is_name(column.keys[other])
        ]
        if not others:
            return None
        row = rng.choice(others)
    return f"{chosen.words} is {column.cells[row]}"


def _cells_compare(sheet: Sheet, rng: random.Random, truth: bool) -> str | None:
    """Compares a cell with a value, or with another cell of its column."""
    if not sheet.ordered:
        return None
    column = rng.choice(sheet.ordered)
    chosen, other = _choose(sheet, rng, column), _choose(sheet, rng, column)
    if chosen is None or other is None or not column.differ(chosen.row, other.row):
        return None
    words = rng.choice((other.words, column.cells[other.row]))
    more, less, _, _ = column.order_words
    is_more = column.values[chosen.row] > column.values[other.row]
    return f"{chosen.words} is {more if is_more == truth else less} {words}"


def _result_is(sheet: Sheet, rng: random.Random, truth: bool) -> str | None:
    """States a sum, an average or a number of rows; a false one is computed from other rows."""
    result = _result(sheet, rng)
    if result is None:
        return None
    said = _format_number(result.value if truth else _value_of_other_rows(sheet, rng, result))
    # Numbers that differ by less than the rounding are neither clearly equal nor different.
    if said is None or (abs(float(said) - result.value) < _ROUNDED_TO) != truth:
        return None
    return f"{result.words} is {said}"


def _result_compares(sheet: Sheet, rng: random.Random, truth: bool) -> str | None:
    """Compares a sum, an average or a number of rows with that of other rows."""
    result = _result(sheet, rng)
    if result is None:
        return None
    said = _format_number(_value_of_other_rows(sheet, rng, result))
    if said is None or said == _format_number(result.value):
        return None
    is_more = result.value > float(said)
    return f"{result.words} is {'greater' if is_more == truth else 'less'} than {said}"


_FORMS = (_cell_is, _cell_is, _cells_compare, _cells_compare, _result_is, _result_compares)


def _value_of_other_rows(sheet: Sheet, rng: random.Random, result: _Result) -> float:
    """Computes the number from randomly drawn rows."""
    return result.of_rows(rng.sample(range(sheet.num_rows), rng.randint(1, sheet.num_rows)))


_ROUNDED_TO = 0.01


def _format_number(value: float) -> str:
    """Formats a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
