"""Selects the columns and rows of a table that are relevant for a question.

Columns are ranked by the words that they share with the question, by the heuristic exact match of
Eisenschlos et al. (2020, "Understanding tables with intermediate pre-training"): one after the
other, each by the words that no better column has. Rows are ranked by the same words. Two rules
differ from the paper, since they keep more of SQA's answers. Words are weighted by their rareness
among the columns (or rows), where the paper uses a Jaccard coefficient. And plurals match their
singulars, so that "which cities" matches the column "City".
"""

import array
import functools
from collections.abc import Mapping, Sequence
from importlib import resources

import numpy as np

from mate_tf.tables.text import WORD

MOST_ROWS = 64
"""Best rows that are kept at the cost of columns without a word of the question. Tables with more
rows are rare in training, and models have by default no ids for more."""

FEWEST_ROWS, NAMED_ROWS = 8, 3
"""Best rows that are kept for a question that names some rows: it has a word that is in at most
`NAMED_ROWS` rows. All columns of those rows may have the answer."""

STOP_WORDS = frozenset(
    word
    for line in (
        "a all an and are as at be by did do does for from had has have how in is it its list many",
        "me much of on or show tell than that the them these they this those to was were what when",
        "where which who whose with",
    )
    for word in line.split()
)
"""Words of questions that say nothing about a table."""

# Weights are integers, so that equal sets of words have exactly equal weights.
WEIGHT_UNIT = 1000
"""Weight of a word whose logarithm of rareness is 1."""

QUESTION_WORDS = 256
"""Words of a question that are compared with the table. The rest of a longer one is not."""


def words(text: str) -> list[str]:
    """Splits a text into lower-case words in the singular, the form in which they are compared."""
    return [_singular(word) for word in WORD.findall(text.lower())]


@functools.cache
def usual_words() -> frozenset[str]:
    """Returns words that questions often have although their tables do not, such as "total"."""
    text = (resources.files("mate_tf.tables") / "usual_words.txt").read_text("utf-8")
    return frozenset(words(" ".join(text.splitlines()[1:])))


@functools.cache
def synonyms() -> Mapping[str, frozenset[str]]:
    """Returns the words of column names that a word means nearly the same as, in both directions.

    So "town" has "city". They are those of benchmarks/synonyms.py.
    """
    text = (resources.files("mate_tf.tables") / "synonyms.txt").read_text("utf-8")
    found: dict[str, set[str]] = {}
    for line in text.splitlines()[1:]:
        name, _, others = line.partition(": ")
        for word in others.split():
            found.setdefault(word, set()).add(name)
            found.setdefault(name, set()).add(word)
    return {word: frozenset(names) for word, names in found.items()}


