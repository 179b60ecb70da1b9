"""Finds out whether a question asks for what no program computes, and says so."""

import re
from collections.abc import Collection

from mate_tf.answers import asked
from mate_tf.answers.conditions import is_id
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import pruning
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS

_OPERATIONS = {
    asked.MEDIAN: "medians are not computed",
    asked.DIFFERENCE: "differences are not computed",
    asked.RATIO: "ratios are not computed",
}
_SUPERLATIVE = r"(?:[a-z]+est|most|least|top|fewest)"
_PLACE = re.compile(
    rf"\b(?:second|third|fourth|fifth|\d+(?:nd|rd|th))[- ](?:{_SUPERLATIVE}|last|to last|place)\b|"
    r"\b(?:top|first|last|bottom) (?:\d+|two|three|four|five|ten)\b"
)
_OFTEN = re.compile(r"\b(?:most|least) (?:often|frequent(?:ly)?|common(?:ly)?|popular)\b")
_BY_NUMBER = re.compile(r"\bby (?:the )?(?:number|count|amount) of\b")
_WHICH = re.compile(r"^(?:which|what) (\w+)")
_TOGETHER = re.compile(r"\b(?:overall|altogether|combined|in total|all together|together)\b")
_OF_GROUPS = re.compile(rf"\b{_SUPERLATIVE} (?:total|average|overall|combined|summed|mean)\b")
_EACH = re.compile(r"\b(?:per|(?:for|by|of|in) each|each|for every|grouped by)(?: of the)? (\w+)")
_MOST_OF = re.compile(r"\b(?:most|fewest|least|highest number of|lowest number of) (\w+)")
_MOST_COME = re.compile(r"\bmost of the \w+ (?!in\b|with\b|than\b)\w+")
_THE_MOST = re.compile(r"\bthe (?:most|least)\W*$")
_SUMS = frozenset(pruning.words("most least order orders ordered"))
_RELATIVE = re.compile(
    r"(?<!the )\b(?:last|this|next|past) (?:year|month|week|quarter|season|night|spring|summer|"
    r"autumn|winter)\b|"
    r"\b(?:yesterday|today|tomorrow|ago)\b"
)
_KEY = r"(?:no\.? |nr\.? |number |id |# ?)?(?P<key>(?=[a-z-]*\d)[\w-]+)\b(?!%)"
_WHY = re.compile(r"(?:and )?why\b")
_WILL = re.compile(
    r"\bwill (?:[\w'’-]+ ){0,3}(?:be|have|take|cost|win|reach|need|get|last|earn|sell)\b|"
    r"\b(?:predict|forecast)\b|\bgoing to (?:be|fail|break|happen|win|cost|need|reach|rise|fall)\b"
)
_THAT = re.compile(r"\b(?:that|this) (?:other )?one\b")


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
    if problem := unknowable(text):
        return problem
    if problem := _no_such_key(sheet, text):
        return problem
    groups = [*_EACH.findall(text), *_repeated(sheet, text), *_summed(sheet, meaning, text)]
    is_group = any(_names_groups(sheet, word) for word in groups)
    patterns = (_OFTEN, _BY_NUMBER, _MOST_COME)
    is_group |= _counts_rows(sheet, text) or _adds_up(sheet, text)
    is_group |= _has_sums(sheet, text)
    if any(pattern.search(text) for pattern in patterns) or is_group:
        return "groups of rows are not compared"
    return ""


def _no_such_key(sheet: Sheet, text: str) -> str:
    """Says that no column of ids has the one of "lot 431"; "" if one does."""
    for column, name in enumerate(sheet.names):
        nouns = [word for word in pruning.words(name) if not is_id(word)]
        is_key = sheet.is_key(column) or is_id(name)
        match = re.search(rf"\b{re.escape(nouns[0])} {_KEY}", text) if nouns and is_key else None
        if match is None or sheet.columns[column].kind is Kind.DATE:
            continue
        said, plain = {*pruning.words(match["key"])}, _plain(match["key"])
        is_part = any(said <= {*key} for texts in sheet.distinct for key in texts)
        if not is_part and plain not in map(_plain, sheet.texts[column]):
            return f"{name!r} has no {match['key']!r}"
    return ""


def _plain(key: str) -> str:
    """Returns an id without signs and zeros in front, as "1204" of "01,204"."""
    return re.sub(r"\W", "", key.lower()).lstrip("0")


def unknowable(text: str) -> str:
    """Says in words what a question, in lower case, asks for that no table tells; "" if nothing."""
    if _WHY.match(text):
        return "reasons are not known"
    if _WILL.search(text):
        return "what will be is not known"
    if match := _THAT.search(text):
        return f"what {match.group()!r} refers to is not known"
    if match := _RELATIVE.search(text):
        return f"{match.group()!r} is about today, which is not known"
    return ""


def _repeated(sheet: Sheet, text: str) -> list[str]:
    """Returns the words that name groups in "which city has the most orders", where rows count."""
    for match in _MOST_OF.finditer(text):
        named = _named(sheet, match[1])
        if named and (_TOGETHER.search(text) or not _has_amounts(sheet, named)):
            before = text[: match.start()]
            return [each for each in before.split() if each not in STOP_WORDS]
    return []


def _counts_rows(sheet: Sheet, text: str) -> bool:
    """Returns whether "the most tickets" counts rows, since the word only names their ids."""
    named = [_named(sheet, match[1]) for match in _MOST_OF.finditer(text)]
    return any(
        columns_named and all(is_id(sheet.names[column]) for column in columns_named)
        for columns_named in named
    )


def _adds_up(sheet: Sheet, text: str) -> bool:
    """Returns whether "which shop sold the most altogether" names groups whose sums it compares."""
    is_ordered = re.search(rf"\b{_SUPERLATIVE}\b", text)
    asked_for = _WHICH.match(text)
    return bool(
        is_ordered and asked_for and _TOGETHER.search(text) and _names_groups(sheet, asked_for[1])
    )


def _has_sums(sheet: Sheet, text: str) -> bool:
    """Returns whether "the highest total" is one of several sums.

    It is not in "which order has the highest total price" if each order has one row.
    """
    asked_for = _WHICH.match(text)
    is_of_rows = (
        asked_for and _named(sheet, asked_for[1]) and not _names_groups(sheet, asked_for[1])
    )
    return bool(_OF_GROUPS.search(text)) and not is_of_rows


def _has_amounts(sheet: Sheet, named: Collection[int]) -> bool:
    """Returns whether one of some columns has amounts; ids and dates are none."""
    amounts = (Kind.NUMBER, Kind.DURATION)
    return any(
        sheet.columns[column].kind in amounts and not is_id(sheet.names[column]) for column in named
    )


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
