"""Finds out which operation the words of a question ask for."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mate_tf.answers.execution import AVERAGE, COUNT, NONE, SUM
from mate_tf.tables import pruning
from mate_tf.tables.columns import Column, Kind, has_unit

MEDIAN, DIFFERENCE, RATIO = "MEDIAN", "DIFFERENCE", "RATIO"
"""Operations that no model has."""

AMOUNT = "AMOUNT"
"""The values of a column with numbers: one of them, or their sum."""

_ASKED = (
    (
        DIFFERENCE,
        r"difference|by how (?:many|much)|how (?:many|much) (?:\w+ )?(?:more|fewer|less)\b|"
        r"how (?:many|much) (?:\w+ )?[a-z]{3,}er (?=.*\bthan (?![\d$€£]))",
    ),
    (
        RATIO,
        r"(?:percent(?:age)?|ratio) of|what (?:%|share|proportion|fraction) of|"
        r"(?:proportion|fraction) of",
    ),
    (MEDIAN, r"median"),
    (
        AVERAGE,
        r"(?:on )?av(?:e?ra?ge|erge)|avg|(?:the|is|its) mean(?= [a-z])|"
        r"mean (?=of|value|(?:[a-z]+ ){1,3}(?:of|in|for))",
    ),
    (
        COUNT,
        r"(?:total )?(?:how many|(?<!phone )(?<!order )(?<!serial )number of|count(?: of)?|"
        r"amount of)(?: (?:different|distinct|unique) values? of)?"
        r"(?P<what>(?: (?!(?:have|has|had|with|whose)\b)[\w#%]+){0,3})",
    ),
    (AMOUNT, r"how much(?P<what>(?: [\w#%]+){0,3})"),
    (SUM, r"total|sum(?:med)?|all? ?together|combined|add(?:ed)? up|in all"),
)
_ORDERED = re.compile(
    r"\b(?:highest|lowest|most|least|largest|smallest|greatest|fewest|top|higher|lower|larger|"
    r"smaller|greater|bigger|biggest|same) (?:total |overall )?"
    r"(?:number|amount|count|total|average|sum)\b"
)
_PATTERNS = tuple((name, re.compile(rf"\b(?:{words})\b")) for name, words in _ASKED)
_ENTITY = re.compile(r"(?:which|who)\b")
DISTINCT = re.compile(r"\b(?:different|distinct|unique)\b")
_OF_PLACE = re.compile(r" (?:in|at|of|from|by|with|on|for)\b")


_OF_COUNTS = frozenset(
    pruning.words("how many number of count amount total different distinct unique the")
)
OF_ROWS = _OF_COUNTS | frozenset(pruning.words("there row rows entry entries record line listed"))
"""Words that count rows, whatever these are about."""


class OperationRequest(NamedTuple):
    """An operation that a question asks for.

    Attributes:
        operation: "SUM", "AVERAGE", "COUNT", AMOUNT, MEDIAN, DIFFERENCE or RATIO.
        words: the words that ask for it, with those after "how many".
    """

    operation: str
    words: str


def operations(question: str) -> Iterator[OperationRequest]:
    """Yields the operations that the words of a question ask for, the most certain one first."""
    text = _ORDERED.sub(" ", " ".join(question.lower().split()))
    for operation, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            yield OperationRequest(operation, match.group())


def operation(question: str, names: Sequence[str], columns: Sequence[Column]) -> str | None:
    """Returns the operation that a question asks for, or None if no word asks for one.

    "How many units" asks for an AMOUNT if the table has a column of numbers with this name, and
    "the total price" for the cells of the column "Total price".

    Args:
        question: the question.
        names: names of the columns.
        columns: the columns.
    """
    numbers, said = set(), set(pruning.words(question))
    owners = Counter(word for name in names for word in set(pruning.words(name)))
    in_names = set()  # words of columns that are named in full
    for name, column in zip(names, columns, strict=True):
        words = set(pruning.words(name))
        is_number = column.kind in (Kind.NUMBER, Kind.DURATION)
        if is_number and not _are_ids(name, column):
            # "Flight" of "Flight duration" is not what "how many flights" asks for.
            numbers |= words if len(words) == 1 else {each for each in words if owners[each] == 1}
            # "How many litres" asks for the amounts of a column in litres.
            numbers |= {word for word in said if len(word) > 1 and has_unit(column, word)}
        in_names |= words if words <= said else set()
    named = []
    for asked in operations(question):
        words = set(pruning.words(asked.words))
        if asked.operation == COUNT and words & numbers and not DISTINCT.search(question.lower()):
            named.append(AMOUNT)
        elif asked.operation not in (SUM, AVERAGE) or not words & in_names:
            named.append(asked.operation)
        elif asked.operation == SUM and not _ENTITY.match(question.lower()):
            named.append(AMOUNT)  # of several rows the cells of "Total" are added up
    if named[:1] == [AMOUNT] and SUM in named:
        return SUM
    return named[0] if named else None


def counted(question: str, names: Sequence[str]) -> list[int]:
    """Returns the columns named by the words after "how many", as in "how many departments".

    "How many different towns" names a column "City", too.

    Args:
        question: the question.
        names: names of the columns.
    """
    for each in operations(question):
        if each.operation == COUNT:
            words = [word for word in pruning.words(each.words) if word not in _OF_COUNTS]
            words = words[1:] if words[:1] == ["value"] and len(words) > 1 else words
            owned = [pruning.words(name) for name in names]
            columns = [i for i, own in enumerate(owned) if own and words[: len(own)] == own]
            if not columns and words and DISTINCT.search(question.lower()):
                alike = pruning.synonyms().get(words[0], frozenset())
                columns = [i for i, own in enumerate(owned) if len(own) == 1 and own[0] in alike]
            return columns
    return []


def words_of_count(question: str) -> set[str]:
    """Returns the words of what "how many" counts, as "how", "many" and "tree" of "how many trees
    in May"; none if nothing is counted."""
    counts = (each.words for each in operations(question) if each.operation == COUNT)
    return {*pruning.words(_OF_PLACE.split(next(counts, ""))[0])}


def for_rows(asked: str | None, num_rows: int) -> str | None:
    """Returns "NONE", "SUM", "AVERAGE" or "COUNT" for an `operation` over some rows, or None."""
    if asked == AMOUNT:
        return SUM if num_rows > 1 else NONE
    return asked


def _are_ids(name: str, column: Column) -> bool:
    """Returns whether numbers name the rows, as those of "Order": whole, distinct, in the singular.

    "How many orders" counts them, "how many units" means the values of "Units".
    """
    values = [value for value in column.values if value is not None]
    is_whole = all(isinstance(each, float) and each.is_integer() for each in values)
    return is_whole and len(set(values)) == len(values) > 1 and not name.lower().endswith("s")
