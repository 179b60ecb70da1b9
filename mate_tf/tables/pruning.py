"""Selects the columns and rows of a table that are relevant for a question.

Columns are ranked by the words that they share with the question, by the heuristic exact match of
Eisenschlos et al. (2020, "Understanding tables with intermediate pre-training"): one after the
other, each by the words that no better column has. Rows are ranked by the same words. Two rules
differ from the paper, since they keep more of SQA's answers. Words are weighted by their rareness
among the columns (or rows), where the paper uses a Jaccard coefficient. And plurals match their
singulars, so that "which cities" matches the column "City".
"""

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from mate_tf.tables.text import WORD

# Weights are integers, so that equal sets of words have exactly equal weights.
_WEIGHT_UNIT = 1000


def words(text: str) -> list[str]:
    """Splits a text into lower-case words in the singular, the form in which they are compared."""
    return [_singular(word) for word in WORD.findall(text.lower())]


def _singular(word: str) -> str:
    """Returns the singular of a regular English plural; other words unchanged."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word


class TableWords:
    """Words of a table, computed once for all questions about it.

    Args:
        texts: texts of all cells, the header first, then row by row.
        num_columns: number of columns; the number of texts is a multiple of it.

    Attributes:
        num_rows, num_columns: size of the table without the header.
        rows, columns, words: <int64>[num_words], row (0 is the header), column (from 0) and number
            of each word in the table.
        index: word -> number.
    """

    def __init__(self, texts: Sequence[str], num_columns: int):
        self.num_columns = num_columns
        self.num_rows = len(texts) // num_columns - 1 if num_columns else 0
        self.index: dict[str, int] = {}
        found = [
            (cell, self.index.setdefault(word, len(self.index)))
            for cell, text in enumerate(texts)
            for word in words(text)
        ]
        cells, self.words = np.array(found, np.int64).reshape(-1, 2).T
        self.rows, self.columns = np.divmod(cells, max(num_columns, 1))


class Ranking:
    """Columns and rows of a table, ordered by relevance for a question.

    Args:
        table: words of the table.
        question: text of the question.
    """

    def __init__(self, table: TableWords, question: str):
        self._table = table
        shared = sorted({table.index[word] for word in words(question) if word in table.index})
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
        has, found = has[order], []
        while len(order) and (gains := has @ weights).max() > 0:
            best = int(np.argmax(gains))
            found.append(best)
            weights = weights * ~has[best]
        found = np.array(found, np.int64)
        return order[found], np.delete(order, found)

    @functools.cached_property
    def rows(self) -> np.ndarray:
        """Returns <int64>[num_rows], data rows from 0, by the weight of their words.

        Rows of equal weight keep their order.
        """
        data = self._table.rows[self._matches] > 0
        has = self._incidence(self._table.rows[self._matches] - 1, self._table.num_rows, data)
        return np.argsort(-(has @ _weights(has)), kind="stable")

    def _incidence(self, lines, count: int, where=slice(None)) -> np.ndarray:
        """Marks the columns (or rows) that have a word of the question.

        Args:
            lines: <int64>[matches], column (or row) of each match.
            count: number of columns (or rows).
            where: <bool>[matches], the matches to use.

        Returns:
            <bool>[count, question words].
        """
        has = np.zeros((count, self._num_words), bool)
        has[lines[where], self._numbers[where]] = True
        return has


def _weights(has: np.ndarray) -> np.ndarray:
    """Computes weights of words from their frequency.

    Args:
        has: <bool>[columns or rows, words].

    Returns:
        <int64>[words], larger for rarer words, and above 0 for words that are everywhere.
    """
    frequency = np.maximum(has.sum(axis=0), 1)
    return np.rint(_WEIGHT_UNIT * np.log1p(len(has) / frequency)).astype(np.int64)


def select(
    costs: np.ndarray,
    budget: int,
    columns: np.ndarray | None,
    rows: np.ndarray | None,
    num_matching_columns: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Selects the best columns and rows that fit a budget of tokens.

    As many of the best columns (rows) are kept as fit. If both may be dropped, columns are dropped
    first, since fewer answers are lost with them. Columns that match the question are dropped only
    if they do not fit without any row. The best column and the header are always kept, even if they
    do not fit.

    Args:
        costs: <int>[1 + num_rows, num_columns], tokens of each cell, the header first.
        budget: tokens that fit.
        columns: <int>[num_columns], the best first; None to keep all.
        rows: <int>[num_rows], the best first; None to keep all.
        num_matching_columns: number of columns that match the question.

    Returns:
        <bool>[num_columns] and <bool>[1 + num_rows], True for columns and rows to keep.
    """
    num_rows, num_columns = costs.shape[0] - 1, costs.shape[1]
    row_order = np.append(0, (np.arange(num_rows) if rows is None else rows) + 1)
    column_order = np.arange(num_columns) if columns is None else columns
    # totals[r, c - 1]: tokens of the header and the best r rows in the best c columns.
    totals = costs[np.ix_(row_order, column_order)].cumsum(axis=0).cumsum(axis=1)
    # From all to the fewest.
    fewest_rows = num_rows if rows is None else 0
    fewest_columns = num_columns if columns is None else 1
    matching = fewest_columns
    if rows is not None:
        matching = min(max(matching, num_matching_columns), num_columns)
    steps = itertools.chain(
        ((count, num_rows) for count in range(num_columns, matching, -1)),
        itertools.product(
            range(matching, fewest_columns - 1, -1), range(num_rows, fewest_rows - 1, -1)
        ),
    )
    fitting = (step for step in steps if totals[step[1], step[0] - 1] <= budget)
    best_columns, best_rows = next(fitting, (fewest_columns, fewest_rows))
    keep_columns, keep_rows = np.zeros(num_columns, bool), np.zeros(num_rows + 1, bool)
    keep_columns[column_order[:best_columns]] = True
    keep_rows[row_order[: best_rows + 1]] = True
    return keep_columns, keep_rows
