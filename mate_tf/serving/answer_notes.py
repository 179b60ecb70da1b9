"""Plain words about an answer, and about what the model cannot do.

Does not import TensorFlow.
"""

import re
import textwrap
from collections.abc import Collection, Iterable, Sequence

from mate_tf.answers import asked
from mate_tf.answers.execution import AVERAGE, COUNT, SUM
from mate_tf.tables.columns import Column, Kind
from mate_tf.tables.text import percent

NO_ANSWER = "no answer found"
"""Shown in place of an answer that is not `answerable`."""

UNSURE = 0.5
"""Confidence below which an answer is called unsure: of such answers more are wrong than right."""

_LONGEST_GUESS = 160
"""Characters that are shown of an answer that is not one."""

_VERBS = {
    COUNT: "count",
    SUM: "add up",
    AVERAGE: "average",
    asked.MEDIAN: "find a median",
    asked.DIFFERENCE: "subtract",
    asked.RATIO: "divide",
}

_ORDER = re.compile(
    r"\b(?:[a-z]{3,}est|most|least|first|last|top|best|worst|highest|more than|less than|fewer|"
    r"over|under|above|below|before|after|since|until|between|[a-z]{3,}er than)\b",
    re.IGNORECASE,
)


_REFERS = re.compile(
    # Up to the first comma or "and" nothing else can be meant; "it takes" means nothing.
    r"^(?:and\s+)?(?:(?!,|\band\b).)*?\b(?:do|does|did|is|are|was|were|has|have|had|can|will)\s+"
    r"(he|she|they|his|her|their|its|those|these|it(?!\s+(?:take|when|that|possible)))\b"
    r"|\bof\s+(them|these|those)\b(?!\s+\w+s\b)|\bthan\s+(him|her|them)\b",
    re.IGNORECASE,
)


def in_words(answer) -> str:
    """Returns the text of an `Answer` with its confidence, or that none was found.

    "60 (confidence 90 %)", "60 (unsure, confidence 20 %)", "no answer found; best guess: 60,
    confidence 5 %", or only "60" if the model has no calibration. A long guess is shortened.

    Args:
        answer: an `Answer`.
    """
    if not answer.answerable and not answer.text:
        return NO_ANSWER
    sure = how_sure(answer)
    if answer.answerable:
        return f"{answer.text} ({sure})" if sure else answer.text
    guess = textwrap.shorten(answer.text, _LONGEST_GUESS, placeholder=" …")
    return ", ".join(filter(None, [f"{NO_ANSWER}; best guess: {guess}", sure]))


def how_sure(answer) -> str:
    """Returns the confidence of an `Answer` in words, "" without a calibration.

    Args:
        answer: an `Answer`.
    """
    if answer.confidence is None:
        return ""
    confidence = f"confidence {percent(answer.confidence)}"
    return f"unsure, {confidence}" if is_unsure(answer) else confidence


def is_unsure(answer) -> bool:
    """Returns whether an `Answer` that is shown has a confidence below `UNSURE`.

    Args:
        answer: an `Answer`.
    """
    return answer.answerable and answer.confidence is not None and answer.confidence < UNSURE


def describe_limits(
    question: str, columns: Sequence[str], aggregates: bool, class_names: Sequence[str] | None
) -> list[str]:
    """Says which operation a question asks for that the model has no head for.

    Operations are known by words such as "how many". A word that is in the name of a column asks
    for its cells instead: "how many goals" in a table with the column "Goals".

    Args:
        question: the question.
        columns: names of the columns.
        aggregates: the model computes sums, averages and counts.
        class_names: names of the classes of a model that classifies; None for one that does not.
    """
    if class_names is not None:
        if not question.rstrip().endswith("?"):
            return []
        choices = " or ".join(class_names) or "its classes"
        return [f"this model cannot answer questions: it says of a statement {choices}"]
    able = {COUNT, SUM, AVERAGE} if aggregates else set()
    lacking = [_VERBS[each] for each in _asked(question, columns) if each not in able]
    if not lacking:
        return []
    does = "it picks cells, and can count, add up and average them" if able else "it picks cells"
    return [f"this model cannot {' or '.join(lacking)}: {does}"]


def describe_reference(question: str) -> str:
    """Says that a question refers to the answer before; "" if it does not.

    It does if a word such as "they" is where a question names what it is about: "how old are
    they?", "which of them won?". In "who won, and how old is he?" it refers to the question.

    Args:
        question: the question.
    """
    match = _REFERS.search(question)
    if match is None:
        return ""
    word = next(filter(None, match.groups())).lower()
    return (
        f'"{word}" refers to an answer before, which this model does not read; mini-conversation '
        "does"
    )


def describe_order(
    question: str, names: Sequence[str], columns: Sequence[Column], totals: Collection[int] = ()
) -> list[str]:
    """Says what an order of a column's cells is without, if the question asks for an order.

    That are rows that are totals, cells without a value, cells of other units, and what their
    spelling does not tell. Of the columns with values those count that the question names, or else
    all.

    Args:
        question: the question.
        names: names of the columns.
        columns: the columns.
        totals: rows that are totals of the others.
    """
    if not _ORDER.search(question):
        return []
    said = {_stem(word) for word in _words(question)}
    ordered = [each for each in zip(names, columns, strict=True) if each[1].kind is not Kind.TEXT]
    named = [each for each in ordered if said & {_stem(word) for word in _words(each[0])}]
    return describe_gaps(named or ordered, totals, "have no {} and no place in an order")


def describe_gaps(
    columns: Iterable[tuple[str, Column]], totals: Collection[int], without: str
) -> list[str]:
    """Says what columns of numbers, dates or times are without, as `describe_order` does.

    Args:
        columns: name and cells of each.
        totals: rows that are totals of the others.
        without: says of cells without a value what becomes of them; "{}" stands for the kind.
    """
    remarks = [f"row {row + 1} is taken as a total of the others" for row in sorted(totals)]
    for name, column in columns:
        remarks += [f"{name}: {note}" for note in column.notes]
        units = sorted(set(column.other_units.values()))
        if units:
            remarks.append(
                f"{name}: cells in {', '.join(units)} are not compared with {column.unit}"
            )
        number = column.values.count(None) - len(column.other_units)
        if number:
            count = f"{number} of {len(column.values)} cells"
            remarks.append(f"{name}: {count} {without.format(column.kind)}")
    return remarks


def _asked(question: str, columns: Sequence[str]) -> list[str]:
    """Returns the operations that a question asks for, in the order of `_VERBS`."""
    named = {_stem(word) for name in columns for word in _words(name)}
    operations = {
        each.operation
        for each in asked.operations(question)
        if not {_stem(word) for word in _words(each.words)} & named
    }
    # "How many more" asks for a difference, not for a number of rows.
    if asked.DIFFERENCE in operations:
        operations.discard(COUNT)
    return [each for each in _VERBS if each in operations]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _stem(word: str) -> str:
    """Returns a word without the ending of a plural."""
    return word.removesuffix("s")
