"""Finds the programs that a question about a table may mean, by its words.

Their parts are texts that cells have, numbers and dates that cells are compared with, and words
such as "highest". Does not import TensorFlow.
"""

import dataclasses
import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from mate_tf.answers import comparisons
from mate_tf.answers.programs import Condition, Order, Program
from mate_tf.tables import amounts, column_nouns, columns, pruning
from mate_tf.tables.columns import Column, Kind, SaidValue
from mate_tf.tables.pruning import STOP_WORDS, usual_words

_MOST_WORDS = 8
"""Words of the longest text of a cell that is looked for in a question."""

_MOST_CONDITIONS = 3
"""Conditions of a program, each on its own column."""

_MOST_PROGRAMS, _MOST_STEPS, _MOST_SETS = 600, 50, 12
"""Programs without an order, of them those that are moved to the next row, and sets of words of the
cells of a column."""


_YES = {("yes",), ("y",), ("true",), ("x",)}
_NO = {("no",), ("n",), ("false",)}
_ID = re.compile(r"(?:^|[\W_])(?:ids?|no|nr|num|number|code|index|key)\.?$|^#$", re.IGNORECASE)
"""Names of columns whose numbers tell rows apart."""

_HOW_MANY = re.compile(r"\b(?:how many|number of)\b")
_NEAR_BEFORE, _NEAR_BEHIND = 5, 2
"""Words before and behind a value that may name its column."""

_COMPARED = frozenset(pruning.words("more less than over under above below most least"))


class Rows(Mapping[tuple[str, ...], np.ndarray]):
    """Rows <int64>[n] of each text of a column, as its words; of texts without words none.

    One array has the rows of all texts: one of each would take most of a long table's memory.
    """

    def __init__(self, texts: Sequence[str]):
        self._number: dict[tuple[str, ...], int] = {}
        of_text = {
            text: self._number.setdefault(tuple(pruning.words(text)), len(self._number))
            for text in dict.fromkeys(texts)
        }
        numbers = np.fromiter((of_text[text] for text in texts), np.int32, len(texts))
        self._order = np.argsort(numbers, kind="stable")
        counts = np.bincount(numbers, minlength=len(self._number))
        self._ends = np.cumsum(counts)
        self._number.pop((), None)

    def __getitem__(self, words: tuple[str, ...]) -> np.ndarray:
        number = self._number[words]
        begin = self._ends[number - 1] if number else 0
        return self._order[begin : self._ends[number]]

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)


class Sheet:
    """A table as programs see it, made once for several questions.

    Args:
        names: names of the columns.
        texts: texts of the cells of each column.
        read: the columns, see `columns.read`.
        totals: rows that are totals of the others; no program selects them.
    """

    def __init__(
        self,
        names: Sequence[str],
        texts: Sequence[Sequence[str]],
        read: Sequence[Column],
        totals: Collection[int] = (),
    ):
        self.names, self.texts, self.columns = names, texts, read
        self.num_rows = len(texts[0]) if texts else 0
        self.rows = np.ones(self.num_rows, bool)
        self.rows[list(totals)] = False
        self._totals, self._ranks = totals, {}

    @functools.cached_property
    def distinct(self) -> list["Rows"]:
        """For each column, the rows of each text."""
        return [Rows(texts) for texts in self.texts]

    def mask(self, rows: np.ndarray) -> np.ndarray:
        """Returns rows <int64>[n] as <bool>[rows]."""
        mask = np.zeros(self.num_rows, bool)
        mask[rows] = True
        return mask

    def has_dates(self, column: int) -> bool:
        """Returns whether a column has dates, or numbers that may be years."""
        read = self.columns[column]
        values = [value for value in read.values if value is not None]
        return read.kind is Kind.DATE or (
            read.kind is Kind.NUMBER
            and all(
                isinstance(value, float) and value.is_integer() and 1000 <= value <= 2200
                for value in values
            )
        )

    def first_of_each(self, rows: np.ndarray, column: int) -> np.ndarray:
        """Returns, of rows <int64>[n], the first one of each distinct text in a column."""
        first_rows = {}
        for row in rows.tolist():
            first_rows.setdefault(" ".join(self.texts[column][int(row)].lower().split()), row)
        first_rows.pop("", None)
        return np.array(sorted(first_rows.values()), int)

    def ranks(self, column: int) -> np.ndarray:
        """Returns the ranks of a column's values, <int64>[rows]; 0 if there is no value."""
        if column not in self._ranks:
            ranks, _ = columns.ranks(self.columns[column], self._totals)
            self._ranks[column] = np.array(ranks, np.int64)
        return self._ranks[column]

    def meaning(self, question: str) -> "Meaning":
        """Returns what a question about the table may mean."""
        return Meaning(self, question)


