"""Shares: what percentage of some rows meets a condition, or has of a sum."""

import re

import numpy as np

from mate_tf.answers.derived.reading import Derived, Reading, shown
from mate_tf.answers.execution import SUM
from mate_tf.answers.programs import Program
from mate_tf.tables import pruning

_SHARE = re.compile(
    r"(?:\b(?:per ?cent(?:age)?|share|proportion|fraction)\b(?: of\b)?|% of\b|\bwhat %)(?P<what>.*)"
)
_THAN = re.compile(r"\bthan (?![\d$€£])")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|did|does|do|came|come|comes|went|go|goes|read|reads|whose|"
    r"with|that|who|which|under|on|in|at|from|by)\b"
)
_SAID = frozenset(
    pruning.words(
        "what percent percentage per cent share proportion fraction of out all the total in as a "
        "came come went go overall everyone everything"
    )
)


def find(reading: Reading) -> Derived | None:
    """Returns which share of rows, or of a sum over them, meets what the question says last."""
    match, program = _SHARE.search(reading.text), reading.program
    if match is None or _THAN.search(reading.text) or not program or not program.conditions:
        return None
    sheet, what = reading.sheet, match["what"]
    verb = _VERB.search(what)
    end = match.start("what") + (verb.start() if verb else len(what))
    inner = [each for each in program.conditions if reading.begin(each) < end]
    outer = [each for each in program.conditions if each not in inner]
    if not outer and len(inner) != 1:
        return None
    if not outer:
        inner = []
    base = Program(tuple(inner)).rows(sheet.rows)
    part = program.rows(sheet.rows)
    used = {each.column for each in program.conditions}
    noun = reading.text[match.start("what") : end]
    of_rows = reading.counts_rows(" ".join(w for w in noun.split() if {*pruning.words(w)} - _SAID))
    column = None if of_rows else reading.amount(noun, used)
    if column is None and reading.is_about_money(noun):
        return None
    if column is None:
        total, own, what = float(base.sum()), float(part.sum()), "rows"
        (first, *_) = sorted(used)
        column, columns = first, frozenset[int]()
        said = _SAID | _noun(noun)
    else:
        totals = reading.compute(SUM, base, column), reading.compute(SUM, part, column)
        if None in totals:
            return None
        total, own = totals
        what, columns, said = f"the sum of {sheet.names[column]}", frozenset([column]), _SAID
    if not total:
        return None
    value = 100 * own / total
    note = f"{shown(own)} of {shown(total)}, {what} where {program}"
    note += f", of those where {Program(tuple(inner))}" if inner else ""
    rows = tuple(np.flatnonzero(part).tolist())
    return Derived("share", f"{shown(value)} %", value, rows, column, note, program, columns, said)


def _noun(phrase: str) -> frozenset[str]:
    """Returns the last word of "of the cats", which says what the rows are."""
    words = pruning.words(phrase)
    return frozenset(words[-1:])
