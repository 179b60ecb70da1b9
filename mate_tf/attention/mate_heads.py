"""Options of MATE, its types of heads, and the tensors that its patterns compute."""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks


@dataclasses.dataclass(frozen=True)
class MateOptions:
    """Options of `mate_efficient`.

    Attributes:
        global_length: G, the first tokens of each order; they attend to all and all to them.
        radius: R, size of a bucket; tokens attend to their own bucket and the two beside it.
        row_radius: R of the row heads; None = `radius`.
        column_radius: R of the column heads; None = `radius`.
        row_heads_ratio: share of row heads, rounded down; they come first.
        diagonal: whether tokens attend to themselves. If not, each example needs two question
            tokens, such as [CLS] and [SEP]: then every token attends to another one.
    """

    global_length: int = 116
    radius: int = 42
    row_radius: int | None = None
    column_radius: int | None = None
    row_heads_ratio: float = 0.5
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


class ChunkTensors(NamedTuple):
    """Chunks of the keys of packed examples' global tokens.

    Attributes:
        examples: <int32>[chunks], the example of each chunk, among those that have blocks.
        num_examples: number of these examples, an int or an <int32>[].
    """

    examples: tf.Tensor
    num_examples: tf.Tensor | int


class ShortTensors(NamedTuple):
    """Indices and masks of a group of packed examples that are short.

    Attributes:
        indices: <int32>[examples, heads, tokens], those of `views`.
        bias: <float>[examples, 1, tokens, tokens].
    """

    indices: tf.Tensor
    bias: tf.Tensor


class HeadTypeTensors(NamedTuple):
    """Indices and masks of one type of heads; indices are those of `views`.

    Global tokens are compared with chunks of keys. There are several for a packed example; else
    each example has one with the whole sequence.

    Attributes:
        full: <int32>[chunks, heads, keys], indices of each chunk.
        global_: <int32>[chunks, heads, global_length], indices of the first ranks of its example.
        long: <int32>[blocks, heads, block], indices of each block.
        window: <int32>[blocks, heads, window], indices of the keys of each block.
        bias: <float>[blocks, 1, block, window].
        global_bias: <float>[chunks, 1, global_length, keys].
        tokens: HeadTokens of [batch, seq].
        short: ShortTensors of the packed examples that have no blocks.
    """

    full: tf.Tensor
    global_: tf.Tensor
    long: tf.Tensor
    window: tf.Tensor
    bias: tf.Tensor
    global_bias: tf.Tensor
    tokens: masks.HeadTokens
    short: tuple[ShortTensors, ...] = ()


class BucketTensors(NamedTuple):
    """Tensors by which `MateEfficient` computes buckets.

    Attributes:
        head_types: HeadTypeTensors of each type of heads.
        restore: <int32>[batch, seq, heads], numbers of the outputs, for `views.gather_back`.
        overflow: <bool>[], whether a question is longer than G; None if packed examples with such
            a question are computed by masks.
        chunks: ChunkTensors of packed examples; None if not packed.
    """

    head_types: tuple[HeadTypeTensors, ...]
    restore: tf.Tensor
    overflow: tf.Tensor | None
    chunks: ChunkTensors | None = None


class MateTensors(NamedTuple):
    """Tensors of the patterns of MATE: masks, or buckets, or both where that is known later.

    Attributes:
        real: <float>[batch, seq, 1, 1], 0 for padding, whose output is zero.
        biases: for each type of heads <float>[batch, 1, queries, keys]; None with buckets alone;
            with both, they have no queries and keys unless `dense`.
        buckets: BucketTensors; None if computed by masks.
        dense: <bool>[], whether to compute by masks; None unless there are both.
    """

    real: tf.Tensor
    biases: tuple[tf.Tensor, ...] | None = None
    buckets: BucketTensors | None = None
    dense: tf.Tensor | None = None


def compared_pairs(length: int, global_length: int, radius: int) -> int:
    """Returns the pairs of tokens that a head of `mate_efficient` compares (paper, section 3.1).

    G queries are compared with all keys, the others with G + 3 R. No more pairs than those of full
    attention: where a window would be as long as the sequence, there are no buckets.
    """
    tail = max(length - global_length, 0)
    return min(global_length * length + tail * (global_length + 3 * radius), length**2)
