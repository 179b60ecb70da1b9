"""Options of MATE and its types of heads."""

import dataclasses

from mate_tf.field_types import Share, Tokens, TokensOrZero

BUCKETS_PER_BLOCK = 2
"""Buckets of queries in one matmul: more multiplications, but larger matmuls."""


@dataclasses.dataclass(frozen=True)
class MateOptions:
    """Options of `mate_efficient`.

    Attributes:
        global_length: G, the first tokens of each order; they attend to all and all to them.
        radius: R, size of a bucket; tokens attend to their own bucket and its two neighbours.
        row_radius: R of the row heads; None = `radius`.
        column_radius: R of the column heads; None = `radius`.
        row_heads_ratio: share of row heads, rounded down; they come first.
        diagonal: whether tokens attend to themselves. If not, each example needs two question
            tokens, such as [CLS] and [SEP]: then every token attends to another one.
    """

    global_length: TokensOrZero = 116
    radius: Tokens = 42
    row_radius: Tokens | None = None
    column_radius: Tokens | None = None
    row_heads_ratio: Share = 0.5
    diagonal: bool = True


@dataclasses.dataclass(frozen=True)
class MateExactOptions(MateOptions):
    """Options of `mate_exact`; G and R have an effect only if `windowed`.

    Attributes:
        windowed: whether to mask pairs that `mate_efficient` with the same G and R does not reach.
    """

    windowed: bool = False


@dataclasses.dataclass(frozen=True)
class HeadType:
    """Row heads or column heads.

    Attributes:
        ids: name of the ids that they compare, "row_ids" or "column_ids".
        first: number of the first head.
        count: number of heads.
        radius: R.
    """

    ids: str
    first: int
    count: int
    radius: int


def head_types(config, num_heads: int) -> list[HeadType]:
    """Returns the types of heads that have at least one head, row heads first."""
    rows = int(num_heads * config.row_heads_ratio)
    row_radius, column_radius = (
        config.radius if radius is None else radius
        for radius in (config.get("row_radius"), config.get("column_radius"))
    )
    both = (
        HeadType("row_ids", 0, rows, row_radius),
        HeadType("column_ids", rows, num_heads - rows, column_radius),
    )
    return [head_type for head_type in both if head_type.count]


def has_diagonal(config) -> bool:
    """Returns whether tokens attend to themselves."""
    return config.get("diagonal", True)


def compared_pairs(length: int, global_length: int, radius: int) -> int:
    """Returns the pairs of tokens that a head of `mate_efficient` compares (paper, section 3.1).

    G queries are compared with all keys, the others with G + 3 R. No more pairs than those of full
    attention: where a window would be as long as the sequence, there are no buckets.
    """
    tail = max(length - global_length, 0)
    return min(global_length * length + tail * (global_length + 3 * radius), length**2)


def window_length(global_length: int, kinds: list[HeadType]) -> int:
    """Returns the number of keys of a block."""
    return global_length + (BUCKETS_PER_BLOCK + 2) * max(kind.radius for kind in kinds)
