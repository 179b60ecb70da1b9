"""Yes and no: whether a table has a row with what a question says, or a row has it."""

import re

import numpy as np

from mate_tf.answers import cells, comparisons
from mate_tf.answers.derived.reading import OF_AVERAGES, OF_SUMS, Derived, Reading, rows_where
from mate_tf.answers.programs import Condition, Program
from mate_tf.answers.sheet import NO
from mate_tf.tables import amounts, pruning

_ANY = re.compile(r"\b(?:any|anyone|anybody|ever|there)\b")
_OF_OTHERS = re.compile(
    r"\bthan (?![\d$€£])|\bsame\b|\bmore\b(?! than)|\b(?:only|all|every|should)\b"
)
"""Compares rows with each other, or asks for an opinion."""

_SAID = frozenset(
    pruning.words("is are was were does do did has have had can any anyone anybody ever there a an")
)


def find(reading: Reading) -> Derived | None:
    """Returns whether there are rows that meet all conditions, or those that a question is about
    meet the last one.

    None if some of these meet it and others do not, or a flag is empty where others say "no".
    """
    text, program = reading.text, reading.program
    if not cells.is_yes_no(text) or comparisons.superlatives(text):
        return None
    if any(each.search(text) for each in (_OF_OTHERS, OF_SUMS, OF_AVERAGES)):
        return None
    if not program.conditions:
        return None
    if any(" or " in each.text or each.text.startswith("not ") for each in program.conditions):
        return None
    rows, last = program.rows(reading.sheet.rows), _predicate(reading, program)
    about = rows
    if not _ANY.search(text):
        subject = tuple(each for each in program.conditions if each is not last)
        about = Program(subject).rows(reading.sheet.rows)
        is_mixed = rows.any() and (rows != about).any()
        if not subject or not about.any() or is_mixed or _is_unknown(reading, last, about):
            return None
    return Derived(
        kind="yes or no",
        text="yes" if rows.any() else "no",
        value=None,
        rows=tuple(np.flatnonzero(rows if rows.any() else about).tolist()),
        column=last.column,
        note=rows_where(rows.sum(), program),
        program=program,
        said=_SAID,
    )


def _predicate(reading: Reading, program: Program) -> Condition:
    """Returns the condition that is asked about.

    It is that of a column of "yes" and "no", or else the last one that does not say a date.
    """
    ordered = sorted(program.conditions, key=reading.begin)
    flags = [each for each in ordered if reading.sheet.has_flags(each.column)]
    texts = [each for each in ordered if not each.value]
    return (flags or texts or ordered)[-1]


def _is_unknown(reading: Reading, asked_about: Condition, about: np.ndarray) -> bool:
    """Returns whether one of the rows has no value in a column where others say "no"."""
    column = asked_about.column
    texts = (reading.sheet.texts[column][int(row)] for row in np.flatnonzero(about))
    return any(map(amounts.is_missing, texts)) and bool({*reading.sheet.distinct[column]} & NO)
