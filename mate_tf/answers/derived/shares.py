"""Shares: what percentage of some rows, or of a sum over them, meets a condition."""

import re
from collections.abc import Collection

import numpy as np

from mate_tf.answers.derived.reading import Derived, Reading, shown
from mate_tf.answers.execution import COUNT, SUM
from mate_tf.answers.programs import Program
from mate_tf.tables import amounts, pruning

_SHARE = re.compile(
    r"(?:\b(?:per ?cent(?:age)?|share|proportion|fraction)\b(?: of\b)?|% of\b|\bwhat %)(?P<what>.*)"
)
_THAN = re.compile(r"\bthan (?![\d$€£])")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|did|does|do|came|come|comes|went|go|goes|read|reads|whose|"
    r"with|that|who|which|under|on|in|at|from|by)\b"
)
"""Ends what the whole is: "the cats" of "what percentage of the cats are neutered"."""

_SHARES = frozenset(pruning.words("percent percentage pct share rate proportion fraction"))
_SAID = frozenset(
    pruning.words(
        "what percent percentage per cent share proportion fraction of out all the total in as a "
        "came come went go overall everyone everything"
    )
)


def find(reading: Reading) -> Derived | None:
    """Returns which share of the rows, or of a sum over them, has what a question says."""
    match, program = _SHARE.search(reading.text), reading.program
    if match is None or _THAN.search(reading.text) or not program.conditions:
        return None
    verb = _VERB.search(match["what"])
    end = match.end() if verb is None else match.start("what") + verb.start()
    noun = reading.text[match.start("what") : end]
    of_whole = [each for each in program.conditions if reading.begin(each) < end]
    if len(of_whole) == len(program.conditions):  # "the share of cats": of all rows
        if len(of_whole) > 1 or _has_shares(reading) or reading.sheet.is_key(of_whole[0].column):
            return None
        of_whole = []
    words = " ".join(each for each in noun.split() if {*pruning.words(each)} - _SAID)
    column = None if reading.counts_rows(words) else reading.amount(noun, program.columns)
    if column is None and reading.is_about_money(noun):
        return None
    whole, part = (
        Program(tuple(of_whole)).rows(reading.sheet.rows),
        program.rows(reading.sheet.rows),
    )
    operation = COUNT if column is None else SUM
    totals = reading.compute_each(operation, (whole, part), column or 0)
    if totals is None or not totals[0]:
        return None
    value = 100 * totals[1] / totals[0]
    what = "rows" if column is None else f"the sum of {reading.sheet.names[column]}"
    note = f"{shown(totals[1])} of {shown(totals[0])}, {what} where {program}"
    note += f", of those where {Program(tuple(of_whole))}" if of_whole else ""
    return Derived(
        kind="share",
        text=f"{shown(value, 2)} %",
        value=value,
        rows=tuple(np.flatnonzero(part).tolist()),
        column=program.columns[0] if column is None else column,
        note=note + _empty(reading, program, whole),
        program=program,
        columns=frozenset() if column is None else frozenset([column]),
        said=_SAID.union(_said(reading, noun, column)),
    )


def _has_shares(reading: Reading) -> bool:
    """Returns whether the table has a column of shares, which "the percentage of X" may mean."""
    pairs = zip(reading.sheet.names, reading.sheet.columns, strict=True)
    return any("%" in name + read.unit or _SHARES & {*pruning.words(name)} for name, read in pairs)


def _said(reading: Reading, noun: str, column: int | None) -> Collection[str]:
    """Returns words that say what the whole is, as "cats" of "of the cats", or "our spending"."""
    if column is None:
        return pruning.words(noun)[-1:]
    return pruning.words(noun) if reading.is_about_money(noun) else ()


def _empty(reading: Reading, program: Program, whole: np.ndarray) -> str:
    """Says how many of the rows have no value in a column that decides."""
    for column in program.columns:
        texts = reading.sheet.texts[column]
        number = sum(amounts.is_missing(texts[int(row)]) for row in np.flatnonzero(whole))
        if number:
            return f"; {number:,} of them have no {reading.sheet.names[column]}"
    return ""
