"""Numbers of different values: how many different people some rows are about."""

import re
from collections.abc import Collection

import numpy as np

from mate_tf.answers import asked, expected
from mate_tf.answers.conditions import is_id
from mate_tf.answers.derived.reading import Derived, Reading, shown
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import amounts, pruning
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS
from mate_tf.tables.text import SHORT, stem

_DIFFERENT = re.compile(
    r"\b(?:how many|number of) (?:of (?:the|our) )?(?:different|distinct|unique) "
    r"(?P<words>[\w'’-]+(?: of [\w'’-]+)?)"
)
_SAID = frozenset(
    pruning.words(
        "how many number of different distinct unique kind type sort in this table list "
        "file log there are is were we have do does did our the all any one ones"
    )
)
_PEOPLE = frozenset(pruning.words("people person persons individuals"))


def find(reading: Reading) -> Derived | None:
    """Returns how many different values a column has in the rows that a question says.

    Empty cells do not count, nor does the case of letters.
    """
    match = _DIFFERENT.search(reading.text)
    column = None if match is None else _column(reading, match["words"])
    if match is None or column is None:
        return None
    sheet, program = reading.sheet, reading.program
    rows = np.flatnonzero(program.rows(sheet.rows))
    if not len(rows) or any(" has " in each.text for each in program.conditions):
        return None
    first = map(int, sheet.first_of_each(rows, column))
    kept = [row for row in first if not amounts.is_missing(sheet.texts[column][row])]
    note = f"different values of {sheet.names[column]} in {shown(len(rows))} rows"
    empty = sum(amounts.is_missing(sheet.texts[column][row]) for row in map(int, rows))
    return Derived(
        kind="number of different values",
        text=str(len(kept)),
        value=float(len(kept)),
        rows=tuple(kept),
        column=column,
        note=note
        + (f" where {program}" if program.conditions else "")
        + (f"; {empty:,} of them have none" if empty else ""),
        program=program,
        said=_SAID.union(pruning.words(match["words"])),
    )


def _column(reading: Reading, noun: str) -> int | None:
    """Returns the column that a noun names, or the only one of people; None if none is certain."""
    sheet = reading.sheet
    words = frozenset(pruning.words(noun)) - _SAID - STOP_WORDS
    if asked.counted(reading.text, sheet.names) or not words:
        return None  # counted as the model does
    if words <= _PEOPLE:
        named = [n for n in range(len(sheet.names)) if sheet.has_people(n)]
    else:
        named = _named(sheet, words) or [*expected.named(sheet, words)] or reading.named(words)
    named = [
        column
        for column in named
        if column not in reading.program.columns
        and (sheet.columns[column].kind is Kind.TEXT or is_id(sheet.names[column]))
    ]
    return named[0] if len(named) == 1 else None


def _named(sheet: Sheet, words: Collection[str]) -> list[int]:
    """Returns "Donor name" for donors, and "supp" for suppliers."""
    stems, columns = {*map(stem, words)}, []
    for column, name in enumerate(sheet.names):
        own = {*pruning.words(name)} - {"name"}
        is_short = any(
            len(each) >= SHORT and word.startswith(each) for each in own for word in words
        )
        if len(own) == 1 and (stems == {*map(stem, own)} or is_short):
            columns.append(column)
    return columns
