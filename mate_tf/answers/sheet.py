"""A table as programs see it: rows by text, values and ranks. Does not import TensorFlow."""

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from mate_tf.tables import columns, pruning
from mate_tf.tables.columns import Column, Kind
from mate_tf.tables.foreign_headers import JOINT

YES = frozenset((("yes",), ("y",), ("true",), ("x",)))
NO = frozenset((("no",), ("n",), ("false",)))
"""Cells of flags, as their words."""

_NAME = r"(?![a-z])[^\W\d_][\w'’-]*\.?"
_FULL_NAME = re.compile(rf"{_NAME}(?: (?:(?:de|del|di|la|van|von|der) )*{_NAME}){{1,3}}")
_THINGS = frozenset(
    pruning.words(
        "street address city town place site venue location country region title film book song "
        "product item room building species event course subject"
    )
)
"""Words of columns whose texts look like the names of people, and are not."""

_UNIT = re.compile(r"[(\[{].*?[)\]}]|[%$€£]")
_SHARE = 0.8
"""Share of the texts of a column of people that are names of two to four words."""


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
        title: what says what the rows are about, such as the name of a file.
    """

    def __init__(
        self,
        names: Sequence[str],
        texts: Sequence[Sequence[str]],
        read: Sequence[Column],
        totals: Collection[int] = (),
        title: str = "",
    ):
        self.names, self.texts, self.columns = names, texts, read
        self.num_rows = len(texts[0]) if texts else 0
        self.rows = np.ones(self.num_rows, bool)
        self.rows[list(totals)] = False
        self.title_words = frozenset(each for each in pruning.words(title) if each.isalpha())
        self._totals, self._ranks = totals, {}

    @functools.cached_property
    def distinct(self) -> list["Rows"]:
        """For each column, the rows of each text."""
        return [Rows(texts) for texts in self.texts]

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """The words of the names of the columns and of the cells."""
        names = (pruning.words(name) for name in self.names)
        return frozenset().union(*names, *(key for rows in self.distinct for key in rows))

    def rows_of_text(self, column: int, key: tuple[str, ...], question: str) -> np.ndarray:
        """Returns the rows <int64>[n] whose text in a column has the words `key`.

        Of texts that differ in signs only, as "B+" and "B-", those of the one in the question.
        """
        rows = self.distinct[column][key]
        texts = [self.texts[column][row].strip().lower() for row in map(int, rows)]
        said = [
            text
            for text in ({*texts} if len({*texts}) > 1 else ())
            if re.search(rf"(?<!\w){re.escape(text)}(?![\w+-])", question.lower())
        ]
        return rows[[text == said[0] for text in texts]] if len(said) == 1 else rows

    @functools.cached_property
    def words_of_values(self) -> frozenset[str]:
        """The words of the names of columns of numbers, dates and times."""
        pairs = zip(self.names, self.columns, strict=True)
        names = " ".join(name for name, read in pairs if read.kind is not Kind.TEXT)
        return frozenset(pruning.words(names))

    def spoken_words(self, column: int) -> frozenset[str]:
        """Returns the words of a column's name without units: the English ones if it has those."""
        *_, english = self.names[column].rsplit(JOINT, 1)
        words = pruning.words(_UNIT.sub(" ", english)) or pruning.words(english)
        return frozenset(words) - pruning.STOP_WORDS

    def is_key(self, column: int) -> bool:
        """Returns whether a column tells what each row is about: the first one, or all distinct."""
        return column == 0 or len(self.distinct[column]) == self.num_rows

    def has_flags(self, column: int) -> bool:
        """Returns whether the cells of a column are "yes" and "no", or some of them are empty."""
        return {*self.distinct[column]} <= YES | NO

    def has_codes(self, column: int) -> bool:
        """Returns whether most texts of a column have digits, as "RE-0017" has; names have none."""
        texts = self.texts[column]
        return 2 * sum(any(map(str.isdigit, text)) for text in texts) > len(texts)

    def has_people(self, column: int) -> bool:
        """Returns whether most texts of a column are full names, as "Ann Lee" or "M. Tanaka"."""
        texts = [" ".join(text.split()) for text in self.texts[column] if text.strip()]
        names = sum(bool(_FULL_NAME.fullmatch(text)) for text in texts)
        is_of_people = len(texts) > 0 and names >= _SHARE * len(texts)
        return is_of_people and not self.is_of_things(column) and not self.has_codes(column)

    def is_of_things(self, column: int) -> bool:
        """Returns whether a column has the names of places or things, by its name."""
        return bool(_THINGS & {*pruning.words(self.names[column])})

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
