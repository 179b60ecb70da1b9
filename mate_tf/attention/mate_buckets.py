"""Buckets of `mate_efficient`: the blocks of queries and the keys they meet (MATE, section 3.1)."""

from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks, views
from mate_tf.attention.masked_scores import mask_bias
from mate_tf.attention.mate_heads import (
    BucketTensors,
    ChunkTensors,
    HeadType,
    HeadTypeTensors,
    has_diagonal,
)
from mate_tf.layers.shapes import shape_list
from mate_tf.layers.xla import within_xla

BUCKETS_PER_BLOCK = 2
"""Buckets of queries in one matrix product: more multiplications, but larger products."""


class BucketLayout:
    """Layout of the buckets of a batch: orders of the tokens, global tokens and blocks.

    Queries behind the global part are computed in blocks of several buckets. The keys of a block
    are the global tokens, the block and one bucket on either side, masked to the buckets' windows.
    The last block is padded with entries that stand for no token.

    Packed examples have a global part each. They are laid out as if each were alone. Then blocks
    without a token are left out, and indices are those of the tokens in the shared sequences. The
    keys of the global tokens are cut into chunks, so that short examples do not compute as many as
    long ones. Within XLA there are as many blocks and chunks as the sequences can need.

    Args:
        context: the TableContext; packed if it has `examples`.
        config: the AttentionConfig.
        kinds: the types of heads.
        num_heads: heads of a layer.
        dtype: dtype of the biases.
    """

    def __init__(self, context, config, kinds: list[HeadType], num_heads: int, dtype):
        self._packed = context.examples
        self._own = context if self._packed is None else self._packed.context
        self._config, self._kinds, self._num_heads, self._dtype = config, kinds, num_heads, dtype
        self._batch, self._seq = shape_list(self._own.row_ids)
        sequences, seq = shape_list(context.row_ids)
        self._capacity = sequences * seq
        self._real = masks.real_tokens(self._own)
        self._chunk, self._chunks = self._seq, None
        if self._packed is not None:
            self._chunk = window_length(config.global_length, kinds)
            self._chunks = self._pieces(0, self._chunk, least=1)

    def tensors(self) -> BucketTensors:
        """Computes the tensors of all types of heads."""
        parts, restore, num_outputs = [], [], 0
        for kind in self._kinds:
            part, own_restore, own_outputs = self._head_type(kind)
            parts.append(part)
            restore.append(own_restore + num_outputs)
            num_outputs += own_outputs
        # [batch, seq, heads]; padding reads the zeros behind all outputs
        restore = tf.concat(restore, axis=-1)
        restore = tf.where(self._real[:, :, None], restore, num_outputs)
        chunks = None
        if self._packed is not None:
            # [batch, seq, heads] -> [batch * seq + 1, heads] -> [sequences, seq, heads]
            restore = tf.reshape(restore, [-1, restore.shape[-1]])
            restore = tf.concat([restore, tf.fill([1, restore.shape[-1]], num_outputs)], axis=0)
            restore = tf.gather(restore, self._packed.come_from)
            chunks = ChunkTensors(self._chunks.examples, self._batch)
        question_length = tf.reduce_sum(tf.cast(masks.question_tokens(self._own), tf.int32), -1)
        overflow = tf.reduce_any(question_length > self._config.global_length)
        return BucketTensors(tuple(parts), restore, overflow, chunks)

    def _head_type(self, kind: HeadType):
        """Computes the tensors of one type, the numbers of its outputs, and how many there are."""
        ids = getattr(self._own, kind.ids)
        num_global, radius = self._config.global_length, kind.radius
        block = BUCKETS_PER_BLOCK * radius
        blocks = self._pieces(num_global, block)
        order = masks.sort_order(self._own, ids)
        rank = masks.inverse_permutation(order)
        tokens = masks.head_tokens(self._own, ids, masks.buckets(rank, num_global, radius))

        # Positions by rank, padded to [global | radius | blocks | radius]; -1 = no token
        length = num_global + shape_list(blocks.places)[1] * block
        padded = tf.pad(order, [[0, 0], [0, length - self._seq]], constant_values=-1)
        first = padded[:, :num_global]
        tail = tf.pad(padded[:, num_global:], [[0, 0], [radius, radius]], constant_values=-1)

        # [blocks, global_length + block + 2 * radius]
        window = _cut(tail, blocks, block, block + 2 * radius)
        window = tf.concat([tf.gather(first, blocks.examples), window], axis=-1)
        # [blocks, block]
        own = window[:, num_global + radius : -radius]

        in_window = _take(tokens, window, blocks.examples)
        in_block = masks.HeadTokens(*(x[:, num_global + radius : -radius] for x in in_window))

        # [chunks, global_length] and [chunks, keys]
        if self._chunks is None:
            examples = tf.range(self._batch)
            keys = tf.broadcast_to(tf.range(self._seq), [self._batch, self._seq])
        else:
            examples = self._chunks.examples
            length = shape_list(self._chunks.places)[1] * self._chunk
            keys = tf.pad(order, [[0, 0], [0, length - self._seq]], constant_values=-1)
            keys = _cut(keys, self._chunks, self._chunk, self._chunk)
            first = tf.gather(first, examples)
        in_first, in_keys = _take(tokens, first, examples), _take(tokens, keys, examples)
        part = HeadTypeTensors(
            full=self._indices(kind, keys, examples),
            global_=self._indices(kind, first, examples),
            long=self._indices(kind, own, blocks.examples),
            window=self._indices(kind, window, blocks.examples),
            bias=self._bias(in_block, in_window),
            global_bias=self._bias(in_first, in_keys),
            tokens=tokens,
        )
        restore, num_outputs = self._outputs(rank, blocks, block, kind)
        return part, restore, num_outputs

    def _pieces(self, first: int, size: int, least: int = 0) -> "_Pieces":
        """Cuts the ranks of each example, from `first` on, into pieces of `size` ranks.

        Args:
            first: first rank.
            size: ranks of a piece.
            least: number of the first pieces of each packed example that are kept in any case.
        """
        count = _ceil_div(_at_least(self._seq - first, 1), size)
        pieces = tf.range(self._batch * count)
        places = tf.reshape(pieces, [-1, count])
        if self._packed is not None:
            lengths = tf.reduce_sum(tf.cast(self._real, tf.int32), axis=1)
            number = tf.range(count)
            kept = (first + number * size < lengths[:, None]) | (number < least)
            kept = tf.reshape(kept, [-1])
            places = tf.reshape(tf.cumsum(tf.cast(kept, tf.int32)) - 1, [-1, count])
            if within_xla():
                # An example of n ranks more than `first` has (n + size - 1) // size pieces.
                most = (self._capacity + self._batch * max(size - 1 - first, least * size)) // size
                pieces = tf.argsort(tf.cast(kept, tf.int32), direction="DESCENDING", stable=True)
                pieces = pieces[:most]
            else:
                pieces = tf.cast(tf.where(kept)[:, 0], tf.int32)
        return _Pieces(pieces // count, pieces % count, places)

    def _indices(self, kind: HeadType, positions, examples):
        """Returns the indices of a type's heads; those of no token are of any token."""
        in_batch = examples[:, None] * self._seq + tf.maximum(positions, 0)
        if self._packed is not None:
            to = tf.minimum(tf.reshape(self._packed.to, [-1]), self._capacity - 1)
            in_batch = tf.gather(to, in_batch)
        return views.head_indices(in_batch, kind.first, kind.count, self._num_heads)

    def _bias(self, queries: masks.HeadTokens, keys: masks.HeadTokens):
        visible = masks.visible(queries, keys, has_diagonal(self._config))
        return mask_bias(visible[:, None], self._dtype)

    def _outputs(self, rank, blocks: "_Pieces", block: int, kind: HeadType):
        """Numbers the outputs of one type: those of the global tokens first, then the blocks'.

        Returns:
            The number of each token's output, <int32>[batch, seq, heads], and how many there are.
        """
        num_global = self._config.global_length
        heads = tf.range(kind.count)
        example = tf.range(self._batch)[:, None, None]
        # In [batch, heads, global_length]
        in_first = (example * kind.count + heads) * num_global + rank[:, :, None]
        # In [blocks, heads, block]
        tail = tf.maximum(rank - num_global, 0)
        place = tf.gather(blocks.places, tail // block, batch_dims=1)
        in_block = (place[:, :, None] * kind.count + heads) * block + tail[:, :, None] % block
        num_first = self._batch * kind.count * num_global
        numbers = tf.where(rank[:, :, None] < num_global, in_first, num_first + in_block)
        return numbers, num_first + shape_list(blocks.examples)[0] * kind.count * block


class _Pieces(NamedTuple):
    """Pieces of examples: runs of ranks of equal size.

    Attributes:
        examples: <int32>[pieces], the example of each piece.
        numbers: <int32>[pieces], its number among the pieces of its example.
        places: <int32>[batch, count], the number of each example's pieces among all pieces; any
            number if it was left out.
    """

    examples: tf.Tensor
    numbers: tf.Tensor
    places: tf.Tensor


def window_length(global_length: int, kinds: list[HeadType]) -> int:
    """Returns the number of keys of a block."""
    return global_length + (BUCKETS_PER_BLOCK + 2) * max(kind.radius for kind in kinds)


def dense_is_cheaper(seq, global_length: int, kinds: list[HeadType]):
    """Returns whether a window of buckets is no shorter than a sequence.

    A bool for an int `seq`, the number of tokens; <bool>[] for an <int32>[] tensor.
    """
    return seq <= window_length(global_length, kinds)


def _cut(positions, pieces: _Pieces, step: int, size: int):
    """Cuts pieces of lists that begin `step` apart: [batch, n] -> <int32>[pieces, size]."""
    begins = pieces.examples * shape_list(positions)[1] + pieces.numbers * step
    return tf.gather(tf.reshape(positions, [-1]), begins[:, None] + tf.range(size))


def _take(tokens: masks.HeadTokens, positions, examples) -> masks.HeadTokens:
    """Gathers tokens by position.

    Args:
        tokens: HeadTokens of [batch, seq].
        positions: <int32>[a, n]; the token of a negative position is not real.
        examples: <int32>[a], the example of each list of positions.

    Returns:
        HeadTokens of [a, n].
    """
    index = examples[:, None] * shape_list(tokens.ids)[1] + tf.maximum(positions, 0)
    taken = masks.HeadTokens(*(tf.gather(tf.reshape(part, [-1]), index) for part in tokens))
    exists = positions >= 0
    return taken._replace(real=taken.real & exists, question=taken.question & exists)


def _at_least(size, minimum: int):
    return max(size, minimum) if isinstance(size, int) else tf.maximum(size, minimum)


def _ceil_div(size, divisor: int):
    return -(-size // divisor)
