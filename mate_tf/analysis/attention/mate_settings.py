"""The cheapest global length and radii of MATE that reach a wanted coverage on a data set."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mate_tf.attention import TableContext, coverage
from mate_tf.attention.mate import compared_pairs
from mate_tf.data import padding
from mate_tf.errors import InputError

MIN_RADIUS = 8
"""Smaller buckets save nothing."""

_GLOBAL_LENGTHS = (1.0, 1.5, 2.0, 3.0)  # times the longest question


class GlobalAndRadii(NamedTuple):
    """What `cheapest` finds.

    Attributes:
        global_length: G.
        row_radius: R of the row heads.
        column_radius: R of the column heads.
        reached: "row" and "column" -> share of the pairs that such heads of `mate_exact` see.
        compared: pairs that `mate_efficient` compares, as a share of those of full attention, with
            half of the heads of either type.
    """

    global_length: int
    row_radius: int
    column_radius: int
    reached: dict[str, float]
    compared: float


def cheapest(context: TableContext, share: float) -> GlobalAndRadii:
    """The settings of `mate_efficient` with a coverage of `share` that compare the fewest pairs.

    The global section holds the longest question; larger ones, with the tokens that come first in
    the order of rows or columns, are tried too: they can make up for a smaller radius.

    Args:
        context: the data set, <int>[examples, seq] each, with at least one table; seq is the
            length that the model is run with.
        share: of the pairs that each type of heads sees in `mate_exact`; above 0, at most 1.

    Raises:
        InputError: a share out of range.
    """
    if not 0 < share <= 1:
        raise InputError(f"share must be above 0 and at most 1, not {share}")
    context = context.map(np.asarray)
    seq = context.input_mask.shape[1]
    question, found = longest_question(context), []
    for factor in _GLOBAL_LENGTHS:
        global_length = min(round(question * factor), seq)
        radii, reached = {}, {}
        for kind in ("row", "column"):
            radii[kind], reached[kind] = smallest_radius(
                context.tensors, kind, global_length, share
            )
        compared = np.mean([compared_pairs(seq, global_length, r) for r in radii.values()])
        found.append(
            GlobalAndRadii(
                global_length, radii["row"], radii["column"], reached, float(compared / seq**2)
            )
        )
    return min(found, key=lambda settings: settings.compared)


def longest_question(context: TableContext) -> int:
    """Tokens of the longest question, at least 1."""
    question = (context.segment_ids == 0) & padding.real_tokens(context.input_mask)
    return max(int(question.sum(1).max()), 1)


def smallest_radius(features, kind: str, global_length: int, share: float) -> tuple[int, float]:
    """The smallest radius whose coverage is `share`, and what share it reaches.

    It is found by bisection, as if larger radii never reached less; where the borders of buckets
    fall makes that almost so.

    Args:
        features: what `coverage` takes.
        kind: "row" or "column", the type of heads.
        global_length: G.
        share: between 0 and 1.
    """

    def reach(radius: int) -> float:
        return coverage(features, global_length, radius, radius, head_type=kind)

    # a window of that many tokens holds any row and any column
    longest = int(padding.real_tokens(features["input_mask"]).sum(1).max())
    radius = _bisect(lambda radius: reach(radius) >= share, MIN_RADIUS, max(longest, MIN_RADIUS))
    return radius, reach(radius)


def _bisect(enough: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number that is enough, between one that may be and one that is."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
