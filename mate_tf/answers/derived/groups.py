"""Groups of rows with the same text: which has the largest sum, and what each of them has."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mate_tf.answers.derived.reading import (
    OF_AVERAGES,
    OF_SUMS,
    OPERATIONS,
    Derived,
    Reading,
)
from mate_tf.answers.execution import AVERAGE, COUNT, SUM
from mate_tf.tables import column_nouns, pruning
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS
from mate_tf.tables.text import stem

_LARGEST = r"most|highest|largest|biggest|greatest|top|max(?:imum)?|busiest"
_SMALLEST = r"fewest|least|lowest|smallest|min(?:imum)?"
_ORDER = re.compile(
    rf"(?<!\bat )\b(?:(?P<largest>{_LARGEST})|(?P<smallest>{_SMALLEST}))\b(?P<what>[^?.,]*)"
)
_TWO = r"(?P<words>[\w'-]+(?: [\w'-]+)?)"
_COMMON = re.compile(rf"\b(?:most|least) (?:common|frequent|popular) {_TWO}")
_NAMING = (
    _COMMON,
    re.compile(
        r"^(?:(?:at|in|on|from|for|by|with|under|to) )?(?:which|wich|what|whats) (?P<words>[^?]+)"
    ),
    re.compile(r"^(?:name )?(?:the )?(?P<words>[\w' -]+?) (?:with|that has|having) the\b"),
    re.compile(rf"^(?:the )?[a-z]+est {_TWO} by\b"),
)
"""Name the groups: "which city", "the city with the"."""

_OFTEN = re.compile(
    r"^ (?:often|frequent(?:ly)?|common(?:ly)?|popular)\b|^ (?:number|count|amount) of\b"
)
_NUMBER = re.compile(r"\b(?:how many|(?:number|count|amount) of) (?P<what>[^?.,]*)")
_EACH = re.compile(
    rf"\b(?:per|(?:(?:for|by|of|in|from|to) )?each|for every|(?:grouped )?by) {_TWO}$"
)
_ENDS = re.compile(
    r" (?:in|on|at|of|for|by|from|to|with|was|were|is|are|has|have|had|did|does|do|that|who|and|"
    r"overall|altogether|combined|so|turn(?:s|ed)?|per|all)\b"
)
_VERB = re.compile(
    r" (?:did|does|do|has|have|had|is|are|was|were|gets?|got|with|that|who|the|in|on|at|by|for|"
    r"from)\b"
)
_MOST_WORDS = 3
"""Words of the longest name of groups."""

_SAID = frozenset(
    pruning.words(
        # of numbers of rows
        "often frequent frequently common commonly popular times so far number count wich "
        # of sums and averages
        "total sum overall altogether combined all together average avg mean of money in "
        # verbs that say only that something is had
        "bring brings brought carried carry carries showed show shown produced produce produces "
        "collected collect recorded record got get gets made make makes took take takes taken gave "
        "give gives given handled handle handles held hold holds hosted raised raise generated "
        "generate sold sell sells turn turns up received receive receives spend spent spends"
    )
)
_SEVERAL = re.compile(r"\b(?:which|what|the|top|bottom) (?:\d+|two|three|four|five|ten)\b")
_MOST_GROUPS, _NAMED_GROUPS = 100, 3
"""Groups of which each is listed, and best ones that a note names."""


class _Measure(NamedTuple):
    """A measure of groups, by which they are compared.

    Attributes:
        operation: "COUNT", "SUM" or "AVERAGE".
        column: the column that is added up; None of "COUNT".
        said: words that say what is counted.
    """

    operation: str
    column: int | None
    said: frozenset[str] = frozenset()


class _Group(NamedTuple):
    """A group: its measure, also in words, its text, and its rows <int64>[n]."""

    value: float
    written: str
    name: str
    rows: np.ndarray

    def __str__(self):
        return f"{self.name} {self.written}"


def find(reading: Reading) -> Derived | None:
    """Returns the group with the largest or smallest measure, or each group with its measure."""
    text = reading.text.rstrip(" ?.!")
    if _SEVERAL.search(text):
        return None
    order = _ORDER.search(text)
    if order is None:
        return _list_each(reading, text)
    column = _column(reading, text)
    measure = None if column is None else _measure(reading, text, order, column)
    if column is None or measure is None:
        return None
    groups = _groups(reading, column, measure)
    if not groups:
        return None
    is_largest = order["largest"] is not None
    ranked = sorted(groups, key=lambda each: each.value, reverse=is_largest)
    best = [each for each in ranked if each.value == ranked[0].value]
    if len(best) == len(ranked) > 1:
        return None  # none is the largest
    other = _find_of_best_rows(reading, text, column, measure, is_largest)
    if other is not None and other != {each.name for each in best}:
        return None
    first = ", ".join(map(str, ranked[:_NAMED_GROUPS]))
    more = len(ranked) - _NAMED_GROUPS
    word = "largest" if is_largest else "smallest"
    note = f"{word} {_in_words(reading, measure, column)}: {first}"
    note += f" and {more} more" if more > 0 else ""
    answer = ", ".join(each.name for each in best)
    return _derived(reading, column, measure, answer, best, note)


def _list_each(reading: Reading, text: str) -> Derived | None:
    """Returns the measure of each group, as in "total hours per project"."""
    each = _EACH.search(text)
    columns = [] if each is None else _named(reading, each["words"])
    if each is None or len(columns) != 1:
        return None
    measure = _find_amounts(reading, text[: each.start()], text, columns[0])
    if measure is None and (number := _NUMBER.search(text[: each.start()])):
        measure = _find_rows(reading, number["what"])
    groups = [] if measure is None else _groups(reading, columns[0], measure)
    if measure is None or not 0 < len(groups) <= _MOST_GROUPS:
        return None
    note = _in_words(reading, measure, columns[0])
    return _derived(reading, columns[0], measure, ", ".join(map(str, groups)), groups, note)


def _derived(reading: Reading, column: int, measure: _Measure, answer, groups, note) -> Derived:
    program = reading.program
    if program.conditions:
        note += f", of rows where {program}"
    return Derived(
        kind="group",
        text=answer,
        value=None,
        rows=tuple(int(each.rows[0]) for each in groups),
        column=column,
        note=note,
        program=program,
        columns=frozenset() if measure.column is None else frozenset([measure.column]),
        said=measure.said.union(_SAID, pruning.words(" ".join(_ORDER_WORD.findall(reading.text)))),
    )


_ORDER_WORD = re.compile(rf"\b(?:{_LARGEST}|{_SMALLEST})\b")


def _in_words(reading: Reading, measure: _Measure, column: int) -> str:
    names, of = reading.sheet.names, OPERATIONS[measure.operation]
    of = of if measure.column is None else f"{of} {names[measure.column]}"
    return f"{of} by {names[column]}"


def _column(reading: Reading, text: str) -> int | None:
    """Returns the column whose texts are the groups that are asked for; None if none is certain."""
    for pattern in _NAMING:
        if match := pattern.search(text):
            certain = _named(reading, _VERB.split(match["words"])[0])
            if len(certain) == 1:
                return certain[0]
            if pattern is not _COMMON:
                return None
    if text.startswith("who "):
        sheet = reading.sheet
        people = [
            column
            for column in _repeated(reading)
            if column_nouns.answers(sheet.names[column], {"who"}) and not sheet.has_codes(column)
        ]
        return people[0] if len(people) == 1 else None
    return None


def _repeated(reading: Reading) -> Iterator[int]:
    """Yields the columns in which several rows have the same text."""
    sheet = reading.sheet
    for column, name in enumerate(sheet.names):
        # "Which guest" does not mean the numbers in a column "Guests".
        is_amount = sheet.columns[column].kind is Kind.NUMBER and name.endswith("s")
        if not is_amount and 1 < len(sheet.distinct[column]) < sheet.num_rows:
            yield column


def _named(reading: Reading, phrase: str) -> list[int]:
    """Returns the columns of groups that a phrase names, by most of its words."""
    words = [word for word in pruning.words(phrase)[:_MOST_WORDS] if word not in STOP_WORDS]
    stems, first = {*map(stem, words)}, stem(words[0]) if words else ""
    names = [{*pruning.words(name)} for name in reading.sheet.names]
    own = [{*map(stem, each)} for each in names]
    # "Order" is rather the column "Order No" than "Ordered on".
    pairs = zip(names, own, strict=True)
    shared = [len({*words} & exact) + len(stems & alike) for exact, alike in pairs]
    best = [n for n, count in enumerate(shared) if count == max(shared) > 0]
    named = [n for n in best or reading.named(words[:1]) if n in {*_repeated(reading)}]
    return [n for n in named if first in own[n]] or named


def _measure(reading: Reading, text: str, order: re.Match, group: int) -> _Measure | None:
    """Returns what "the highest total cost" or "the most often" compares; None if unclear."""
    what = order["what"]
    if _OFTEN.search(what) or _COMMON.search(text):
        number = _NUMBER.search(what)
        if number is None:
            return _Measure(COUNT, None)
        what = number["what"]
        return _find_amounts(reading, what, text, group) or _find_rows(reading, what)
    is_most = order.group().startswith(("most", "fewest", "least"))
    is_computed = OF_SUMS.search(what) or OF_AVERAGES.search(text)
    if is_most and not is_computed and reading.counts_rows(_noun(what)):
        return _find_rows(reading, what)
    amounts = _find_amounts(reading, what, text, group, text[: order.start()])
    if amounts is not None or not is_most or is_computed or reading.amount(_noun(what), [group]):
        return amounts
    return _find_rows(reading, what)


def _noun(what: str) -> str:
    """Returns what "the most" is said of, as "tickets" of "tickets sold in May"."""
    return _ENDS.split(OF_AVERAGES.sub("", OF_SUMS.sub("", what)) + " ")[0].strip()


def _find_amounts(
    reading: Reading, what: str, text: str, group: int, before: str = ""
) -> _Measure | None:
    """Returns the sum or average of the column of numbers that a phrase names."""
    phrases = filter(None, (_noun(what), what, before))
    found = (reading.amount(phrase, used=[group]) for phrase in phrases)
    column = next((each for each in found if each is not None), None)
    operation = AVERAGE if OF_AVERAGES.search(text) else SUM
    if column is None or (operation == SUM and not reading.can_be_added(column)):
        return None
    return _Measure(operation, column)


def _find_rows(reading: Reading, what: str) -> _Measure | None:
    """Returns the number of rows if a noun, besides words of conditions, says what these are."""
    rest = reading.rest_of_rows(_noun(what))
    return None if rest is None else _Measure(COUNT, None, rest)


def _groups(reading: Reading, column: int, measure: _Measure) -> list[_Group]:
    """Returns the groups; none if one of them has no measure."""
    sheet, program = reading.sheet, reading.program
    if any(each.column == column for each in program.conditions):
        return []
    base, groups = program.rows(sheet.rows), []
    for rows in sheet.distinct[column].values():
        own = rows[base[rows]]
        if not len(own):
            continue
        value = reading.compute(measure.operation, own, measure.column or 0)
        if value is None:
            return []
        written = reading.written(value, measure.column)
        groups.append(_Group(value, written, sheet.texts[column][int(own[0])].strip(), own))
    return groups


def _find_of_best_rows(
    reading: Reading, text: str, column: int, measure: _Measure, is_largest: bool
) -> set[str] | None:
    """Returns the groups of the best rows, which "the most tickets" may mean too.

    None if the question says that a sum or average is meant.
    """
    if measure.column is None:
        return None
    name = reading.sheet.names[measure.column]
    said = {word for match in OF_SUMS.finditer(text) for word in pruning.words(match.group())}
    if measure.operation != SUM or said - {*pruning.words(name)}:
        return None
    sheet, ranks = reading.sheet, reading.sheet.ranks(measure.column)
    base = reading.program.rows(sheet.rows) & (ranks > 0)
    keys = ranks if is_largest else -ranks
    rows = np.flatnonzero(base & (keys == keys[base].max())) if base.any() else []
    return {sheet.texts[column][int(row)].strip() for row in rows}