def _singular(word: str) -> str:
    """Returns the singular of a regular English plural; other words unchanged."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")) or (len(word) > 6 and word.endswith("oes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word


class TableWords:
    """Words of a table, computed once for all questions about it.

    Args:
        texts: texts of all cells, the header first, then row by row.
        num_columns: number of columns; the number of texts is a multiple of it.

    Attributes:
        num_rows, num_columns: size of the table without the header.
        rows, columns, words: <int32>[num_words], row (0 is the header), column (from 0) and number
            of each word in the table.
        index: word -> number.
    """

    def __init__(self, texts: Sequence[str], num_columns: int):
        self.num_columns = num_columns
        self.num_rows = len(texts) // num_columns - 1 if num_columns else 0
        self.index: dict[str, int] = {}
        # Arrays, since pairs in a list would take ten times the memory.
        cells, numbers = array.array("i"), array.array("i")
        for cell, text in enumerate(texts):
            for word in words(text):
                cells.append(cell)
                numbers.append(self.index.setdefault(word, len(self.index)))
        self.words = np.array(numbers, np.int32)
        self.rows, self.columns = np.divmod(np.array(cells, np.int32), max(num_columns, 1))


class Ranking:
    """Columns and rows of a table, ordered by relevance for a question."""

    def __init__(self, table: TableWords, question: str):
        self._table = table
        asked = words(question)[:QUESTION_WORDS]
        shared = sorted({table.index[word] for word in asked if word in table.index})
        number = np.full(len(table.index), -1)
        number[shared] = np.arange(len(shared))
        self._num_words = len(shared)
        self._matches = np.flatnonzero(number[table.words] >= 0)
        self._numbers = number[table.words[self._matches]]

    @functools.cached_property
    def columns(self) -> np.ndarray:
        """Returns <int64>[num_columns], columns from 0, the best first.

        The next column is always the one with the largest weight of words that no earlier column
        has. Ties are broken by the weight of the words in the column's name, then by the weight of
        all its words, then by position from the left.
        """
        return np.concatenate(self._columns)

    @property
    def matching_columns(self) -> np.ndarray:
        """Returns <int64>[n], the best columns, which all have a word that no better one has."""
        return self._columns[0]

    @functools.cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the matching columns and the other columns, each <int64>[n], the best first."""
        table, columns = self._table, self._table.columns[self._matches]
        has = self._incidence(columns, table.num_columns)
        in_name = self._incidence(columns, table.num_columns, table.rows[self._matches] == 0)
        weights = _weights(has)
        order = np.lexsort((-(has @ weights), -(in_name @ weights)))
        has, chosen = has[order], []
        while len(order) and (gains := has @ weights).max() > 0:
            best = int(np.argmax(gains))
            chosen.append(best)
            weights = weights * ~has[best]
        chosen = np.array(chosen, np.int64)
        return order[chosen], np.delete(order, chosen)

    @functools.cached_property
    def rows(self) -> np.ndarray:
        """Returns <int64>[num_rows], data rows from 0, by the weight of their words.

        Rows of equal weight keep their order.
        """
        return np.argsort(-self._row_weights, kind="stable")

    @property
    def matching_rows(self) -> np.ndarray:
        """Returns <int64>[n], the rows that share a word with the question, the best first."""
        return self.rows[: np.count_nonzero(self._row_weights)]

    @property
    def wanted_rows(self) -> int:
        """Number of best rows that are kept at the cost of columns without a matching word."""
        frequency = self._in_rows.sum(axis=0)
        named = (frequency > 0) & (frequency <= NAMED_ROWS)
        return FEWEST_ROWS if named.any() else MOST_ROWS

    @functools.cached_property
    def _row_weights(self) -> np.ndarray:
        """Returns <int64>[num_rows]: weight of the words that a row shares with the question."""
        return self._in_rows @ _weights(self._in_rows)

    @functools.cached_property
    def _in_rows(self) -> np.ndarray:
        """Returns <bool>[num_rows, question words], True for words of the data row."""
        data = self._table.rows[self._matches] > 0
        return self._incidence(self._table.rows[self._matches] - 1, self._table.num_rows, data)

    def _incidence(self, lines, count: int, where: slice | np.ndarray = slice(None)) -> np.ndarray:
        """Returns <bool>[count, question words]: the words that each column (or row) has."""
        has = np.zeros((count, self._num_words), bool)
        has[lines[where], self._numbers[where]] = True
        return has


def _weights(has: np.ndarray) -> np.ndarray:
    """Returns <int64>[words], larger for words that fewer of <bool>[lines, words] have, above 0."""
    frequency = np.maximum(has.sum(axis=0), 1)
    return np.rint(WEIGHT_UNIT * np.log1p(len(has) / frequency)).astype(np.int64)


def select(
    costs: np.ndarray,
    budget: int,
    columns: np.ndarray | None,
    rows: np.ndarray | None,
    num_matching_columns: int = 1,
    wanted_rows: int = MOST_ROWS,
) -> tuple[np.ndarray, np.ndarray]:
    """Selects the best columns and rows that fit a budget of tokens.

    As many of the best columns (rows) are kept as fit. If both may be dropped, rows beyond the best
    `wanted_rows` are dropped first. Then columns are, since fewer answers are lost with them, and
    at last the other rows. Columns that match the question are dropped only if they do not fit
    without any row. The best column and the header are always kept, even if they do not fit.

    Args:
        costs: <int>[1 + num_rows, num_columns], tokens of each cell, the header first.
        budget: tokens that fit.
        columns: <int>[num_columns], the best first; None to keep all.
        rows: <int>[num_rows], the best first; None to keep all.
        num_matching_columns: number of columns that match the question.
        wanted_rows: `Ranking.wanted_rows`.

    Returns:
        <bool>[num_columns] and <bool>[1 + num_rows], True for columns and rows to keep.
    """
    num_rows, num_columns = costs.shape[0] - 1, costs.shape[1]
    row_order = np.append(0, (np.arange(num_rows) if rows is None else rows) + 1)
    column_order = np.arange(num_columns) if columns is None else columns
    totals = costs[np.ix_(row_order, column_order)].cumsum(axis=0).cumsum(axis=1)
    # Of the best 1, 2, … columns: number of rows that fit; -1 if the header does not.
    fitting = np.sum(totals <= budget, axis=0) - 1
    fewest_rows = num_rows if rows is None else 0
    wanted_rows = num_rows if rows is None else min(num_rows, wanted_rows)
    counts = np.arange(1, num_columns + 1)
    needed = np.where(counts > num_matching_columns, wanted_rows, fewest_rows)
    best_columns = num_columns
    if columns is not None:
        best_columns = int(counts[fitting >= needed].max(initial=1))
    best_rows = max(int(fitting[best_columns - 1]), fewest_rows)
    keep_columns, keep_rows = np.zeros(num_columns, bool), np.zeros(num_rows + 1, bool)
    keep_columns[column_order[:best_columns]] = True
    keep_rows[row_order[: best_rows + 1]] = True
    return keep_columns, keep_rows
