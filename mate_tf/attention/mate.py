"""MATE: heads that attend within rows, and heads that attend within columns.

Eisenschlos et al., "MATE: Multi-view Attention for Table Transformer Efficiency", EMNLP 2021.

Section 3: a row head lets a token attend to the tokens of its row, a column head to those of its
column. Every token attends to the question, and the question attends to every token. `mate_exact`
computes this by masks, in time quadratic in the length.

Section 3.1: sorted by row (or column), tokens that attend to each other stand close together, and
the mask is nearly a band. `MateWindows` computes the band alone, in linear time. For each head:

1. Sort the tokens: the question first, then the table by the ids that the head compares.
2. The first G tokens of this order are the global part. They attend to all, and all to them.
3. The others are cut into buckets of R tokens. Each attends to its own bucket and to the buckets
   on either side, under the mask, since these may have tokens of other rows.
4. Put the outputs back into the order of the input.
"""

from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks, sorted_views
from mate_tf.attention.mask_rows import mask_bias
from mate_tf.attention.mate_exact import MateExact
from mate_tf.attention.mate_heads import BUCKETS_PER_BLOCK, HeadType, has_diagonal
from mate_tf.layers.shapes import shape_list


class HeadWindows(NamedTuple):
    """Windows of one type of heads; indices are those of `views`.

    Attributes:
        global_: <int32>[batch, heads, G], the global part.
        all: <int32>[batch, heads, seq], all tokens, which it attends to.
        global_bias: <float>[batch, 1, G, seq].
        block: <int32>[batch * blocks, heads, block], the other tokens, several buckets in a block.
        window: <int32>[batch * blocks, heads, G + block + 2 * R], what these attend to: the global
            part, the block, and a bucket on either side.
        bias: <float>[batch * blocks, 1, block, G + block + 2 * R].
        tokens: HeadTokens of [batch, seq], which the masks are made of.
    """

    global_: tf.Tensor
    all: tf.Tensor
    global_bias: tf.Tensor
    block: tf.Tensor
    window: tf.Tensor
    bias: tf.Tensor
    tokens: masks.HeadTokens


class WindowTensors(NamedTuple):
    """Tensors of all types of heads.

    Attributes:
        head_types: HeadWindows of each type.
        restore: <int32>[batch, seq, heads], numbers of the outputs, for `sorted_views.gather_back`.
    """

    head_types: tuple[HeadWindows, ...]
    restore: tf.Tensor


class MateWindows(MateExact):
    """MATE in linear time, for examples whose question has at most G tokens.

    `mate_forms.MateEfficient` is this with other forms for other inputs.
    """

    def by_windows(self, query, key, value, windows: WindowTensors, seed, training):
        """Computes all types of heads; a seed makes their dropout the same in each call."""
        outputs = []
        for part in windows.head_types:
            q = sorted_views.gather_views(query, global_=part.global_, long=part.block)
            k, v = (
                sorted_views.gather_views(x, full=part.all, window=part.window)
                for x in (key, value)
            )
            for operands in (
                (q.global_, k.full, v.full, part.global_bias),
                (q.long, k.window, v.window, part.bias),
            ):
                # Each matmul drops other probabilities.
                own_seed = None if seed is None else seed + tf.constant([0, len(outputs)])
                outputs.append(self.softmax_attention(*operands, training, own_seed))
        return sorted_views.gather_back(outputs, windows.restore)


def windows(context, config, kinds: list[HeadType], num_heads: int, dtype) -> WindowTensors:
    """Computes the tensors of `MateWindows`.

    Args:
        context: the TableContext.
        config: options of MATE.
        kinds: the types of heads.
        num_heads: their heads together.
        dtype: dtype of the biases.
    """
    parts, restore, num_outputs = [], [], 0
    for kind in kinds:
        part, number, count = _windows_of_type(context, config, kind, num_heads, dtype)
        parts.append(part)
        restore.append(number + num_outputs)
        num_outputs += count
    # [batch, seq, heads]; padding reads the zeros behind all outputs
    real = masks.real_tokens(context)[:, :, None]
    restore = tf.where(real, tf.concat(restore, axis=-1), num_outputs)
    return WindowTensors(tuple(parts), restore)


