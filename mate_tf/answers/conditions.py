"""Finds the conditions on the rows of a table that a question may mean, by its words.

They are about texts that cells have, numbers and dates that cells are compared with, and cells
without a value. Does not import TensorFlow.
"""

import dataclasses
import functools
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from mate_tf.answers import comparisons, lacking
from mate_tf.answers.programs import Condition
from mate_tf.answers.sheet import NO, YES, Sheet
from mate_tf.tables import column_nouns, columns, pruning
from mate_tf.tables.columns import Kind, Moment, SaidValue
from mate_tf.tables.pruning import STOP_WORDS, usual_words
from mate_tf.tables.text import ALIKE, SHORT, stem

_MOST_WORDS = 8
"""Words of the longest text of a cell that is looked for in a question."""

_MOST_SETS = 12
"""Sets of words of the cells of a column."""

_ID = re.compile(r"(?:^|[\W_])(?:ids?|no|nr|num|number|code|index|key)\.?$|^#$", re.IGNORECASE)
"""Names of columns whose numbers tell rows apart."""

_FEW_TEXTS = 12
"""Texts of a column that words in another form may say."""

_ONE_BEFORE = re.compile(r"\b(?:the|last|first|which|that|this|no|only|other)$")
_ONE_BEHIND = re.compile(r"^(?:$|(?:by|of|in|with|that|which|who|is|was|did|does|has|had)\b)")
"""Stand around a "one" that counts nothing."""

_NEAR_BEFORE, _NEAR_BEHIND = 5, 2
"""Words before and behind a value that may name its column."""

_COMPARED = frozenset(pruning.words("more less than over under above below most least"))


