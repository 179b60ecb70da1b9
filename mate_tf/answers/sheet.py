"""Finds the programs that a question about a table may mean, by its words.

Their parts are texts that cells have, numbers and dates that cells are compared with, and words
such as "highest". Does not import TensorFlow.
"""

import dataclasses
import functools
import itertools
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from mate_tf.answers import comparisons
from mate_tf.answers.programs import Condition, Order, Program
from mate_tf.tables import column_nouns, columns, pruning
from mate_tf.tables.columns import Column, Kind
from mate_tf.tables.pruning import STOP_WORDS, usual_words

_MOST_WORDS = 8
"""Words of the longest text of a cell that is looked for in a question."""

_MOST_CONDITIONS = 3
"""Conditions of a program, each on its own column."""

_MOST_PROGRAMS, _MOST_STEPS, _MOST_SETS = 600, 50, 12
"""Programs without an order, of them those that are moved to the next row, and sets of words of the
cells of a column."""


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
        conditions = {}
        is_negated = comparisons.NEGATED.search(self.question.lower())
        for column, read in enumerate(self._sheet.columns):
            is_text = read.kind is Kind.TEXT
            made = [*(self._text_conditions(column) if is_text else self._value_conditions(column))]
            if is_negated:
                word = frozenset(pruning.words(is_negated.group()))
                made += [dataclasses.replace(~each, said=each.said | word) for each in made]
            named = self.named(column)
            if made:
                conditions[column] = [
                    dataclasses.replace(each, said=each.said | named, is_named=bool(named))
                    for each in made
                ]
        return conditions

    def _text_conditions(self, column: int) -> Iterator[Condition]:
        """Yields conditions on the texts of a column: those it says, and words of them."""
        words, sheet = self._words, self._sheet
        said = {
            tuple(words[begin:end])
            for begin in range(len(words))
            for end in range(begin + 1, min(len(words), begin + _MOST_WORDS) + 1)
        }
        distinct, name = sheet.distinct[column], sheet.names[column]
        whole = [key for key in said if key in distinct and not set(key) <= STOP_WORDS]
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
        if len(conditions) > 1:
            yield functools.reduce(Condition.__or__, conditions)
        rest = {word for word in words if word not in STOP_WORDS and word not in usual_words()}
        rest -= {word for key in whole for word in key}
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

    def _value_conditions(self, column: int) -> Iterator[Condition]:
        """Yields conditions on the values of a column, by the numbers and dates that it says."""
        name, bounds = self._sheet.names[column], []
        for value in columns.said(self.question):
            bits = columns.relation(value, self._sheet.columns[column])
            if bits is None:
                continue
            bits, (wanted, words) = np.array(bits), comparisons.comparison(value)
            said = frozenset(pruning.words(value.text)) | words
            text = f"{name} {comparisons.SIGNS[wanted]} {value.text}"
            condition = Condition(column, np.isin(bits, wanted), said, text, value.text)
            if comparisons.is_of_dates(words):
                fit = 1 if self._sheet.has_dates(column) else -1
                condition = dataclasses.replace(condition, fit=fit)
            bounds.append((value, bits, condition))
            if condition.rows.any():
                yield condition
        for (first, low, one), (second, high, two) in itertools.pairwise(bounds):
            if comparisons.is_range(first, second):
                rows = np.isin(low, comparisons.LEAST) & np.isin(high, comparisons.MOST)
                text = f"{name} from {first.text} to {second.text}"
                yield dataclasses.replace(one, rows=rows, said=one.said | two.said, text=text)
            elif one.rows.any() and two.rows.any():
                yield one | two

    @functools.cached_property
    def orders(self) -> list[Order]:
        """The orders that it may mean; none if it has no word for one."""
        sheet, orders = self._sheet, []
        for word in comparisons.superlatives(self._without_names()):
            use = "highest" if word.is_largest else "lowest"
            own = [word.word in column_nouns.words(name, use) for name in sheet.names]
            others = [word.word in column_nouns.words(name) for name in sheet.names]
            for column, read in enumerate(sheet.columns):
                if read.kind is Kind.TEXT:
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
        return [Program(), *plain, *ordered, *moved]


def _differ(conditions: Sequence[Condition]) -> bool:
    """Returns whether no two conditions are about the same number or date of the question."""
    values = [each.value for each in conditions if each.value]
    return len(set(values)) == len(values)


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return any(
        whole[begin : begin + len(part)] == part for begin in range(len(whole) - len(part) + 1)
    )
