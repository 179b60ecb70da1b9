"""Which columns and rows of a table a question is about, for when not all of it can be read.

Columns are ranked by the words they share with the question, as in the heuristic exact match of
Eisenschlos et al. (2020, "Understanding tables with intermediate pre-training"): one after the
other, each by the words that no better one has. Rows are ranked by the same words. Two things
differ because that keeps more of SQA's answers: a word counts for more if few columns (or rows)
have it, instead of a Jaccard coefficient; and a plural matches its singular, as "which cities"
should match the column "City".
"""

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from mate_tf.tables.text import WORD

# Weights are whole numbers so that equal sets of words always weigh the same.
_WEIGHT_UNIT = 1000


def words(text: str) -> list[str]:
    """Words of a text in the form in which they are compared."""
    return [_singular(word) for word in WORD.findall(text.lower())]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word


class TableWords:
    """The words of a table, worked out once for all its questions.

    Args:
        texts: of all cells, the header first, then row by row.
        num_columns: of the table; the number of texts is a multiple of it.

    Attributes:
        num_rows, num_columns: of the table, the header not counted.
        rows, columns, words: <int64>[n], where each word is; rows from 0 (the header), columns
            from 0, words as in `index`.
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
    """Columns and rows of a table, ordered by how much they have to do with a question.

    Args:
        table: the table's words.
        question: the question's text.
    """

    def __init__(self, table: TableWords, question: str):
        self._table = table
        asked = sorted({table.index[word] for word in words(question) if word in table.index})
        number = np.full(len(table.index), -1)
        number[asked] = np.arange(len(asked))
        self._num_words = len(asked)
        self._matches = np.flatnonzero(number[table.words] >= 0)
        self._numbers = number[table.words[self._matches]]

    @functools.cached_property
    def columns(self) -> np.ndarray:
        """<int64>[num_columns], from 0, the best first.

        The next one is always the column with the weightiest words that are in none before it,
        then the one with the weightiest words in its name, then in all of it, then the leftmost.
        """
        return np.concatenate(self._columns)

    @property
    def matching_columns(self) -> np.ndarray:
        """<int64>[n], the best columns: those with a word that no better one has."""
        return self._columns[0]

    @functools.cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Columns with words of their own, and the others; each the best first."""
        table, places = self._table, self._table.columns[self._matches]
        has = self._incidence(places, table.num_columns)
        in_name = self._incidence(places, table.num_columns, table.rows[self._matches] == 0)
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
        """<int64>[num_rows], from 0 and without the header: weightiest words first, then upper."""
        data = self._table.rows[self._matches] > 0
        has = self._incidence(self._table.rows[self._matches] - 1, self._table.num_rows, data)
        return np.argsort(-(has @ _weights(has)), kind="stable")

    def _incidence(self, places, count: int, where=slice(None)) -> np.ndarray:
        """<bool>[count, words asked for]: which column (or row) has which word."""
        has = np.zeros((count, self._num_words), bool)
        has[places[where], self._numbers[where]] = True
        return has


def _weights(has: np.ndarray) -> np.ndarray:
    """<int64>[words]: the rarer the weightier, but above 0 even for a word that is everywhere."""
    frequency = np.maximum(has.sum(axis=0), 1)
    return np.rint(_WEIGHT_UNIT * np.log1p(len(has) / frequency)).astype(np.int64)


def select(
    costs: np.ndarray,
    budget: int,
    columns: np.ndarray | None,
    rows: np.ndarray | None,
    num_matching_columns: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """The best columns and rows whose tokens fit a budget.

    As many of the best columns (of the best rows) stay as fit. Where both may go, columns go
    first, as fewer answers are lost with them, but those that match the question go only if they
    do not fit without any row. The best column and the header always stay, even if they are too
    much.

    Args:
        costs: <int>[1 + num_rows, num_columns], tokens of each cell, the header's first.
        budget: tokens that fit.
        columns: <int>[num_columns], the best first; None if all have to stay.
        rows: <int>[num_rows], the best first; None if all have to stay.
        num_matching_columns: how many of the best columns match the question.

    Returns:
        <bool>[num_columns] and <bool>[1 + num_rows]: what stays.
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
