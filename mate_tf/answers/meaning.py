"""Finds the programs that a question about a table may mean, by its words.

Their parts are `conditions`, and words such as "highest". Does not import TensorFlow.
"""

import functools
import itertools
import re
from collections.abc import Sequence

import numpy as np

from mate_tf.answers import comparisons
from mate_tf.answers.conditions import Conditions
from mate_tf.answers.programs import Condition, Order, Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import column_nouns, columns, pruning
from mate_tf.tables.columns import Kind, Moment
from mate_tf.tables.pruning import STOP_WORDS, usual_words
from mate_tf.tables.text import spoken, stem

_MOST_CONDITIONS = 3
"""Conditions of a program, each on its own column."""

_MOST_PROGRAMS, _MOST_STEPS = 600, 50
"""Programs without an order, and of them those that are moved to the next row."""

_LISTED = re.compile(r"\b(?:listed?|rows?|table|entr(?:y|ies)|line|file|chart)\b")
"""Said of places of rows: "the last one in the table"."""

_HOW_MANY = re.compile(r"\b(?:how many|number of)\b")


class Meaning:
    """Programs that a question about a table may mean.

    Args:
        sheet: the table.
        question: the question.

    Attributes:
        question: the question.
        conditions: the conditions that it may mean, by column.
    """

    def __init__(self, sheet: Sheet, question: str):
        self._sheet, self.question = sheet, question
        self._conditions = Conditions(sheet, question)
        self.conditions = self._conditions.by_column

    def named(self, column: int, use: str | None = None) -> frozenset[str]:
        """Returns the words that name a column; `use` is one of `column_nouns`."""
        return self._conditions.named(column, use)

    @functools.cached_property
    def columns(self) -> set[int]:
        """The columns that it needs: those of its conditions and orders, and those it names."""
        columns_used = {*self.conditions, *(each.column for each in self.orders)}
        named = {index for index in range(len(self._sheet.names)) if self.named(index)}
        return {column for column in columns_used | named if column is not None}

    @functools.cached_property
    def orders(self) -> list[Order]:
        """The orders that it may mean; none if it has no word for one."""
        sheet, orders = self._sheet, []
        for word in comparisons.superlatives(self.text_without_names()):
            if word.word in sheet.words and not comparisons.is_usual(word.word):
                continue  # "Pinecrest" in a name
            if any(pruning.words(name) == [word.word] for name in sheet.names):
                continue  # "which peak"
            use = "highest" if word.is_largest else "lowest"
            own = [word.word in column_nouns.words(name, use) for name in sheet.names]
            others = [word.word in column_nouns.words(name) for name in sheet.names]
            opposite = "lowest" if word.is_largest else "highest"
            left_out = self._not_ordered(word.word, own)
            dated = self._of_dates if word.is_of_dates else frozenset()
            is_of_time = not self._has_places or self.question.lower().startswith("when")
            if is_of_time and not dated and word.word in ("first", "last"):
                dated = self._moments
            for column, read in enumerate(sheet.columns):
                is_largest = word.is_largest
                if word.word == "slowest" and read.kind in (Kind.DURATION, Kind.TIME):
                    is_largest = True
                if read.kind is Kind.TEXT or column in left_out or (dated and column not in dated):
                    continue
                if not own[column] and word.word in column_nouns.words(
                    sheet.names[column], opposite
                ):
                    continue  # the fastest car has the highest speed
                if read.kind is Kind.DATE and comparisons.is_only_of_values(word.word):
                    continue
                if read.kind is Kind.DATE and word.word in ("oldest", "youngest"):
                    is_largest = word.word == "youngest"  # who was born last
                if comparisons.is_only_of_dates(word.word) and column not in self._moments:
                    continue
                said, ranks = self.named(column, use), sheet.ranks(column)
                if own[column] or not any(own + others):
                    said |= {word.word}  # "cheapest" is said of the price only, if there is one
                fit = 0.5 * (word.is_of_dates == (read.kind is Kind.DATE)) + 0.5 * word.is_certain
                text = f"{'largest' if is_largest else 'smallest'} {sheet.names[column]}"
                orders.append(Order(column, is_largest, ranks, said, text, fit))
            if word.word in ("last", "first", "top", "bottom") and self._has_places:
                places, is_last = np.arange(1, sheet.num_rows + 1), word.word in ("last", "bottom")
                text = f"{'last' if is_last else 'first'} row"
                orders.append(Order(None, is_last, places, frozenset([word.word]), text, 0.5))
        return orders

    @functools.cached_property
    def orders_dates(self) -> bool:
        """Tells whether it has a word such as "latest", and the table dates that it orders."""
        dated = [
            (each.column, each.fit)
            for each in self.orders
            if each.column is not None and self._sheet.columns[each.column].kind is Kind.DATE
        ]
        return any(fit == 1 or self.named(column) for column, fit in dated if fit)

    @functools.cached_property
    def _moments(self) -> frozenset[int]:
        """The columns of dates and times; all columns if there are none."""
        numbers = range(len(self._sheet.names))
        kinds = (Kind.DATE, Kind.TIME)
        dates = [
            column
            for column in numbers
            if self._sheet.has_dates(column) or self._sheet.columns[column].kind in kinds
        ]
        return frozenset(dates or numbers)

    @functools.cached_property
    def _has_places(self) -> bool:
        """Tells whether "first" and "last" may be places: not if dates have another order."""
        if self._of_dates:
            return False
        unsorted = any(
            read.kind is Kind.DATE and not _is_sorted(self._sheet.ranks(column))
            for column, read in enumerate(self._sheet.columns)
        )
        return not unsorted or bool(_LISTED.search(self.question.lower()))

    @functools.cached_property
    def _of_dates(self) -> frozenset[int]:
        """The columns of dates that are named, as "Start date" is by "which started first"."""
        said = {stem(word) for word in self._conditions.words if word not in STOP_WORDS}
        return frozenset(
            column
            for column, name in enumerate(self._sheet.names)
            if self._sheet.has_dates(column)
            and said & {stem(word) for word in {*pruning.words(name)} - STOP_WORDS}
        )

    def _not_ordered(self, word: str, measured: Sequence[bool]) -> set[int]:
        """Returns the columns that a superlative is not about: ids, and if one is named next, as in
        "the largest quantity", the others.

        `measured` tells which columns have what the word measures: if one has a length, "the
        shortest episode" does not order the numbers of episodes in the first column.
        """
        sheet, words = self._sheet, self._conditions.words
        left_out = {
            each for each in range(len(sheet.names)) if self._conditions.only_tells_rows_apart(each)
        }
        if any(measured) and not measured[0]:
            left_out.add(0)
        following = {words[at + 1] for at, each in enumerate(words[:-1]) if each == word}
        named = {
            index
            for index, name in enumerate(sheet.names)
            if sheet.columns[index].kind is not Kind.TEXT
            and not (sheet.columns[index].kind is Kind.DATE and comparisons.is_only_of_values(word))
            and not (index not in self._moments and comparisons.is_only_of_dates(word))
            and index not in left_out
            and following & {*pruning.words(name)} - STOP_WORDS
        }
        return left_out | ({*range(len(sheet.names))} - named if named else set())

    def text_without_names(self) -> str:
        """Returns the question in lower case without names of several words, as "last sold"."""
        text = self.question.lower()
        for name in self._sheet.names:
            name = spoken(name).replace("_", " ").lower()
            if len(name.split()) > 1:
                text = text.replace(name, " ")
        return text

    @functools.cached_property
    def programs(self) -> list[Program]:
        """The programs that it may mean, those first that use more of its words."""
        made: list[tuple[Condition, ...]] = [()]
        for count in range(1, _MOST_CONDITIONS + 1):
            for chosen in itertools.combinations(self.conditions.values(), count):
                made += filter(
                    _differ, itertools.islice(itertools.product(*chosen), _MOST_PROGRAMS)
                )
            if len(made) > _MOST_PROGRAMS:
                break
        plain = [Program(parts) for parts in made[1:]]
        plain = sorted(plain, key=lambda each: -len(each.said))[:_MOST_PROGRAMS]
        most = max(1, _MOST_PROGRAMS // (len(self.orders) + 1))
        ordered = [
            Program(each.conditions, order)
            for each in [Program(), *plain[:most]]
            for order in self.orders
        ]
        # "When is it due next" is about "Next due", not about the next row.
        names = ({*pruning.words(name)} for name in self._sheet.names)
        named = frozenset().union(*(n for n in names if len(n & {*self._conditions.words}) > 1))
        # Nor is the row below meant by "below $2,000".
        values = (
            each.said
            for conditions in self.conditions.values()
            for each in conditions
            if each.value
        )
        named = named.union(*values)
        moved = [
            Program(each.conditions, step=step, step_word=word)
            for each in plain[:_MOST_STEPS]
            for step, word in comparisons.steps(self.text_without_names())
            if word not in each.said | named
        ]
        programs = [Program(), *plain, *ordered, *moved]
        kept = [each for each in programs if self._denied <= each.said] or programs
        kept = [each for each in kept if self._cells_said <= each.said] or kept
        kept = [each for each in kept if self._dates_said <= each.said] or kept
        return [each for each in kept if self.flags <= {*each.columns}] or kept

    @functools.cached_property
    def _cells_said(self) -> frozenset[str]:
        """Words of the cells that it says in full: a program without them answers another question.

        Words that questions often have anyway do not count, nor do those that name columns.
        """
        names = {word for name in self._sheet.names for word in pruning.words(name)}
        usual = STOP_WORDS | usual_words() | names
        keys = [
            key
            for column in self.conditions
            for key in self._conditions.whole_texts(column)
            if not usual & {*key} or self._conditions.is_in_capitals(column, key)
        ]
        return frozenset().union(*map(self._conditions.said_of, keys))

    @functools.cached_property
    def _dates_said(self) -> frozenset[str]:
        """Words of the dates that it says and some condition has."""
        dates = (each for each in columns.said(self.question) if isinstance(each.value, Moment))
        words = frozenset().union(*(pruning.words(each.text) for each in dates))
        conditions = (each.said for several in self.conditions.values() for each in several)
        return words.intersection(frozenset().union(*conditions))

    def names_order(self, program: Program) -> bool:
        """Returns whether it names the column that a program orders by."""
        order = program.order
        return order is not None and order.column is not None and bool(self.named(order.column))

    def texts_of(self, program: Program) -> dict[int, frozenset[str]]:
        """Returns, for the columns of a program's conditions, the words of the cells it says whole.

        Columns of whose cells it says none are left out.
        """
        columns = {each.column for each in program.conditions}
        said = {column: self.said_in(column) for column in columns}
        return {column: words for column, words in said.items() if words}

    def is_date_named(self, column: int) -> bool:
        """Returns whether it names a column of dates by a word that no other column has."""
        return self._conditions.is_date_named(column)

    def said_in(self, column: int) -> frozenset[str]:
        """Returns the words of the cells of a column that it says whole."""
        keys = self._conditions.whole_texts(column)
        return frozenset().union(*keys, *map(self._conditions.said_of, keys))

    @functools.cached_property
    def flags(self) -> set[int]:
        """The columns of "yes" and "no" that "how many were shipped?" and the like name."""
        if not _HOW_MANY.search(self.question.lower()):
            return set()
        return {
            column
            for column, read in enumerate(self._sheet.columns)
            if read.kind is Kind.TEXT and self._conditions.flagged(column) is not None
        }

    @functools.cached_property
    def _denied(self) -> frozenset[str]:
        """Words such as "not" that change what is asked for, so that programs have to use them."""
        if self._conditions.lacking:
            return self._conditions.lacking_words
        negated = comparisons.NEGATED.search(self.question.lower())
        if negated is None and comparisons.WITHOUT_ANY.search(self.text_without_names()):
            return frozenset(["no"])
        return frozenset(pruning.words(negated.group()) if negated else ())

    def unsaid(self) -> frozenset[str]:
        """Returns the words that mean something and name no column."""
        words = {*self._conditions.words} - STOP_WORDS - usual_words()
        named = (self.named(column) for column in range(len(self._sheet.names)))
        return frozenset(words).difference(*named)

    def is_denied(self, program: Program) -> bool:
        """Returns whether it says "not" or the like, of which a program knows nothing."""
        return not self._denied <= program.said


def _is_sorted(ranks: np.ndarray) -> bool:
    """Returns whether ranks, 0 where there is none, rise or fall from row to row."""
    steps = np.diff(ranks[ranks > 0])
    return bool((steps >= 0).all() or (steps <= 0).all())


def _differ(conditions: Sequence[Condition]) -> bool:
    """Returns whether no two conditions are about the same number or date of the question."""
    values = [each.value for each in conditions if each.value]
    said = {word for value in values for word in pruning.words(value)}
    texts = (each for each in conditions if not each.value and " has " in each.text)
    return len(set(values)) == len(values) and not any(each.said & said for each in texts)
