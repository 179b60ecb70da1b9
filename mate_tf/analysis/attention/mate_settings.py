"""Computes the cheapest global length and radii of MATE for a coverage on a data set."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mate_tf.attention import TableContext, coverage
from mate_tf.attention.mate_heads import compared_pairs
from mate_tf.data import padding
from mate_tf.errors import InputError

MIN_RADIUS = 8
"""Smallest radius; smaller buckets are not faster."""

_GLOBAL_LENGTHS = (1.0, 1.5, 2.0, 3.0)  # times the longest question


class GlobalAndRadii(NamedTuple):
    """Result of `cheapest`.

    Attributes:
        global_length: G.
        row_radius: R of the row heads.
        column_radius: R of the column heads.
        reached: "row" and "column" -> coverage of the pairs of these heads in `mate_exact`.
        compared: pairs that `mate_efficient` computes, as a share of those of full attention, with
            as many row heads as column heads.
    """

    global_length: int
    row_radius: int
    column_radius: int
    reached: dict[str, float]
    compared: float


def cheapest(context: TableContext, share: float) -> GlobalAndRadii:
    """Computes the settings of `mate_efficient` with a given coverage and the fewest pairs.

    The global part is at least as long as the longest question. Longer ones are tried too, because
    they can allow smaller radii.

    Args:
        context: TableContext of the data set, <int>[examples, seq] each, with at least one table.
            seq is the model's sequence length.
        share: coverage of the pairs of each type of heads in `mate_exact`; above 0, at most 1.

    Raises:
        InputError: if `share` is out of range.
    """
    if not 0 < share <= 1:
        raise InputError(f"share must be above 0 and at most 1, not {share}")
    context = context.map(np.asarray)
    seq = context.input_mask.shape[1]
    question, candidates = longest_question(context), []
    for factor in _GLOBAL_LENGTHS:
        global_length = min(round(question * factor), seq)
        radii, reached = {}, {}
        for kind in ("row", "column"):
            radii[kind], reached[kind] = smallest_radius(
                context.tensors, kind, global_length, share
            )
        compared = np.mean([compared_pairs(seq, global_length, r) for r in radii.values()])
        candidates.append(
            GlobalAndRadii(
                global_length, radii["row"], radii["column"], reached, float(compared / seq**2)
            )
        )
    return min(candidates, key=lambda settings: settings.compared)


def longest_question(context: TableContext) -> int:
    """Returns the number of tokens of the longest question, at least 1."""
    question = (context.segment_ids == 0) & padding.real_tokens(context.input_mask)
    return max(int(question.sum(1).max()), 1)


def smallest_radius(features, kind: str, global_length: int, share: float) -> tuple[int, float]:
    """Returns the smallest radius with a coverage of `share`, and its coverage.

    The radius is found by bisection. Coverage almost never decreases with the radius; only the
    borders of buckets can make it do so.

    Args:
        features: features for `coverage`: name -> <int>[examples, seq].
        kind: "row" or "column", the type of heads.
        global_length: G.
        share: coverage, between 0 and 1.
    """

    def reach(radius: int) -> float:
        return coverage(features, global_length, radius, radius, head_type=kind)

    # A window of that many tokens contains every row and every column.
    longest = int(padding.real_tokens(features["input_mask"]).sum(1).max())
    radius = _bisect(lambda radius: reach(radius) >= share, MIN_RADIUS, max(longest, MIN_RADIUS))
    return radius, reach(radius)


def _bisect(enough: Callable[[int], bool], low: int, high: int) -> int:
    """Returns the smallest number from `low` to `high` with `enough(number)`; `high` has it."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