class Conditions:
    """Conditions that a question about a table may mean.

    Args:
        sheet: the table.
        question: the question.

    Attributes:
        question, words: the question, and its words as `pruning.words` writes them.
    """

    def __init__(self, sheet: Sheet, question: str):
        self._sheet, self.question = sheet, question
        self.words = pruning.words(question)

    def named(self, column: int, use: str | None = None) -> frozenset[str]:
        """Returns the words that name a column; `use` is one of `question_nouns`."""
        name = self._sheet.names[column]
        known = {stem(word) for word in pruning.words(name) if word not in STOP_WORDS}
        nouns = column_nouns.words(name, use)
        return frozenset(word for word in self.words if word in nouns or stem(word) in known)

    @functools.cached_property
    def by_column(self) -> dict[int, list[Condition]]:
        """The conditions that it may mean, by column."""
        made = {}
        for column, read in enumerate(self._sheet.columns):
            is_text = read.kind is Kind.TEXT
            if column in self.lacking:
                made[column] = [lacking.condition(self._sheet, column, self.lacking[column])]
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
        first = min((place for place in places.values() if place is not None), default=-1)
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
        return lacking.columns_of(self._sheet, self.question)

    def _text_conditions(self, column: int) -> Iterator[Condition]:
        """Yields conditions on the texts of a column: those it says, and words of them."""
        words, sheet = self.words, self._sheet
        distinct, name = sheet.distinct[column], sheet.names[column]
        whole, lacking = self.whole_texts(column), self.lacking_words
        conditions = [
            Condition(
                column,
                sheet.mask(rows),
                self.said_of(key),
                f"{name} is {sheet.texts[column][rows[0]]}",
            )
            for key in whole
            for rows in [sheet.rows_of_text(column, key, self.question)]
        ]
        yield from conditions
        if not conditions and (flagged := self.flagged(column)) is not None:
            yield flagged
        if len(conditions) > 1:
            yield functools.reduce(Condition.__or__, conditions)
        rest = {word for word in words if word not in STOP_WORDS and word not in usual_words()}
        rest -= {word for key in whole for word in key} | lacking | {"s", "t"}  # of "what's"
        # "Which stall" does not say the cell "Cake stall", and plots are not a note with "plot".
        named = (n for k, n in enumerate(sheet.names) if k == column or sheet.is_key(k))
        rest = rest.difference(*map(pruning.words, named))
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

    def whole_texts(self, column: int) -> list[tuple[str, ...]]:
        """Returns the texts of a column of texts that it says in full, as their words."""
        if self._sheet.columns[column].kind is not Kind.TEXT:
            return []
        words, distinct = self.words, self._sheet.distinct[column]
        said = dict.fromkeys(
            tuple(words[begin:end])
            for begin in range(len(words))
            for end in range(begin + 1, min(len(words), begin + _MOST_WORDS) + 1)
        )
        unsaid = STOP_WORDS | self.lacking_words  # "no" is not the cell "no" then
        name = pruning.words(self._sheet.names[column])
        if _within(tuple(name), tuple(words)):
            unsaid |= {*name}  # nor in "no shows" of the column "No show"
        if len(distinct) <= _FEW_TEXTS:  # "failed" says the cell "fail"
            other = {*words} - self._sheet.words_of_values  # "average delay" is not about "delayed"
            stems = {stem(word) for word in other if len(word) > SHORT}
            said |= dict.fromkeys(
                key
                for key in distinct
                if len(key) == 1 and len(key[0]) > SHORT and stem(key[0]) in stems
            )
        whole = [
            key
            for key in said
            if key in distinct
            and (not {*key} <= unsaid or self.is_in_capitals(column, key))
            and self._sheet.rows[distinct[key]].any()  # not "total" of the row of totals
        ]
        return [a for a in whole if not any(a != b and _within(a, b) for b in whole)]

    def said_of(self, key: tuple[str, ...]) -> frozenset[str]:
        """Returns the words that say a cell, of which `key` has the words."""
        if {*key} <= {*self.words}:
            return frozenset(key)
        stems = {*map(stem, key)}
        return frozenset(word for word in self.words if stem(word) in stems)

    def is_in_capitals(self, column: int, key: tuple[str, ...]) -> bool:
        """Returns whether it says a cell such as "IT" in capitals, and not all else too."""
        text = self._sheet.texts[column][int(self._sheet.distinct[column][key][0])].strip()
        is_said = len(text) > 1 and text.isupper() and not self.question.isupper()
        return is_said and bool(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", self.question))

    @functools.cached_property
    def lacking_words(self) -> frozenset[str]:
        """The words of `lacking` together."""
        return frozenset().union(*self.lacking.values())

    def flagged(self, column: int) -> Condition | None:
        """Returns the condition that a column of "yes" and "no" has "yes", if it is named, as
        "shipped" is by "how many orders were shipped?"; or "no" if "paid" is by "unpaid"."""
        sheet, distinct = self._sheet, self._sheet.distinct[column]
        own = {*map(stem, sheet.spoken_words(column))}
        named = frozenset(word for word in self.words if stem(word) in own)
        flags = YES
        if not named:
            named = frozenset(w for w in self.words if w[:2] == "un" and stem(w[2:]) in own)
            own, flags = {"un" + word for word in own}, NO
        keys = [key for key in distinct if key in flags]
        if len(keys) != 1 or len(distinct) > 2 or not own or own != {*map(stem, named)}:
            return None
        if not sheet.has_flags(column):
            return None
        text = f"{sheet.names[column]} is {sheet.texts[column][distinct[keys[0]][0]]}"
        return Condition(column, sheet.mask(distinct[keys[0]]), named, text)

    def _value_conditions(self, column: int) -> Iterator[Condition]:
        """Yields conditions on the values of a column, by the numbers and dates that it says."""
        name, bounds = self._sheet.names[column], []
        for value in columns.said(self.question):
            bits = columns.relation(value, self._sheet.columns[column])
            if bits is None or _is_pronoun(value) or not self._may_be_dated(value, column):
                continue
            if comparisons.unresolved(value):
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
        near |= {*pruning.words(value.behind)[:_NEAR_BEHIND], *pruning.words(value.text)}
        stems = {stem(word) for word in near - STOP_WORDS}

        def is_named(index: int) -> bool:
            name = self._sheet.names[index]
            own = {stem(word) for word in {*pruning.words(name)} - STOP_WORDS}
            own = {word for word in own if self._owners[word] == 1}  # "flight" names the rows
            return bool(own & stems or column_nouns.words(name) & near - _COMPARED)

        if self.only_tells_rows_apart(column):
            return False
        named = [
            index
            for index, read in enumerate(self._sheet.columns)
            if read.kind is not Kind.TEXT
            and not self.only_tells_rows_apart(index)
            and is_named(index)
            and columns.relation(value, read) is not None
            and (read.kind is not Kind.DATE or self._sheet.has_dates(index))
        ]
        return column in named or not named

    def _may_be_dated(self, value: SaidValue, column: int) -> bool:
        """Returns whether a date may be about a column: about those that are named, if any are.

        So "paid in June" is about "Paid on" and not about "Due date".
        """
        if self._sheet.columns[column].kind is not Kind.DATE or not isinstance(value.value, Moment):
            return True
        return self.is_date_named(column) or not self._dates_named

    @functools.cached_property
    def _dates_named(self) -> frozenset[int]:
        """The columns of dates that are named by a word that no other column has.

        If there are none, by one that no other column of dates has: "invoices of June" have this
        "Invoice date".
        """
        said = {stem(word) for word in self.words if word not in STOP_WORDS}
        own = [{stem(word) for word in pruning.words(name)} for name in self._sheet.names]
        dates = [n for n, read in enumerate(self._sheet.columns) if read.kind is Kind.DATE]
        for others in (range(len(own)), dates):
            counts = Counter(word for column in others for word in own[column])
            named = [n for n in dates if any(counts[word] == 1 for word in own[n] & said)]
            if named:
                return frozenset(named)
        begins = {word[:ALIKE] for word in said if len(word) >= ALIKE}  # "adopted": Adoption date
        named = [n for n in dates if any(word[:ALIKE] in begins for word in own[n])]
        return frozenset(named) if len(named) == 1 else frozenset()

    @functools.cached_property
    def _owners(self) -> Counter:
        """Counts the columns that have a word in their names, by its stem."""
        own = ({stem(word) for word in pruning.words(name)} for name in self._sheet.names)
        return Counter(word for words in own for word in words)

    def is_date_named(self, column: int) -> bool:
        """Returns whether a column of dates is named by a word that no other column has."""
        return column in self._dates_named

    def only_tells_rows_apart(self, column: int) -> bool:
        """Returns whether a column has ids by its name, which the question does not say in full."""
        name = self._sheet.names[column]
        return is_id(name) and not {*pruning.words(name)} <= {*self.words}


def _is_pronoun(value: SaidValue) -> bool:
    """Returns whether a value is the "one" of "the last one"."""
    around = _ONE_BEFORE.search(value.before) or _ONE_BEHIND.search(value.behind)
    return value.text == "one" and bool(around)


def is_id(name: str) -> bool:
    """Returns whether a column has ids by its name."""
    return bool(_ID.search(name))


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return any(
        whole[begin : begin + len(part)] == part for begin in range(len(whole) - len(part) + 1)
    )
