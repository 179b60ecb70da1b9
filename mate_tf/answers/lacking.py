"""Finds the columns in which a question asks for cells without a value, as in "has no manager"."""

import re
from collections import Counter

import numpy as np

from mate_tf.answers import comparisons
from mate_tf.answers.programs import Condition
from mate_tf.answers.sheet import NO, Sheet
from mate_tf.tables import amounts, pruning
from mate_tf.tables.text import ALIKE, stem

_FILLING = frozenset(
    pruning.words(
        "value values entry entries data record recorded for the a an any given known my our"
    )
)
"""Words between "no" and the name of a column."""

_BRACKETS = re.compile(r"[(\[{].*?[)\]}]")
_GENERAL = frozenset(pruning.words("to my our name"))
_NOT_YET = re.compile(
    r"\b(?:not|(?:have|has|had|was|were|did)n['’]?t)(?: yet)?(?: been| be)?(?: yet)? "
    r"(?P<what>[a-z]+)"
)
"""Asks for rows where something did not happen, as in "haven't been returned yet"."""


def columns_of(sheet: Sheet, question: str) -> dict[int, frozenset[str]]:
    """Returns the columns in which a question asks for cells without a value, and its words."""
    names = [pruning.words(name) for name in sheet.names]
    owners = Counter(word for own in names for word in {*map(stem, own)})
    found = {}
    for match in comparisons.WITHOUT.finditer(question.lower()):
        words, all_words = pruning.words(match["what"]), pruning.words(match.group())
        if any(own and all_words[: len(own)] == own for own in names):
            continue  # "empty weight" is the name of a column
        said = [word for word in words if word not in _FILLING]
        for column, own in enumerate(names):
            if own and words[: len(own)] == own:
                found[column] = frozenset(all_words) - {*words} | {*own}
                continue
            short = _short_name(sheet, column)
            is_said = {*said[: len(short)]} == short or (
                said and said[0] in short and owners[stem(said[0])] == 1
            )
            if short and is_said and (_has_empty(sheet, column) or sheet.has_flags(column)):
                found[column] = frozenset(all_words) - {*words} | short
    return found or _not_yet(sheet, question)


def _not_yet(sheet: Sheet, question: str) -> dict[int, frozenset[str]]:
    """Returns the column of what did not happen: the only one that the verb names.

    Of a column of "yes" and "no" the opposite is asked for instead.
    """
    for match in _NOT_YET.finditer(question.lower()):
        begin = stem(*pruning.words(match["what"]))[:ALIKE]
        named = [
            column
            for column, name in enumerate(sheet.names)
            if any(stem(word)[:ALIKE] == begin for word in pruning.words(name))
        ]
        is_one = len(named) == 1 and not sheet.has_flags(named[0])
        if is_one and _has_empty(sheet, named[0]):
            return {named[0]: frozenset(pruning.words(match.group()))}
    return {}


def _short_name(sheet: Sheet, column: int) -> frozenset[str]:
    """Returns the words of a column's name, without general ones and those in brackets."""
    return frozenset(pruning.words(_BRACKETS.sub(" ", sheet.names[column]))) - _GENERAL


def _has_empty(sheet: Sheet, column: int) -> bool:
    return any(map(amounts.is_missing, sheet.texts[column]))


def condition(sheet: Sheet, column: int, said: frozenset[str]) -> Condition:
    """Returns the condition that cells have no value; "no stock" may also be a stock of 0, and
    "no receipt" is the "no" of a column of flags."""
    texts, name = sheet.texts[column], sheet.names[column]
    if sheet.has_flags(column) and (keys := [key for key in sheet.distinct[column] if key in NO]):
        rows = np.concatenate([sheet.distinct[column][key] for key in keys])
        return Condition(column, sheet.mask(rows), said, f"{name} is {texts[int(rows[0])]}")
    is_empty = np.array([amounts.is_missing(text) for text in texts], bool)
    text, values = f"{name} is empty", sheet.columns[column].values
    if 0 in values:
        is_empty |= np.array([value == 0 for value in values], bool)
        text += " or 0"
    return Condition(column, is_empty, said, text)
