"""A question and a table as the kinds of derived answers read them."""

import dataclasses
import re
from collections.abc import Collection, Iterable

import numpy as np

from mate_tf.answers import asked, cells, computed, expected, left_out
from mate_tf.answers.conditions import is_id
from mate_tf.answers.execution import AVERAGE, COUNT, SUM
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Condition, Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import column_nouns, pruning
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS
from mate_tf.tables.text import ALIKE, WORD, stem

_AMOUNTS = (Kind.NUMBER, Kind.DURATION)
OF_SUMS = re.compile(
    r"\b(?:overall|altogether|all together|combined|in total|in all|totals?|sum(?:med)?)\b"
)
OF_AVERAGES = re.compile(r"\b(?:on )?(?:average|avg|mean)\b")
_MONEY = re.compile(r"\b(?:money|spen[dt]|spending|paid|pays?|raised?)\b")
_NOT_ADDED = frozenset(
    pruning.words(
        "rate percent percentage ratio average avg mean median score rating age rank position "
        "pos year per temp temperature"
    )
)
"""Words of the names of columns whose sums say nothing."""

_PEOPLE = frozenset(pruning.words("people person"))
OPERATIONS = {COUNT: "number of rows", SUM: "sum of", AVERAGE: "average of"}


@dataclasses.dataclass(frozen=True)
class Derived:
    """An answer that is derived from several sets of rows.

    Attributes:
        kind: "group", "difference", "share", "place", "number of different values" or "yes or no".
        text: the answer.
        value: it as a number, or None.
        rows, column: its cells, or those that it is computed of.
        note: how it is computed, in words.
        program: the conditions that all of its rows meet.
        columns: other columns that it is about.
        said: words of the question that are a part of it, besides those of program and columns.
    """

    kind: str
    text: str
    value: float | None
    rows: tuple[int, ...]
    column: int
    note: str
    program: Program
    columns: frozenset[int] = frozenset()
    said: frozenset[str] = frozenset()


_PLACE = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
"""Is a place in an order and not a value, as in "the 2nd highest"."""


def certain(sheet: Sheet, meaning: Meaning, programs: Iterable[Program]) -> Program | None:
    """Returns the program that uses most words; None if others use as many, and differ."""
    plain = [p for p in programs if not any(_PLACE.fullmatch(c.value) for c in p.conditions)]
    ordered = sorted(plain, key=lambda p: (-len(p.said), len(p.conditions)))
    if not ordered or meaning.is_denied(ordered[0]):
        return None
    best, *others = ordered
    rows = best.rows(sheet.rows)
    rivals = (each for each in others if len(each.said) == len(best.said))
    if any((each.rows(sheet.rows) != rows).any() for each in rivals):
        return None
    return None if left_out.in_conditions(sheet, meaning, best) else best


