"""Places in an order, such as the second highest value."""

import re

import numpy as np

from mate_tf.answers import expected, left_out
from mate_tf.answers.derived.reading import Derived, Reading, certain
from mate_tf.answers.programs import Program

_PLACES = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_PLACE = re.compile(
    rf"\b(?P<word>{'|'.join(_PLACES)}|(?P<number>\d+)(?:nd|rd|th))[- ](?:[a-z]+est|most|least)\b"
)


def find(reading: Reading) -> Derived | None:
    """Returns the row at a place of an order, such as that of the second highest price."""
    match = _PLACE.search(reading.text)
    if match is None:
        return None
    place = int(match["number"]) if match["number"] else _PLACES.index(match["word"]) + 2
    ordered = (
        each
        for each in reading.meaning.programs
        if each.order is not None and each.order.column is not None and each.order.said
    )
    sheet, program = reading.sheet, certain(reading.sheet, reading.meaning, ordered)
    order = None if program is None else program.order
    if program is None or order is None or order.fit == 0 or place < 1:
        return None
    if left_out.in_program(sheet, reading.meaning, program):
        return None  # "dearest" does not tell which end is meant
    ranks = order.ranks if order.is_largest else -order.ranks
    rows = np.flatnonzero(Program(program.conditions).rows(sheet.rows) & (order.ranks > 0))
    rows = rows[np.argsort(-ranks[rows], kind="stable")]
    before = ranks[rows[: place + 1]]
    if len(rows) < place or len(np.unique(before)) != len(before):
        return None  # of equal values nobody can tell which one is second
    row = int(rows[place - 1])
    column = _column(reading, program)
    if column is None or not sheet.texts[column][row].strip():
        return None
    note = f"place {place} of {order.text.removeprefix('largest ').removeprefix('smallest ')}, "
    note += "from the largest" if order.is_largest else "from the smallest"
    note += f" where {Program(program.conditions)}" if program.conditions else ""
    text = sheet.texts[column][row]
    said = frozenset([match["word"], match.group().split("-")[0], *match.group().split()])
    return Derived("place", text, None, (row,), column, note, program, frozenset(), said)


def _column(reading: Reading, program: Program) -> int | None:
    """Returns the column that is asked for; None if it is not certain."""
    found = expected.expected(reading.sheet, reading.meaning, program)
    if found is not None:
        return min(found.columns) if len(found.columns) == 1 else None
    return 0 if reading.sheet.is_key(0) else None
