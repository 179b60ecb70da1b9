"""From masks learned by relation to the settings of MATE that come closest to them.

Heads that `relation_mask` has learned see rows or columns; `mate_efficient` has heads for either,
and buckets that reach only so far. What share of row heads, what radii and what global length the
learned heads ask for, follows from their alpha and from the tables of a data set.
"""

from typing import NamedTuple

import numpy as np

from mate_tf.analysis.attention.mate_settings import longest_question, smallest_radius
from mate_tf.attention import AttentionConfig, TableContext
from mate_tf.attention.relation_mask import (
    CELL,
    COLUMN,
    HEADER,
    QUESTION,
    RELATIONS,
    ROW,
    relations,
)
from mate_tf.data import padding

SEEN_BY_ROW_HEADS = (CELL, ROW, QUESTION)
SEEN_BY_COLUMN_HEADS = (CELL, COLUMN, HEADER, QUESTION)

_AT_A_TIME = 32


class MateSettings(NamedTuple):
    """What `suggest` says.

    Attributes:
        row_heads: <bool>[heads], which of the learned heads are like row heads.
        kept: <bool>[heads, relations], what they keep.
        attention: config of `mate_efficient`.
        reached: "row" and "column", those that there are of -> share that the radius reaches of
            what such heads keep and MATE's can see, pairs with the question included.
        seen: share of all kept pairs that MATE's heads see, whatever the radius.
    """

    row_heads: np.ndarray
    kept: np.ndarray
    attention: AttentionConfig
    reached: dict[str, float]
    seen: float


def suggest(alpha, context: TableContext, share: float = 0.99) -> MateSettings:
    """The settings of MATE for learned heads on the tables of a data set.

    A head is a row head if its alpha of "same row" is above that of "same column". Each type gets
    the smallest radius with which `share` of what its heads keep is reached: all of a row or a
    column or, if none of them keeps these, of a cell. It is found by bisection, as if larger radii
    never reached less; where the borders of buckets fall makes that almost so. The global length is
    that of the longest question.

    Args:
        alpha: <float>[heads, relations]; what is above 0 is kept.
        context: the data set, <int>[examples, seq] each, with at least one table.
        share: of the kept pairs, between 0 and 1.
    """
    alpha = np.asarray(alpha)
    context = context.map(np.asarray)
    kept = alpha > 0
    row_heads = alpha[:, ROW] > alpha[:, COLUMN]
    global_length = longest_question(context)
    radii, reached = {}, {}
    for kind, heads, lines in (
        ("row", row_heads, [ROW]),
        ("column", ~row_heads, [COLUMN, HEADER]),
    ):
        if heads.any():
            groups = _grouped(context, kind, by_cell=not kept[heads][:, lines].any())
            radii[kind], reached[kind] = smallest_radius(groups, kind, global_length, share)
    smallest = min(radii.values())
    return MateSettings(
        row_heads,
        kept,
        AttentionConfig(
            name="mate_efficient",
            global_length=global_length,
            radius=smallest,
            row_radius=radii.get("row", smallest),
            column_radius=radii.get("column", smallest),
            row_heads_ratio=ratio(int(row_heads.sum()), len(row_heads)),
        ),
        reached,
        _seen(kept, row_heads, context),
    )


def ratio(num_row_heads: int, num_heads: int) -> float:
    """The `row_heads_ratio` that gives so many row heads, which is rounded down in MATE."""
    short = round(num_row_heads / num_heads, 4)
    return short if int(num_heads * short) == num_row_heads else (num_row_heads + 0.5) / num_heads


def count_pairs(context: TableContext) -> np.ndarray:
    """Pairs of real tokens by relation, over all examples: <int>[relations]."""
    total = np.zeros(len(RELATIONS), np.int64)
    for start in range(0, len(context.input_mask), _AT_A_TIME):
        part = TableContext(
            **{name: ids[start : start + _AT_A_TIME] for name, ids in context.tensors.items()}
        )
        longest = int(padding.real_tokens(part.input_mask).sum(1).max(initial=0))
        part = TableContext(**{name: ids[:, :longest] for name, ids in part.tensors.items()})
        real = padding.real_tokens(part.input_mask)
        found = relations(part).numpy()[real[:, :, None] & real[:, None, :]]
        total += np.bincount(found, minlength=len(RELATIONS))
    return total


def _grouped(context, kind: str, by_cell: bool) -> dict:
    """Features for `coverage`: what heads of a kind keep is what has the same id.

    Ids of cells are in the order of the rows or columns that they are in, so that heads which keep
    cells only are measured in the order in which MATE has the tokens.
    """
    features = context.tensors
    if by_cell:
        own, other = features[f"{kind}_ids"], {"row": context.column_ids, "column": context.row_ids}
        features[f"{kind}_ids"] = own.astype(np.int64) * (other[kind].max() + 1) + other[kind]
    return features


def _seen(kept, row_heads, context) -> float:
    """Share of the kept pairs whose relation is one that the head's type of MATE sees."""
    by_type = np.zeros([2, len(RELATIONS)], bool)
    by_type[0, list(SEEN_BY_COLUMN_HEADS)] = by_type[1, list(SEEN_BY_ROW_HEADS)] = True
    seen, pairs = kept & by_type[row_heads.astype(int)], count_pairs(context)
    total = (kept * pairs).sum()
    return float((seen * pairs).sum() / total) if total else 1.0
