"""Windows of rows in which a table is read that is too long for one example."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mate_tf.tables.conversion import ConversionConfig
from mate_tf.tables.pruning import Ranking

FEWEST_ROWS = 6
"""Rows of average length that a window has room for. Otherwise columns are left out."""

LONGEST_CELL = 24
"""Tokens that a window has room for in each cell. Longer cells are shortened if it is full."""


class Windows(NamedTuple):
    """A question about a table in windows of consecutive rows, each with the header.

    Each window is a separate example. Numbers and dates are those of the whole table, ranks
    those among the rows of the window.

    Attributes:
        rows: <int64>[rows] each, the data rows of each window, from 0.
        columns: <int64>[columns], the columns that all windows have, from 0.
        ranking: order of the table's columns and rows by the words of the question.
        divide: function that divides data rows <int64>[n] of the table into windows.
        convert: function from data rows <int64>[n], such as those of a window, to the `Conversion`
            of the question with them. The example numbers them from 1.
    """

    rows: list[np.ndarray]
    columns: np.ndarray
    ranking: Ranking
    divide: Callable[[np.ndarray], list[np.ndarray]]
    convert: Callable[[np.ndarray], Any]


def divide(
    lengths: np.ndarray,
    ranking: np.ndarray,
    needed: np.ndarray | None,
    budget: int,
    config: ConversionConfig,
) -> tuple[np.ndarray, Callable[[np.ndarray], list[np.ndarray]]]:
    """Returns how a table is divided into windows.

    Args:
        lengths: <int64>[1 + rows, columns], tokens of each cell, the header first.
        ranking: <int64>[columns], the columns, the one that the question needs most first.
        needed: <bool>[columns], columns that are kept before all others; None: none are.
        budget: tokens of header and rows of a window. Cells of a longer row are shortened, and
            long cells in others, but not where they have descriptions of their entities.
        config: has the most ids of rows and columns.

    Returns:
        the columns of all windows, <int64>[n] in order, and `Windows.divide`.
    """
    if not config.expand_entity_descriptions:
        lengths = np.minimum(lengths, LONGEST_CELL)
    first = np.zeros(len(ranking), bool) if needed is None else needed
    order = ranking[np.argsort(~first[ranking], kind="stable")]
    usual = lengths[1:].mean(axis=0) if len(lengths) > 1 else np.zeros(len(ranking))
    costs = np.cumsum((lengths[0] + FEWEST_ROWS * usual)[order])
    count = np.searchsorted(costs, budget, side="right")
    columns = np.sort(order[: np.clip(count, 1, config.max_column_id - 1)])
    header, *each = lengths[:, columns].sum(axis=1).tolist()
    costs, left, most = np.array(each, int), max(budget - header, 1), config.max_row_id - 1
    return columns, lambda rows: [rows[part] for part in _row_windows(costs[rows], left, most)]


def _row_windows(costs: np.ndarray, budget: int, most: int) -> list[np.ndarray]:
    """Divides rows with costs <int64>[rows] into windows of `budget` tokens and `most` rows."""
    windows, begin, ends = [], 0, np.cumsum(costs)
    while begin < len(costs):
        before = ends[begin - 1] if begin else 0
        end = int(np.searchsorted(ends, before + budget, side="right"))
        end = min(max(end, begin + 1), begin + most)
        windows.append(np.arange(begin, end))
        begin = end
    return windows