class Reading:
    """A question and a table, as the kinds of derived answers read them.

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: the conditions on rows that the question says.

    Attributes:
        text: the question in lower case.
    """

    def __init__(self, sheet: Sheet, meaning: Meaning, program: Program):
        self.sheet, self.meaning, self.program = sheet, meaning, program
        self.text = " ".join(meaning.question.lower().split())

    def left_over(self, found: Derived) -> list[str]:
        """Returns the words of the question that have no part in an answer."""
        return cells.left_over(
            *(self.sheet, self.meaning, found.program, found.rows, found.column, SUM),
            said=found.said,
            columns=found.columns,
        )

    def named(self, words: Collection[str]) -> list[int]:
        """Returns the columns that words name: by their names, or by words that mean the same."""
        words = frozenset(words) - STOP_WORDS
        named = expected.named(self.sheet, words)
        if named:
            return sorted(named)
        alike = (
            column
            for column, name in enumerate(self.sheet.names)
            if any(
                {*pruning.words(name)} & pruning.synonyms().get(word, frozenset()) for word in words
            )
            or column_nouns.answers(name, words)
        )
        return list(alike)

    def amounts(self) -> list[int]:
        """Returns the columns of numbers and durations that are not ids."""
        return [
            column
            for column, read in enumerate(self.sheet.columns)
            if read.kind in _AMOUNTS and not is_id(self.sheet.names[column])
        ]

    def amount(self, phrase: str, used: Collection[int] = ()) -> int | None:
        """Returns the one column of numbers that a phrase names, or None."""
        known, named = [column for column in self.amounts() if column not in used], []
        # "Total units" are not the column "Total cost".
        for each in (OF_AVERAGES.sub(" ", OF_SUMS.sub(" ", phrase)), phrase):
            named = named or [n for n in self.named(pruning.words(each)) if n in known]
        if not named and self.is_about_money(phrase):
            named = [n for n in known if expected.is_money(self.sheet, n) and self.can_be_added(n)]
        return named[0] if len(named) == 1 else None

    def is_about_money(self, phrase: str) -> bool:
        """Returns whether a phrase says money in other words than those of a column."""
        return bool(_MONEY.search(phrase))

    def compute(self, operation: str, rows: np.ndarray, column: int) -> float | None:
        """Returns an operation over the cells of rows <int64>[n]; None if it has no result."""
        if operation == COUNT:
            return float(len(rows))
        texts, others = self.sheet.texts[column], self.sheet.columns[column].other_units
        if not others.keys().isdisjoint(rows.tolist()):
            return None  # dollars among euros
        if operation == SUM and len(rows) > 1 and not self.can_be_added(column):
            return None
        taken = [(row, column, texts[row]) for row in map(int, rows)]
        read, names = self.sheet.columns, self.sheet.names
        return computed.compute(operation, taken, read, names).value if taken else None

    def written(self, value: float, column: int | None) -> str:
        """Returns a value of a column, or a number of rows (None), as text."""
        if column is not None and self.sheet.columns[column].kind is Kind.DURATION:
            return computed.written_duration(value)
        return shown(value)

    def compute_each(
        self, operation: str, sets: Iterable[np.ndarray], column: int
    ) -> list[float] | None:
        """Returns `compute` of sets of rows, each <bool>[rows]; None if one has no result."""
        values = [self.compute(operation, np.flatnonzero(rows), column) for rows in sets]
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) else None

    def can_be_added(self, column: int) -> bool:
        """Returns whether the sum of a column says something; that of unit prices does not."""
        name = self.sheet.names[column]
        words = {*pruning.words(name)}
        is_of_one = "unit" in words and len(words) > 1  # "unit price", but not "units"
        return not ("%" in name or is_of_one or _NOT_ADDED & words)

    def begin(self, condition: Condition) -> int:
        """Returns the place in the text of the first word that only this condition says."""
        own = condition.said - self.meaning.named(condition.column) or condition.said
        places = (m.start() for m in WORD.finditer(self.text) if {*pruning.words(m.group())} & own)
        return next(places, len(self.text))

    def counts_rows(self, noun: str) -> bool:
        """Returns whether a noun is what the rows are and no column of numbers, as "tickets" is if
        there is a "Ticket no" and no "Tickets sold"."""
        words, own = {*noun.split()}, (self.sheet.names[column] for column in self.amounts())
        if any(words & {*name.lower().replace("_", " ").split()} for name in own):
            return False
        rest = self.rest_of_rows(noun)
        return rest is not None and bool(rest)

    def rest_of_rows(self, noun: str) -> frozenset[str] | None:
        """Returns the words of a noun besides conditions if it says what the rows are, or None.

        "Lamps" alone does not if the table has numbers of pieces.
        """
        words = frozenset(pruning.words(noun)) - STOP_WORDS
        rest = words - self.program.said
        is_clear = rest or not left_out.column_of_pieces(self.sheet)
        return rest if words and is_clear and self._is_of_rows(rest) else None

    def _is_of_rows(self, words: Collection[str]) -> bool:
        """Returns whether words say what the rows are: they name ids, or are in the title."""
        ids = {
            stem(word)[:ALIKE]
            for column, name in enumerate(self.sheet.names)
            if self.sheet.is_key(column) or is_id(name)
            for word in pruning.words(name)
        }
        known = self.sheet.title_words | asked.OF_ROWS | _PEOPLE
        return all(word in known or stem(word)[:ALIKE] in ids for word in words)


def shown(value: float, decimals: int = 4) -> str:
    """Returns a number with at most so many decimals."""
    return f"{value:,.{decimals}f}".rstrip("0").rstrip(".")


def rows_where(number: float, program: Program) -> str:
    """Returns "3 rows where City is Bern"."""
    return f"{shown(number)} {'row' if number == 1 else 'rows'} where {program}"