class Meaning:
    """Programs that a question about a table may mean.

    Args:
        sheet: the table.
        question: the question.
    """

    def __init__(self, sheet: Sheet, question: str):
        self._sheet, self.question = sheet, question
        self._words = pruning.words(question)

    def named(self, column: int, use: str | None = None) -> frozenset[str]:
        """Returns the words that name a column; `use` is one of `question_nouns`."""
        name = self._sheet.names[column]
        known = frozenset(pruning.words(name)) - STOP_WORDS
        return (known | column_nouns.words(name, use)) & set(self._words)

    @functools.cached_property
    def columns(self) -> set[int]:
        """The columns that it needs: those of its conditions and orders, and those it names."""
        columns_used = {*self.conditions, *(each.column for each in self.orders)}
        named = {index for index in range(len(self._sheet.names)) if self.named(index)}
        return {column for column in columns_used | named if column is not None}

    @functools.cached_property
    def conditions(self) -> dict[int, list[Condition]]:
        """The conditions that it may mean, by column."""
        made = {}
        for column, read in enumerate(self._sheet.columns):
            is_text = read.kind is Kind.TEXT
            if column in self.lacking:
                made[column] = [self._empty_condition(column)]
            else:
                made[column] = [
                    *(self._text_conditions(column) if is_text else self._value_conditions(column))
                ]
        conditions = {}
        for column, each in self._with_negated(made).items():
            named = self.named(column)
            if each:
                conditions[column] = [
                    dataclasses.replace(one, said=one.said | named, is_named=bool(named))
                    for one in each
                ]
        return conditions

    def _with_negated(self, made: dict[int, list[Condition]]) -> dict[int, list[Condition]]:
        """Returns conditions with the opposite of those that follow a word such as "not" first."""
        match = comparisons.NEGATED.search(self.question.lower())
        if match is None or self.lacking:
            return made
        words = frozenset(pruning.words(match.group()))
        behind = pruning.words(self.question[match.end() :])
        places = {
            (column, number): min(map(behind.index, each.said.intersection(behind)), default=None)
            for column, conditions in made.items()
            for number, each in enumerate(conditions)
            if not words <= each.said  # as "not more than 5"
        }
        first = min((place for place in places.values() if place is not None), default=None)
        negated = {
            column: [
                dataclasses.replace(~each, said=each.said | words)
                for number, each in enumerate(conditions)
                if (column, number) in places and places[column, number] == first
            ]
            for column, conditions in made.items()
        }
        return {column: conditions + negated[column] for column, conditions in made.items()}

    @functools.cached_property
    def lacking(self) -> dict[int, frozenset[str]]:
        """The columns in which it asks for cells without a value, and the words that do."""
        lacking = {}
        for match in comparisons.WITHOUT.finditer(self.question.lower()):
            words, all_words = pruning.words(match["what"]), pruning.words(match.group())
            names = [pruning.words(name) for name in self._sheet.names]
            if any(own and all_words[: len(own)] == own for own in names):
                continue  # "empty weight" is the name of a column
            for column, own in enumerate(names):
                if own and words[: len(own)] == own:
                    lacking[column] = frozenset(all_words) - {*words} | {*own}
        return lacking

    def _empty_condition(self, column: int) -> Condition:
        """Returns the condition that cells have no value; "no stock" may also be a stock of 0."""
        texts, name = self._sheet.texts[column], self._sheet.names[column]
        is_empty = np.array([amounts.is_missing(text) for text in texts], bool)
        text, values = f"{name} is empty", self._sheet.columns[column].values
        if 0 in values:
            is_empty |= np.array([value == 0 for value in values], bool)
            text += " or 0"
        return Condition(column, is_empty, self.lacking[column], text)

    def _text_conditions(self, column: int) -> Iterator[Condition]:
        """Yields conditions on the texts of a column: those it says, and words of them."""
        words, sheet = self._words, self._sheet
        said = dict.fromkeys(
            tuple(words[begin:end])
            for begin in range(len(words))
            for end in range(begin + 1, min(len(words), begin + _MOST_WORDS) + 1)
        )
        distinct, name = sheet.distinct[column], sheet.names[column]
        lacking = frozenset().union(*self.lacking.values())  # "no" is not the cell "no" then
        whole = [key for key in said if key in distinct and not set(key) <= STOP_WORDS | lacking]
        whole = [a for a in whole if not any(a != b and _within(a, b) for b in whole)]
        conditions = [
            Condition(
                column,
                sheet.mask(distinct[key]),
                frozenset(key),
                f"{name} is {sheet.texts[column][distinct[key][0]]}",
            )
            for key in whole
        ]
        yield from conditions
        if not conditions and (flagged := self._flagged(column)) is not None:
            yield flagged
        if len(conditions) > 1:
            yield functools.reduce(Condition.__or__, conditions)
        rest = {word for word in words if word not in STOP_WORDS and word not in usual_words()}
        rest -= {word for key in whole for word in key} | lacking
        having = defaultdict(list)
        for key in distinct:
            if shared := rest.intersection(key):
                having[frozenset(shared)].append(distinct[key])
        sets = {*having, *(frozenset([word]) for shared in having for word in shared)}
        for shared in sorted(sets, key=lambda each: (-len(each), sorted(each)))[:_MOST_SETS]:
            rows = [own for other, result in having.items() if shared <= other for own in result]
            mask = sheet.mask(np.concatenate(rows))
            if not mask.all():
                text = f"{name} has {' and '.join(word for word in words if word in shared)}"
                yield Condition(column, mask, shared, text)

    def _flagged(self, column: int) -> Condition | None:
        """Returns the condition that a column of "yes" and "no" has "yes", if it is named.

        So "how many orders were shipped?" is asked of the column "shipped".
        """
        distinct, name = self._sheet.distinct[column], self._sheet.names[column]
        named = frozenset(pruning.words(name))
        yes = [key for key in distinct if key in _YES]
        if len(yes) != 1 or len(distinct) > 2 or not named or not named <= set(self._words):
            return None
        if not all(key in _YES | _NO for key in distinct):
            return None
        text = f"{name} is {self._sheet.texts[column][distinct[yes[0]][0]]}"
        return Condition(column, self._sheet.mask(distinct[yes[0]]), named, text)

    def _value_conditions(self, column: int) -> Iterator[Condition]:
        """Yields conditions on the values of a column, by the numbers and dates that it says."""
        name, bounds = self._sheet.names[column], []
        for value in columns.said(self.question):
            bits = columns.relation(value, self._sheet.columns[column])
            if bits is None:
                continue
            bits, (wanted, words) = np.array(bits), comparisons.comparison(value)
            if wanted != comparisons.EQUAL and not self._may_compare(value, column):
                continue
            said = frozenset(pruning.words(value.text)) | words
            text = f"{name} {comparisons.SIGNS[wanted]} {value.text}"
            if number := columns.as_read(value, self._sheet.columns[column]):
                text += f" ({number})"
            condition = Condition(column, np.isin(bits, wanted), said, text, value.text)
            if comparisons.is_of_dates(words):
                fit = 1 if self._sheet.has_dates(column) else -1
                condition = dataclasses.replace(condition, fit=fit)
            bounds.append((value, bits, condition))
            if condition.rows.any() and value not in self._bounds:
                yield condition
        for (first, low, one), (second, high, two) in itertools.pairwise(bounds):
            if comparisons.is_range(first, second) and self._may_compare(first, column):
                rows = np.isin(low, comparisons.LEAST) & np.isin(high, comparisons.MOST)
                text = f"{name} from {first.text} to {second.text}"
                yield dataclasses.replace(one, rows=rows, said=one.said | two.said, text=text)
            elif one.rows.any() and two.rows.any() and not self._bounds & {first, second}:
                yield one | two

    @functools.cached_property
    def _bounds(self) -> set[SaidValue]:
        """The values that are the ends of a range, as in "between 10 and 20"."""
        pairs = itertools.pairwise(columns.said(self.question))
        return {each for pair in pairs if comparisons.is_range(*pair) for each in pair}

    def _may_compare(self, value: SaidValue, column: int) -> bool:
        """Returns whether "above 8" may be about a column of values.

        If a word next to it names one, as in "rated above 8", it is about that one. Numbers that
        only tell rows apart are not compared unless they are named.
        """
        near = {*pruning.words(value.before)[-_NEAR_BEFORE:]}
        near |= {*pruning.words(value.behind)[:_NEAR_BEHIND]}
        stems = {_stem(word) for word in near - STOP_WORDS}

        def is_named(index: int) -> bool:
            name = self._sheet.names[index]
            own = {_stem(word) for word in {*pruning.words(name)} - STOP_WORDS}
            return bool(own & stems or column_nouns.words(name) & near - _COMPARED)

        if self._only_tells_rows_apart(column):
            return False
        named = [
            index
            for index, read in enumerate(self._sheet.columns)
            if read.kind is not Kind.TEXT
            and not self._only_tells_rows_apart(index)
            and is_named(index)
            and columns.relation(value, read) is not None
            and (read.kind is not Kind.DATE or self._sheet.has_dates(index))
        ]
        return column in named or not named

    def _only_tells_rows_apart(self, column: int) -> bool:
        """Returns whether a column has ids by its name, which the question does not say in full."""
        name = self._sheet.names[column]
        return bool(_ID.search(name)) and not {*pruning.words(name)} <= {*self._words}

    @functools.cached_property
    def orders(self) -> list[Order]:
        """The orders that it may mean; none if it has no word for one."""
        sheet, orders = self._sheet, []
        for word in comparisons.superlatives(self._without_names()):
            use = "highest" if word.is_largest else "lowest"
            own = [word.word in column_nouns.words(name, use) for name in sheet.names]
            others = [word.word in column_nouns.words(name) for name in sheet.names]
            left_out = self._not_ordered(word.word)
            for column, read in enumerate(sheet.columns):
                if read.kind is Kind.TEXT or column in left_out:
                    continue
                said, ranks = self.named(column, use), sheet.ranks(column)
                if own[column] or not any(own + others):
                    said |= {word.word}  # "cheapest" is said of the price only, if there is one
                fit = 0.5 * (word.is_of_dates == (read.kind is Kind.DATE)) + 0.5 * word.is_certain
                text = f"{'largest' if word.is_largest else 'smallest'} {sheet.names[column]}"
                orders.append(Order(column, word.is_largest, ranks, said, text, fit))
            if word.word in ("last", "first", "top", "bottom"):
                places, is_last = np.arange(1, sheet.num_rows + 1), word.word in ("last", "bottom")
                text = f"{'last' if is_last else 'first'} row"
                orders.append(Order(None, is_last, places, frozenset([word.word]), text, 0.5))
        return orders

    def _not_ordered(self, word: str) -> set[int]:
        """Returns the columns that a superlative is not about: ids, and if one is named next, as in
        "the largest quantity", the others."""
        sheet, words = self._sheet, self._words
        left_out = {each for each in range(len(sheet.names)) if self._only_tells_rows_apart(each)}
        following = {words[at + 1] for at, each in enumerate(words[:-1]) if each == word}
        named = {
            index
            for index, name in enumerate(sheet.names)
            if sheet.columns[index].kind is not Kind.TEXT
            and index not in left_out
            and following & {*pruning.words(name)} - STOP_WORDS
        }
        return left_out | ({*range(len(sheet.names))} - named if named else set())

    def _without_names(self) -> str:
        """Returns it in lower case without names of several words, such as "last sold"."""
        text = self.question.lower()
        for name in self._sheet.names:
            if len(name.split()) > 1:
                text = text.replace(name.lower(), " ")
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
        moved = [
            Program(each.conditions, step=step, step_word=word)
            for each in plain[:_MOST_STEPS]
            for step, word in comparisons.steps(self.question)
            if word not in each.said
        ]
        programs = [Program(), *plain, *ordered, *moved]
        kept = [each for each in programs if self._denied <= each.said] or programs
        return [each for each in kept if self.flags <= {*each.columns}] or kept

    @functools.cached_property
    def flags(self) -> set[int]:
        """The columns of "yes" and "no" that "how many were shipped?" and the like name."""
        if not _HOW_MANY.search(self.question.lower()):
            return set()
        return {
            column
            for column, read in enumerate(self._sheet.columns)
            if read.kind is Kind.TEXT and self._flagged(column) is not None
        }

    @functools.cached_property
    def _denied(self) -> frozenset[str]:
        """Words such as "not" that change what is asked for, so that programs have to use them."""
        if self.lacking:
            return frozenset().union(*self.lacking.values())
        negated = comparisons.NEGATED.search(self.question.lower())
        return frozenset(pruning.words(negated.group()) if negated else ())

    def is_denied(self, program: Program) -> bool:
        """Returns whether it says "not" or the like, of which a program knows nothing."""
        return not self._denied <= program.said


def _differ(conditions: Sequence[Condition]) -> bool:
    """Returns whether no two conditions are about the same number or date of the question."""
    values = [each.value for each in conditions if each.value]
    return len(set(values)) == len(values)


def _stem(word: str) -> str:
    """Returns a word without the ending of a verb, so that "rated" names the column "Rating"."""
    for ending in ("ing", "ed", "es", "e", "s"):
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            return word[: -len(ending)]
    return word


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return any(
        whole[begin : begin + len(part)] == part for begin in range(len(whole) - len(part) + 1)
    )
