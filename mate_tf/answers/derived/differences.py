"""Differences of two cells, of sums over two sets of rows, and of the ends of a column."""

import math
import re
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from mate_tf.answers.derived.reading import OF_AVERAGES, OF_SUMS, Derived, Reading
from mate_tf.answers.execution import AVERAGE, COUNT, SUM
from mate_tf.answers.programs import Condition, Program
from mate_tf.tables import column_nouns, pruning

_DIFFERENCE = re.compile(
    r"\bdifference\b|\bgap\b|\bdiffer\b|\bminus\b|\bby how (?:much|many)\b|"
    r"\bhow (?:much|many) (?:\w+ )?(?:more|fewer|less|[a-z]{2,}er)\b"
)
_WITHOUT_SIGN = re.compile(r"\b(?:differ|difference|gap)\b")
_LESS = re.compile(
    r"\b(?:fewer|less|lower|smaller|shorter|younger|cheaper|lighter|earlier|colder)\b"
)
_AMOUNT_OF = re.compile(r"\bhow (?:many|much) (?:more|fewer|less)(?P<what>[^?]*)")
_COMPARED = re.compile(r"\b(?P<word>[a-z]{2,})er\b(?=.*\bthan\b)|\bmore (?P<long>[a-z]+)(?= than)")
_HIGH = "(?:the )?(?:highest|largest|biggest|longest|maximum|max|most expensive)"
_LOW = "(?:the )?(?:lowest|smallest|shortest|minimum|min|cheapest)"
_ENDS = re.compile(rf"\bbetween (?:{_HIGH} and {_LOW}|{_LOW} and {_HIGH})\b")
_TWO = re.compile(r"\bbetween (?P<first>.+?) and (?P<second>.+)")
_VERB = re.compile(
    r" (?:did|does|do|is|are|was|were|has|have|had|came|come|comes|get|got|than|from|in|on|at|"
    r"under)\b"
)
_THAN = re.compile(r"\bthan\b")
_SAID = frozenset(
    pruning.words(
        "difference differ gap between minus by how many much more fewer less than exceed exceeds "
        "above below over under the that one in of does do did is are was were total average mean "
        "altogether together all overall combined in highest lowest largest smallest maximum "
        "minimum max min get got bring brought take took sell sold year years euro euros dollar "
        "dollars pound pounds point points"
    )
)


class _Compared(NamedTuple):
    """A column or number by which two sets of rows are compared.

    Attributes:
        column: the column; None for the number of rows.
        may_be_added: its cells may be added up.
        said: words that say it.
    """

    column: int | None
    may_be_added: bool
    said: frozenset[str] = frozenset()


def find(reading: Reading) -> Derived | None:
    """Returns the difference that a question asks for."""
    if not _DIFFERENCE.search(reading.text):
        return None
    if _ENDS.search(reading.text):
        return _subtract_ends(reading)
    pair = _pair(reading)
    return _subtract_columns(reading) if pair is None else _subtract_rows(reading, *pair)


def _subtract_ends(reading: Reading) -> Derived | None:
    """Returns the difference of the largest and the smallest value of a column."""
    sheet, program = reading.sheet, reading.program
    column = reading.amount(_ENDS.sub(" ", reading.text), program.columns)
    if column is None:
        return None
    ranks = sheet.ranks(column)
    rows = np.flatnonzero(program.rows(sheet.rows) & (ranks > 0))
    if len(rows) < 2:
        return None
    high, low = int(rows[np.argmax(ranks[rows])]), int(rows[np.argmin(ranks[rows])])
    return _subtract_cells(reading, (high, column), (low, column), program)


def _subtract_columns(reading: Reading) -> Derived | None:
    """Returns the difference of two columns of one row, as "list price and net price" of it."""
    program, match = reading.program, _TWO.search(reading.text)
    rows = np.flatnonzero(program.rows(reading.sheet.rows))
    if match is None or len(rows) != 1 or not program.conditions:
        return None
    first, second = (reading.amount(each, program.columns) for each in match.groups())
    if first is None or second is None or first == second:
        return None
    return _subtract_cells(reading, (int(rows[0]), first), (int(rows[0]), second), program)