def _windows_of_type(context, config, kind: HeadType, num_heads: int, dtype):
    """Returns the windows of one type, the numbers of its outputs <int32>[batch, seq, heads], and
    how many there are.
    """
    batch, seq = shape_list(context.row_ids)
    first, radius, block = config.global_length, kind.radius, BUCKETS_PER_BLOCK * kind.radius
    blocks = num_blocks(seq, first, radius)

    # 1. The position of each rank in the order, and the rank of each position.
    ids = getattr(context, kind.ids)
    order = masks.sort_order(context, ids)
    rank = masks.inverse_permutation(order)
    tokens = masks.head_tokens(context, ids, masks.buckets(rank, first, radius))

    # 2. and 3. [global | R | blocks | R], where -1 stands for no token
    order = tf.pad(order, [[0, 0], [0, first + blocks * block - seq]], constant_values=-1)
    global_, tail = order[:, :first], order[:, first:]
    tail = tf.pad(tail, [[0, 0], [radius, radius]], constant_values=-1)
    begins = tf.range(blocks)[:, None] * block
    # [batch, blocks, block + 2 * R] -> [batch, blocks, G + block + 2 * R]
    window = tf.gather(tail, begins + tf.range(block + 2 * radius), axis=1)
    window = tf.concat([tf.repeat(global_[:, None], blocks, axis=1), window], axis=-1)
    queries = window[:, :, first + radius : -radius]
    everything = tf.broadcast_to(tf.range(seq), [batch, seq])

    def indices(positions):
        in_batch = tf.range(batch)[:, None, None] * seq + tf.maximum(positions, 0)
        in_batch = tf.reshape(in_batch, [-1, shape_list(positions)[2]])
        return sorted_views.head_indices(in_batch, kind.first, kind.count, num_heads)

    def bias(queries, keys):
        visible = masks.visible(_take(tokens, queries), _take(tokens, keys), has_diagonal(config))
        return mask_bias(tf.reshape(visible, [-1, 1, *shape_list(visible)[2:]]), dtype)

    global_, everything = global_[:, None], everything[:, None]
    part = HeadWindows(
        indices(global_), indices(everything), bias(global_, everything),
        indices(queries), indices(window), bias(queries, window), tokens,
    )  # fmt: skip

    # 4. Outputs are numbered through [batch, heads, G] and then [batch, blocks, heads, block].
    rank, example = rank[:, :, None], tf.range(batch)[:, None, None]
    head, behind = tf.range(kind.count), tf.maximum(rank - first, 0)
    of_global = (example * kind.count + head) * first + rank
    of_block = ((example * blocks + behind // block) * kind.count + head) * block + behind % block
    num_global = batch * kind.count * first
    number = tf.where(rank < first, of_global, num_global + of_block)
    return part, number, num_global + batch * blocks * kind.count * block


def num_blocks(seq, global_length: int, radius: int):
    """Returns the number of blocks of a sequence, an int or an <int32>[] like `seq`."""
    tail = seq - global_length
    tail = max(tail, 1) if isinstance(tail, int) else tf.maximum(tail, 1)
    return -(-tail // (BUCKETS_PER_BLOCK * radius))


def _take(tokens: masks.HeadTokens, positions) -> masks.HeadTokens:
    """Gathers tokens by positions <int32>[batch, ...]; those of negative ones are not real."""
    index, exists = tf.maximum(positions, 0), positions >= 0
    taken = masks.HeadTokens(*(tf.gather(part, index, batch_dims=1) for part in tokens))
    return taken._replace(real=taken.real & exists, question=taken.question & exists)
