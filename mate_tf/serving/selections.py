"""The windows of a long table that are read for a question, and what a model selects in them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.tables import linearize, pruning

MOST_TOKENS = 48 * 256
"""Tokens of the windows that are read, by which the time of an answer is bounded. What the windows
agree on is computed over the rows of the others too."""

_NEAR = 0.5
"""Share of the windows that are read for those with words of the question; others are drawn."""

_CELLS = linearize.CELLS
_OF_WINDOW = (linearize.ROWS, linearize.COLUMNS, _CELLS)


class WindowSelections(NamedTuple):
    """Selections of a model in some windows of a table.

    Attributes:
        windows: <int64>[rows], number of the window of each row; -1: the row was not read.
        selected: <bool>[rows], rows with a selected cell.
        cells: <float>[columns], share of the selected cells of each column.
        operations: <float>[operations], their mean probabilities; None: the model has none.
        certain: <float>[windows], probability that each window has a part of the answer.
        cuts: the parts of question and cells that were not read.
    """

    windows: np.ndarray
    selected: np.ndarray
    cells: np.ndarray
    operations: np.ndarray | None
    certain: np.ndarray
    cuts: tuple[linearize.Cut, ...] = ()


def order_of_windows(
    rows: Sequence[np.ndarray],
    length: int,
    ranking: pruning.Ranking,
    before: Sequence[int] = (),
) -> np.ndarray:
    """Returns the windows that are read, in order: first some with words of the question.

    Args:
        rows: data rows of each window, in order.
        length: tokens of a window.
        ranking: order of the rows by their words.
        before: rows of the previous answer, if the question refers to it; they come first.

    Returns:
        <int64>[windows], at most `MOST_TOKENS`. Those without such words come in an order that is
        random and always the same.
    """
    most = max(MOST_TOKENS // length, 2)
    begins = np.array([each[0] for each in rows])
    wanted = np.append(np.array(before, int), ranking.matching_rows)
    with_words = np.searchsorted(begins, wanted, side="right") - 1
    first = list(dict.fromkeys(with_words.tolist()))[: int(_NEAR * most)]
    drawn = np.random.default_rng(0).permutation(len(rows))
    return np.array([*first, *drawn[~np.isin(drawn, first)]], int)[:most]


def join(
    conversions: Sequence,
    asked: Sequence[tuple[dict[str, np.ndarray], float]],
    shape: tuple[int, int],
) -> WindowSelections:
    """Joins what a model selected in windows of a table.

    Args:
        conversions: the windows, see `data.converters.table_windows.Windows`.
        asked: for each of them the outputs, see `ServingModule.serving_examples`, among them
            selected <int32>[rows, columns], and the probability that it has a part of the answer.
        shape: rows and columns of the table.
    """
    numbers, selected = np.full(shape[0], -1), np.zeros(shape[0], bool)
    cells, operations, certain = np.zeros(shape[1]), 0.0, []
    pairs = zip(conversions, asked, strict=True)
    for number, (conversion, (outputs, sure)) in enumerate(pairs):
        rows, columns = list(conversion.rows), list(conversion.columns)
        is_selected = outputs["selected"][: len(rows), : len(columns)] > 0
        numbers[rows], selected[rows] = number, is_selected.any(axis=1)
        cells[columns] += sure * is_selected.sum(axis=0) / max(is_selected.sum(), 1)
        operations = operations + sure * outputs.get("aggregation_probabilities", 0.0)
        certain.append(sure)
    total = max(sum(certain), 1e-9)
    mean = operations / total if isinstance(operations, np.ndarray) else None
    cuts = [cut for cut in conversions[0].cuts if cut.kind not in _OF_WINDOW]
    shortened = [cut.count for each in conversions for cut in each.cuts if cut.kind == _CELLS]
    cuts += [linearize.Cut(_CELLS, sum(shortened))] * bool(shortened)
    return WindowSelections(numbers, selected, cells / total, mean, np.array(certain), tuple(cuts))