def _subtract_cells(
    reading: Reading, first: tuple[int, int], second: tuple[int, int], program: Program
) -> Derived | None:
    """Returns the difference of two cells, each a row and a column, without its sign."""
    sheet, cells, values = reading.sheet, (first, second), []
    one, other = (sheet.columns[column] for _, column in cells)
    if one.kind != other.kind or (one.unit != other.unit and one.unit and other.unit):
        return None
    for row, column in cells:
        value = reading.compute(SUM, np.array([row]), column)
        if value is None:
            return None
        values.append(value)
    value = abs(values[0] - values[1])
    if not math.isfinite(value):
        return None
    return Derived(
        kind="difference",
        text=reading.written(value, first[1]),
        value=value,
        rows=tuple(row for row, _ in cells),
        column=first[1],
        note=" and ".join(f"{sheet.names[col]} {sheet.texts[col][row]}" for row, col in cells),
        program=program,
        columns=frozenset([second[1]]),
        said=_SAID,
    )


def _pair(reading: Reading) -> tuple[Condition, Condition] | None:
    """Returns the two texts of one column that are compared, in the order of the question."""
    pairs = []
    for conditions in reading.meaning.conditions.values():
        texts = [each for each in conditions if " is " in each.text and " or " not in each.text]
        texts = [each for each in texts if not each.text.startswith("not ")]
        if len(texts) == 2:
            first, second = sorted(texts, key=reading.begin)
            pairs.append((first, second))
    return pairs[0] if len(pairs) == 1 else None


def _subtract_rows(reading: Reading, first: Condition, second: Condition) -> Derived | None:
    """Returns the difference of what the rows of two texts have."""
    sheet, text = reading.sheet, reading.text
    shared = tuple(each for each in reading.program.conditions if each.column != first.column)
    one, two = (Program((*shared, each)).rows(sheet.rows) for each in (first, second))
    compared = _compared(reading, {first.column, *(each.column for each in shared)})
    if compared is None or not (one.any() and two.any()):
        return None
    column, is_one = compared.column, one.sum() == two.sum() == 1
    if column is None:
        operation = COUNT
    elif OF_AVERAGES.search(text):
        operation = AVERAGE
    elif is_one or compared.may_be_added or OF_SUMS.search(text):
        operation = SUM
    else:
        return None
    values = reading.compute_each(operation, (one, two), column or 0)
    if column is not None and is_one:
        texts = [sheet.texts[column][int(rows.argmax())].strip() for rows in (one, two)]
        if texts[0].startswith("+") != texts[1].startswith("+"):
            return None  # "+38.9" is a distance from the other one
    if values is None:
        return None
    value = values[0] - values[1]
    if not math.isfinite(value):
        return None
    if _WITHOUT_SIGN.search(text):
        value = abs(value)
    elif _LESS.search(text):
        value = -value
    of = {COUNT: "number of rows", AVERAGE: "average of ", SUM: "" if is_one else "sum of "}
    written = [reading.written(each, column) for each in values]
    note = of[operation] + ("" if column is None else sheet.names[column])
    note += f": {first.text} {written[0]}, {second.text} {written[1]}"
    if shared:
        note += f", of rows where {Program(shared)}"
    return Derived(
        kind="difference",
        text=reading.written(value, column),
        value=value,
        rows=tuple(np.flatnonzero(one | two).tolist()),
        column=first.column if column is None else column,
        note=note,
        program=Program((*shared, first | second)),
        said=_SAID | compared.said,
    )


def _compared(reading: Reading, used: Collection[int]) -> _Compared | None:
    """Returns what is compared; None if it is not certain."""
    text, names = reading.text, reading.sheet.names
    match = _AMOUNT_OF.search(text)
    column = reading.amount(_THAN.split(text)[0], used)
    if column is not None:
        return _Compared(column, match is not None or bool(OF_SUMS.search(text)))
    for compared in _COMPARED.finditer(text):
        long, word = compared["long"], compared["word"]
        said = {long} if long else {f"{word}est", f"{word}st"}  # "oldest" of "older"
        known = [each for each in reading.amounts() if said & column_nouns.words(names[each])]
        known = [each for each in known if each not in used]
        if len(known) == 1:
            return _Compared(known[0], False, frozenset(pruning.words(compared.group())))
    is_whole = all(" is " in each.text or each.value for each in reading.program.conditions)
    if match is not None and match.group().startswith("how many") and is_whole:
        rest = reading.rest_of_rows(_VERB.split(match["what"])[0])
        return None if rest is None else _Compared(None, True, rest)
    return None
