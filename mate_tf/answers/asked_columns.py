"""Finds out whether cells are in the column that "who" or "how old" asks for, and says so if not.

Does not import TensorFlow.
"""

import re
from collections.abc import Collection

from mate_tf.answers import expected
from mate_tf.answers.conditions import is_id
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import column_nouns, pruning
from mate_tf.tables.pruning import STOP_WORDS

# Not "how long", which asks for a length as well as for a time.
_HOW = re.compile(r"how (?!many|much|long)([a-z]+)")
_ADJECTIVES = frozenset(("old", "tall", "deep", "heavy", "wide", "fast", "hot", "cold", "thick"))
_FAR = frozenset(pruning.words("distance length km mile miles range"))
_WHO = re.compile(r"who\b")


def problem(sheet: Sheet, meaning: Meaning, program: Program, column: int) -> str:
    """Says that cells are not whom "who" asks for, or ids where names are asked for; or "".

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: the one of its programs that selects the rows.
        column: the column of the cells.
    """
    if problem := _id_or_name(sheet, meaning, column):
        return problem
    words = {*pruning.words(meaning.question)}
    is_named = meaning.named(column) or column in expected.named(sheet, words - STOP_WORDS)
    if not _WHO.match(meaning.question.strip().lower()) or is_named:
        return ""
    used = {*program.columns}
    people = [n for n in range(len(sheet.names)) if n not in used and sheet.has_people(n)]
    names = " or ".join(repr(sheet.names[each]) for each in people)
    if people and column not in people:
        return f"'who' asks for {names}, but the cells are in {sheet.names[column]!r}"
    if not people and sheet.is_of_things(column):
        return f"whether {sheet.names[column]!r} is asked for is not known"
    if len(people) > 1 and not sheet.is_key(column):
        return f"'who' may be {names}"
    return ""


def _id_or_name(sheet: Sheet, meaning: Meaning, column: int) -> str:
    """Says that "heaviest animal" may ask for the name, not for the id; "" if only one is there."""
    words = {*pruning.words(meaning.question)}
    if not is_id(sheet.names[column]) or words & expected.IDS:
        return ""
    names = [name for name in sheet.names if pruning.words(name) == ["name"]]
    return f"{sheet.names[column]!r} or {names[0]!r} may be meant" if names else ""


def other_column(sheet: Sheet, question: str, selected: Collection[int]) -> str:
    """Says that cells are in another column than the one that "how old" names; "" if not.

    Args:
        sheet: the table.
        question: the question.
        selected: columns of the cells that a model selects for it.
    """
    asked_for = _HOW.match(question.strip().lower())
    if not asked_for or not selected:
        return ""
    word = set(pruning.words(asked_for[1]))
    known = (
        _FAR & set(pruning.words(name))
        if "far" in word
        else word & column_nouns.words(name, "lookup")
        for name in sheet.names
    )
    named = [index for index, words in enumerate(known) if words]
    if not named:
        is_known = asked_for[1] not in _ADJECTIVES
        return "" if is_known else f"no column has what {asked_for[0]!r} asks for"
    if set(named) & set(selected):
        return ""
    names = " or ".join(repr(sheet.names[index]) for index in named)
    said = " and ".join(repr(sheet.names[index]) for index in sorted(selected))
    return f"{asked_for[0]!r} asks for {names}, but the cells are in {said}"
