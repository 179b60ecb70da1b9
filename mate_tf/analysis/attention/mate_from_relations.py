"""Settings of MATE that are most similar to masks learned by relation.

Heads of `relation_mask` learn to attend to rows or columns. `mate_efficient` has row heads and
column heads, with buckets of limited reach. Share of row heads, radii and global length are
computed from the learned alpha and the tables of a data set.
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
    """Result of `suggest`.

    Attributes:
        row_heads: <bool>[heads], the learned heads that are like row heads.
        kept: <bool>[heads, relations], the relations that each head keeps.
        attention: config of `mate_efficient`.
        reached: "row" and "column", if there are such heads -> share of the kept pairs within the
            radius, among the pairs that MATE's heads of this type can attend to. Pairs with the
            question are included.
        seen: share of all kept pairs that MATE's heads can attend to with an unlimited radius.
    """

    row_heads: np.ndarray
    kept: np.ndarray
    attention: AttentionConfig
    reached: dict[str, float]
    seen: float


def suggest(alpha, context: TableContext, share: float = 0.99) -> MateSettings:
    """Computes settings of MATE for learned heads on the tables of a data set.

    A head is a row head if its alpha of "same row" is larger than that of "same column". Each type
    gets the smallest radius that covers `share` of the pairs its heads keep: pairs within a row or
    column or, if no head keeps those, within a cell. The radius is found by bisection. Coverage
    almost never decreases with the radius; only the borders of buckets can make it do so. The
    global length is that of the longest question.

    Args:
        alpha: <float>[heads, relations]; relations above 0 are kept.
        context: TableContext of the data set, <int>[examples, seq] each, with at least one table.
        share: share of the kept pairs to cover, between 0 and 1.
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
    """Returns the `row_heads_ratio` for a number of row heads, which MATE rounds down."""
    short = round(num_row_heads / num_heads, 4)
    return short if int(num_heads * short) == num_row_heads else (num_row_heads + 0.5) / num_heads


def count_pairs(context: TableContext) -> np.ndarray:
    """Counts pairs of real tokens by relation, over all examples: <int>[relations].

    Args:
        context: TableContext of the data set, <int>[examples, seq] each.
    """
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
    """Returns features for `coverage`, in which kept pairs have equal ids.

    For heads that keep cells only, ids are numbers of cells, sorted by row or column as MATE sorts
    the tokens.
    """
    features = context.tensors
    if by_cell:
        own, other = features[f"{kind}_ids"], {"row": context.column_ids, "column": context.row_ids}
        features[f"{kind}_ids"] = own.astype(np.int64) * (other[kind].max() + 1) + other[kind]
    return features


def _seen(kept, row_heads, context) -> float:
    """Returns the share of kept pairs with a relation that MATE's heads of the type attend to."""
    by_type = np.zeros([2, len(RELATIONS)], bool)
    by_type[0, list(SEEN_BY_COLUMN_HEADS)] = by_type[1, list(SEEN_BY_ROW_HEADS)] = True
    seen, pairs = kept & by_type[row_heads.astype(int)], count_pairs(context)
    total = (kept * pairs).sum()
    return float((seen * pairs).sum() / total) if total else 1.0
