"""Yes and no: whether there is a row with what a question says, or a row has it."""

import re

import numpy as np

from mate_tf.answers import cells, comparisons
from mate_tf.answers.derived.reading import OF_AVERAGES, OF_SUMS, Derived, Reading
from mate_tf.answers.programs import Condition, Program
from mate_tf.tables import pruning

_ANY = re.compile(r"\b(?:any|anyone|anybody|ever|there)\b")
_THAN = re.compile(r"\bthan (?![\d$€£])|\bsame\b|\bmore\b(?! than)|\bonly\b|\ball\b|\bevery\b")
_SAID = frozenset(
    pruning.words("is are was were does do did has have had can any anyone anybody ever there a an")
)


def find(reading: Reading) -> Derived | None:
    """Returns whether a row, or one with the first condition, meets all conditions."""
    text = reading.text
    if not cells.is_yes_no(text) or _THAN.search(text) or comparisons.superlatives(text):
        return None
    program = reading.program
    if (
        program is None
        or not program.conditions
        or OF_SUMS.search(text)
        or OF_AVERAGES.search(text)
    ):
        return None
    if any(" or " in each.text or each.text.startswith("not ") for each in program.conditions):
        return None
    rows = program.rows(reading.sheet.rows)
    said = _predicate(reading, program)
    if _ANY.search(text):
        is_so, about = bool(rows.any()), rows
    else:
        others = tuple(each for each in program.conditions if each is not said)
        about = Program(others).rows(reading.sheet.rows)
        count = int(rows.sum())
        if not others or not about.any() or count not in (0, int(about.sum())):
            return None  # some of its rows are so, and some are not
        is_so = count > 0
    shown = rows if rows.any() else about
    return Derived(
        *("yes or no", "yes" if is_so else "no", None),
        *(tuple(np.flatnonzero(shown).tolist()), said.column),
        *(f"{int(rows.sum()):,} rows where {program}", program, frozenset(), _SAID),
    )


def _predicate(reading: Reading, program: Program) -> Condition:
    """Returns the condition that is asked about: that of a column of "yes" and "no", or the last
    one that says no date."""
    ordered = sorted(program.conditions, key=reading.begin)
    flags = [each for each in ordered if reading.sheet.has_flags(each.column)]
    texts = [each for each in ordered if not each.value]
    return (flags or texts or ordered)[-1]
