"""Finds out whether a question asks for what no program computes, and says so."""

import re
from collections.abc import Collection

from mate_tf.answers import asked
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import column_nouns, pruning
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS

_OPERATIONS = {
    asked.MEDIAN: "medians are not computed",
    asked.DIFFERENCE: "differences are not computed",
    asked.RATIO: "ratios are not computed",
}
_SUPERLATIVE = r"(?:[a-z]+est|most|least|top|fewest)"
_PLACE = re.compile(
    rf"\b(?:second|third|fourth|fifth|\d+(?:nd|rd|th))[- ](?:{_SUPERLATIVE}|last|to last)\b|"
    r"\b(?:top|first|last|bottom) (?:\d+|two|three|four|five|ten)\b"
)
_OFTEN = re.compile(r"\b(?:most|least) (?:often|frequent(?:ly)?|common(?:ly)?|popular)\b")
_OF_GROUPS = re.compile(rf"\b{_SUPERLATIVE} (?:total|average|overall|combined|summed|mean)\b")
_EACH = re.compile(r"\b(?:per|(?:for|by|of|in) each|each|for every|grouped by)(?: of the)? (\w+)")
_MOST_OF = re.compile(r"\b(?:most|fewest|least|highest number of|lowest number of) (\w+)")
_THE_MOST = re.compile(r"\bthe (?:most|least)\W*$")
_SUMS = frozenset(pruning.words("most least order orders ordered"))
_YES_NO = re.compile(r"(?:is|are|was|were|does|do|did|has|have|had|can|could)\b")
# Not "how long", which asks for a length as well as for a time.
_HOW = re.compile(r"how (?!many|much|long)([a-z]+)")
_FAR = frozenset(pruning.words("distance length km mile miles range"))
_CHOICE = re.compile(r"\b(?:or|who|which|what|when|where|how)\b")


def problem(sheet: Sheet, meaning: Meaning) -> str:
    """Says in words what a question asks for that no program computes; "" if it is nothing.

    Args:
        sheet: the table.
        meaning: what the question may mean.
    """
    text = " ".join(meaning.question.lower().split())
    operation = asked.operation(text, sheet.names, sheet.columns)
    if operation in _OPERATIONS:
        return _OPERATIONS[operation]
    if _PLACE.search(text):
        return "of an order only the first or last value is found"
    if _YES_NO.match(text) and not _CHOICE.search(text):
        return "yes and no are not answered"
    groups = [*_EACH.findall(text), *_repeated(sheet, text), *_summed(sheet, meaning, text)]
    is_group = any(_names_groups(sheet, word) for word in groups)
    if _OFTEN.search(text) or _OF_GROUPS.search(text) or is_group:
        return "groups of rows are not compared"
    return ""


def in_program(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Says in words what a program leaves out of what a question asks for; "" if it is nothing.

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: one of its programs.
    """
    if meaning.is_denied(program):
        return 'what "not" or "no" leaves out is not known'
    for each in program.conditions:
        read = sheet.columns[each.column]
        if each.value and read.other_units:
            others = ", ".join(sorted(set(read.other_units.values())))
            return (
                f"{sheet.names[each.column]}: cells in {others} are not compared with {read.unit}"
            )
    return ""


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
    if not named or set(named) & set(selected):
        return ""
    names = " or ".join(repr(sheet.names[index]) for index in named)
    said = " and ".join(repr(sheet.names[index]) for index in sorted(selected))
    return f"{asked_for[0]!r} asks for {names}, but the cells are in {said}"


def _repeated(sheet: Sheet, text: str) -> list[str]:
    """Returns the words that name groups in "which city has the most orders", where rows count."""
    for word in _MOST_OF.findall(text):
        columns = _named(sheet, word)
        if columns and all(sheet.columns[column].kind is Kind.TEXT for column in columns):
            before = text.partition(" most ")[0]
            return [each for each in before.split() if each not in STOP_WORDS]
    return []


def _summed(sheet: Sheet, meaning: Meaning, text: str) -> list[str]:
    """Returns the words that name groups in "which customer ordered the most", which names no sum.

    "Which employee earns the most" names one: a word for the highest value of a column.
    """
    if not _THE_MOST.search(text):
        return []
    numbers = [index for index, read in enumerate(sheet.columns) if read.kind is not Kind.TEXT]
    if any(meaning.named(index, "highest") - _SUMS - STOP_WORDS for index in numbers):
        return []
    return text.split()


def _names_groups(sheet: Sheet, word: str) -> bool:
    """Returns whether a word names a column of texts in which several rows have the same text."""
    return any(
        sheet.columns[column].kind is Kind.TEXT and len(sheet.distinct[column]) < sheet.num_rows
        for column in _named(sheet, word)
    )


def _named(sheet: Sheet, word: str) -> list[int]:
    said = set(pruning.words(word))
    return [index for index, name in enumerate(sheet.names) if said & set(pruning.words(name))]
