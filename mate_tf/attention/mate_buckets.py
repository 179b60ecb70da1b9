"""Buckets of `mate_efficient`: the blocks of queries and the keys they meet (MATE, section 3.1)."""

import contextlib
import contextvars
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks, views
from mate_tf.attention.mask_rows import mask_bias
from mate_tf.attention.mate_heads import (
    BucketTensors,
    ChunkTensors,
    HeadType,
    HeadTypeTensors,
    ShortTensors,
    has_diagonal,
)
from mate_tf.layers.framework import within_xla
from mate_tf.layers.shapes import shape_list

BUCKETS_PER_BLOCK = 2
"""Buckets of queries in one matrix product: more multiplications, but larger products."""

SHORT_INPUT = 448
"""Tokens up to which masks are no slower than windows, as measured with width 384 on a CPU."""

_short_inputs = contextvars.ContextVar("short_inputs", default=None)

SHORT_BLOCKS = 4
"""Blocks of the longest packed examples of which all pairs are computed: by time as measured."""


class BucketLayout:
    """Layout of the buckets of a batch: orders of the tokens, global tokens and blocks.

    Queries behind the global part are computed in blocks of several buckets. The keys of a block
    are the global tokens, the block and one bucket on either side, masked to the buckets' windows.
    The last block is padded with entries that stand for no token.

    Packed examples have a global part each. They are laid out as if each were alone. Then blocks
    without a token are left out, and indices are those of the tokens in the shared sequences. The
    keys of the global tokens are cut into chunks, so that an example does not compute as many as
    the longest one. Examples of `SHORT_BLOCKS` blocks or fewer have none in fact: all their pairs
    are computed, in groups of similar length. Within XLA, which knows no lengths, all examples have
    blocks, and there are as many blocks and chunks as the sequences can need.

    Args:
        context: the TableContext; packed if it has `examples`.
        kinds: the types of heads.
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
        self._lengths = tf.reduce_sum(tf.cast(self._real, tf.int32), axis=1)
        self._groups = []
        self._by_blocks = tf.fill([self._batch], True)
        self._long = _Pieces.all(self._batch, 1)
        self._chunk, self._chunks = self._seq, self._long
        if self._packed is not None:
            self._chunk = window_length(config.global_length, kinds)
            if not within_xla():
                self._group(max(kind.radius for kind in kinds))
            self._chunks = self._pieces(0, self._chunk)

    def _group(self, radius: int):
        """Makes the groups of short examples; the others have blocks."""
        below = 0
        first, step = self._config.global_length, BUCKETS_PER_BLOCK * radius
        for size in range(first, first + SHORT_BLOCKS * step + 1, step):
            among = (self._lengths > below) & (self._lengths <= size)
            self._groups.append((_at_most(self._seq, size), among, _Pieces.chosen(among[:, None])))
            below = size
        self._by_blocks = self._lengths > below
        self._long = _Pieces.chosen(self._by_blocks[:, None])

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
            of_chunk = tf.gather(self._long.places[:, 0], self._chunks.examples)
            chunks = ChunkTensors(of_chunk, shape_list(self._long.examples)[0])
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
        padded = _padded(order, num_global + shape_list(blocks.places)[1] * block)
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
        examples = self._chunks.examples
        keys = tf.broadcast_to(tf.range(self._seq), [self._batch, self._seq])
        if self._packed is not None:
            keys = _padded(order, shape_list(self._chunks.places)[1] * self._chunk)
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
            short=tuple(
                self._short(kind, order, tokens, size, group.examples)
                for size, _, group in self._groups
            ),
        )
        restore, num_outputs = self._outputs(rank, blocks, block, kind)
        return part, restore, num_outputs

    def _short(self, kind: HeadType, order, tokens, size: int, examples) -> ShortTensors:
        """Computes the tensors of a group of short examples, which have `size` tokens or fewer."""
        positions = tf.gather(order[:, :size], examples)
        own = _take(tokens, positions, examples)
        return ShortTensors(self._indices(kind, positions, examples), self._bias(own, own))

    def _pieces(self, first: int, size: int) -> "_Pieces":
        """Cuts the ranks of each example, from `first` on, into pieces of `size` ranks."""
        count = _ceil_div(_at_least(self._seq - first, 1), size)
        if self._packed is None:
            return _Pieces.all(self._batch, count)
        exist = first + tf.range(count) * size < self._lengths[:, None]
        # An example of n ranks more than `first` has (n + size - 1) // size pieces.
        most = (self._capacity + self._batch * max(size - 1 - first, 0)) // size
        return _Pieces.chosen(exist & self._by_blocks[:, None], most if within_xla() else None)

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
        """Returns each token's output in one type, <int32>[batch, seq, heads], and how many there
        are.
        """
        num_global = self._config.global_length
        tail = tf.maximum(rank - num_global, 0)
        of_block = tf.gather(blocks.places, tail // block, batch_dims=1)
        is_global, by_blocks = rank < num_global, self._by_blocks[:, None]
        # Pieces; of each token the piece, its size, the place within it; whether that is its output
        outputs = [
            (self._long, self._long.places, num_global, rank, by_blocks & is_global),
            (blocks, of_block, block, tail % block, by_blocks & ~is_global),
            *(
                (group, group.places, size, rank, among[:, None])
                for size, among, group in self._groups
            ),
        ]
        numbers, num_outputs = tf.zeros_like(rank)[:, :, None], 0
        for pieces, piece, size, place, chosen in outputs:
            # In [pieces, heads, size]
            in_piece = (piece[:, :, None] * kind.count + tf.range(kind.count)) * size
            number = num_outputs + in_piece + place[:, :, None]
            numbers = tf.where(chosen[:, :, None], number, numbers)
            num_outputs += shape_list(pieces.examples)[0] * kind.count * size
        return numbers, num_outputs


class _Pieces(NamedTuple):
    """Pieces of examples: runs of ranks of equal size.

    For each piece its example and its number in it, <int32>[pieces]; places <int32>[batch, count]
    are the numbers of each example's pieces among all, any number if one was left out.
    """

    examples: tf.Tensor
    numbers: tf.Tensor
    places: tf.Tensor

    @classmethod
    def all(cls, batch, count) -> "_Pieces":
        """Returns `count` pieces of each example."""
        pieces = tf.range(batch * count)
        return cls(pieces // count, pieces % count, tf.reshape(pieces, [-1, count]))

    @classmethod
    def chosen(cls, mask, number: int | None = None) -> "_Pieces":
        """Returns those of the pieces that a mask chooses.

        Args:
            mask: <bool>[batch, count].
            number: how many to return, the chosen ones first; None = as many as were chosen.
        """
        count = shape_list(mask)[1]
        flat = tf.cast(tf.reshape(mask, [-1]), tf.int32)
        places = tf.reshape(tf.cumsum(flat) - 1, [-1, count])
        if number is None:
            pieces = tf.cast(tf.where(flat)[:, 0], tf.int32)
        else:
            pieces = tf.argsort(flat, direction="DESCENDING", stable=True)[:number]
        return cls(pieces // count, pieces % count, places)


def window_length(global_length: int, kinds: list[HeadType]) -> int:
    """Returns the number of keys of a block."""
    return global_length + (BUCKETS_PER_BLOCK + 2) * max(kind.radius for kind in kinds)


@contextlib.contextmanager
def graph_for(short_inputs: bool):
    """Lets a graph for inputs of any length have one form of attention instead of both.

    Its results stay the same. One choice for the whole graph is faster than one in each layer.

    Args:
        short_inputs: True if the graph will only get inputs of at most `SHORT_INPUT` tokens, False
            if it will only get longer ones.
    """
    token = _short_inputs.set(short_inputs)
    try:
        yield
    finally:
        _short_inputs.reset(token)


def known_to_be_dense(global_length: int, kinds: list[HeadType]) -> bool | None:
    """Returns whether a graph within `graph_for` has masks; None if the length must decide."""
    if _short_inputs.get():
        return True
    is_long = _short_inputs.get() is False and window_length(global_length, kinds) <= SHORT_INPUT
    return False if is_long else None


def dense_is_cheaper(seq, global_length: int, kinds: list[HeadType]):
    """Returns whether a window of buckets is no shorter than a sequence.

    A bool for an int `seq`, the number of tokens; <bool>[] for an <int32>[] tensor.
    """
    return seq <= window_length(global_length, kinds)


def _padded(positions, length):
    """Pads [batch, seq] to [batch, length] with -1, which is no token."""
    return tf.pad(positions, [[0, 0], [0, length - shape_list(positions)[1]]], constant_values=-1)


def _cut(positions, pieces: _Pieces, step: int, size: int):
    """Cuts pieces of lists that begin `step` apart: [batch, n] -> <int32>[pieces, size]."""
    begins = pieces.examples * shape_list(positions)[1] + pieces.numbers * step
    return tf.gather(tf.reshape(positions, [-1]), begins[:, None] + tf.range(size))


def _take(tokens: masks.HeadTokens, positions, examples) -> masks.HeadTokens:
    """Gathers tokens by positions <int32>[a, n] in examples [a]; those of negative ones are not
    real.
    """
    index = examples[:, None] * shape_list(tokens.ids)[1] + tf.maximum(positions, 0)
    taken = masks.HeadTokens(*(tf.gather(tf.reshape(part, [-1]), index) for part in tokens))
    exists = positions >= 0
    return taken._replace(real=taken.real & exists, question=taken.question & exists)


def _at_most(size, most: int):
    return min(size, most) if isinstance(size, int) else tf.minimum(size, most)


def _at_least(size, minimum: int):
    return max(size, minimum) if isinstance(size, int) else tf.maximum(size, minimum)


def _ceil_div(size, divisor: int):
    return -(-size // divisor)
