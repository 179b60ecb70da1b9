"""Computes the operation of an answer over the values of its cells, and says what is not certain.

Numbers are those of `tables.columns`. No cell is left out silently: a note names each cell without
a value, with digits left over, or with another unit; and without a sum there is no answer.
"""

import dataclasses
import math
from collections.abc import Collection, Iterable, Sequence

from mate_tf.answers.execution import AGGREGATIONS, AVERAGE, COUNT, NONE, SUM
from mate_tf.tables.columns import Column, Kind

_OPERATIONS = {SUM: "sum", AVERAGE: "average"}
_MOST_NAMED = 3
"""Cells that a note names."""


@dataclasses.dataclass(frozen=True)
class OperationResult:
    """Result of an operation, as an answer shows it.

    Attributes:
        value: result of the operation, durations in seconds; None without operation or result.
        text: the value as text, or the texts of the cells, separated by commas.
        notes: what was left out or is not certain, in words.
        is_answer: False if the operation has no result.
    """

    value: float | None
    text: str
    notes: tuple[str, ...] = ()
    is_answer: bool = True


def compute(
    aggregation: str,
    cells: Sequence[tuple[int, int, str]],
    columns: Sequence[Column],
    names: Sequence[str],
    totals: Collection[int] = (),
) -> OperationResult:
    """Computes an operation over cells.

    Args:
        aggregation: "NONE", "SUM", "AVERAGE" or "COUNT".
        cells: row, column and text of each cell.
        columns: the columns of the table.
        names: their names.
        totals: rows that are totals of the others; operations leave them out.

    Raises:
        ValueError: if the operation is unknown.
    """
    if aggregation not in AGGREGATIONS:
        raise ValueError(f"aggregation {aggregation!r} is not one of {', '.join(AGGREGATIONS)}")
    texts = ", ".join(text for *_, text in cells)
    mixed = [cell for cell in cells if cell[0] in totals]
    if aggregation == NONE and 0 < len(mixed) < len(cells) and _are_numbers(cells, columns):
        notes = (f"totals are among the cells that they add up: {_named(mixed)}",)
        return OperationResult(None, texts, notes, is_answer=False)
    if aggregation == NONE or not cells:
        return OperationResult(None, texts, is_answer=aggregation == NONE or not cells)
    notes = []
    kept = [cell for cell in cells if cell[0] not in totals]
    if kept and mixed:
        notes.append(f"totals are left out: {_named(mixed)}")
    kept = kept or list(cells)
    if aggregation == COUNT:
        return OperationResult(float(len(kept)), str(len(kept)), tuple(notes))
    operation = _OPERATIONS[aggregation]
    used = sorted({column for _, column, _ in kept})
    problem = _problem(kept, [columns[index] for index in used], [names[index] for index in used])
    if problem:
        return OperationResult(None, texts, (*notes, f"no {operation}: {problem}"), False)
    added = {cell: columns[cell[1]].values[cell[0]] for cell in kept}
    without = [cell for cell, value in added.items() if value is None]
    if len(without) == len(added):
        what = "the cell is not a number" if len(added) == 1 else "none of the cells is a number"
        return OperationResult(None, texts, (*notes, f"no {operation}: {what}"), False)
    if without:
        notes.append(
            f"{len(without)} of {len(added)} cells are not numbers and are not in the {operation}: "
            f"{_named(without)}"
        )
    partial = [cell for cell in kept if cell[0] in columns[cell[1]].partial]
    if partial:
        notes.append(f"only the first number of {_named(partial)} is read")
    notes += [f"{names[index]}: {note}" for index in used for note in columns[index].notes]
    values = [value for value in added.values() if value is not None]
    return _shown(aggregation, values, [columns[index] for index in used], notes)


def joined(texts: Iterable[str]) -> str:
    """Returns texts of cells, each once, as "Viola, Cello" for the instruments of 24 rows.

    Empty ones are left out.
    """
    return ", ".join(filter(str.strip, dict.fromkeys(texts)))


def _are_numbers(cells, columns: Sequence[Column]) -> bool:
    return all(columns[column].kind is Kind.NUMBER for _, column, _ in cells)


def _problem(cells, columns: Sequence[Column], names: Sequence[str]) -> str:
    """Returns why cells of these columns cannot be added up, in words; "" if they can."""
    for column, name in zip(columns, names, strict=True):
        if column.kind is Kind.DATE:
            return f"{name!r} has dates"
        if column.kind is Kind.TIME:
            return f"{name!r} has times of day"
    if len({column.kind for column in columns} - {Kind.TEXT}) > 1:
        return f"the columns {', '.join(map(repr, names))} have different kinds of values"
    units = {column.unit for column in columns} | {
        column.other_units[row]
        for column in columns
        for row, *_ in cells
        if row in column.other_units
    }
    units.discard("")
    if len(units) > 1:
        return f"the cells have different units: {', '.join(sorted(units))}"
    return ""


def _shown(aggregation, values, columns: Sequence[Column], notes: Sequence[str]) -> OperationResult:
    """Returns the result, rounded to the decimals of the cells; an average has two more."""
    decimals = max(column.decimals for column in columns)
    total = math.fsum(values)
    if aggregation == AVERAGE:
        total /= len(values)
        decimals += 2
    if not math.isfinite(total):
        return OperationResult(
            None, "", (*notes, "the result is beyond the range of numbers"), False
        )
    column = columns[0]
    if column.kind is Kind.DURATION:
        return OperationResult(total, written_duration(total), tuple(notes))
    if any(column.is_converted for column in columns):  # 0.3 km next to 5 km
        value = float(f"{total:.12g}")
        return OperationResult(value, f"{_number(value)} {column.unit}", (*notes,))
    # The last digit of 0.1 + 0.2 = 0.30000000000000004 is noise, and so are those of an average.
    value = float(f"{total:.15g}") if aggregation == AVERAGE else round(total, decimals) + 0.0
    return OperationResult(value, _number(round(total, decimals) + 0.0), tuple(notes))


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)


def written_duration(seconds: float) -> str:
    """Returns seconds as h:mm:ss, with a fraction of two digits if there is one."""
    sign, seconds = ("-" if seconds < 0 else ""), round(abs(seconds), 2)
    minutes, rest = divmod(seconds, 60)
    fraction = f"{rest % 1:.2f}"[1:] if rest % 1 > 0 else ""
    return f"{sign}{int(minutes // 60)}:{int(minutes % 60):02}:{int(rest):02}{fraction}"


def _named(cells: Sequence[tuple[int, int, str]]) -> str:
    """Returns texts and rows of cells, of many the first ones: "n/a" (row 3)."""
    shown = [
        f'"{text}" (row {row + 1})' if text.strip() else f"empty (row {row + 1})"
        for row, _, text in cells[:_MOST_NAMED]
    ]
    more = len(cells) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
