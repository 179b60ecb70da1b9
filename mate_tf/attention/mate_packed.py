"""Packed examples of `mate_efficient`: several in a sequence, each with its own global part."""

import functools
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks, sorted_views
from mate_tf.attention.mask_rows import mask_bias
from mate_tf.attention.mate_heads import BUCKETS_PER_BLOCK, HeadType, has_diagonal, window_length
from mate_tf.layers.framework import within_xla
from mate_tf.layers.shapes import shape_list

SHORT_BLOCKS = 4
"""Blocks of the longest packed examples of which all pairs are computed: by time as measured."""


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


class PackedHeads(NamedTuple):
    """Indices and masks of one type of heads; indices are those of `views`.

    Attributes:
        full: <int32>[chunks, heads, keys], indices of each chunk of keys.
        global_: <int32>[chunks, heads, G], indices of the global part of its example.
        global_bias: <float>[chunks, 1, G, keys].
        long: <int32>[blocks, heads, block], indices of each block.
        window: <int32>[blocks, heads, window], indices of the keys of each block.
        bias: <float>[blocks, 1, block, window].
        short: ShortTensors of the examples that have no blocks.
    """

    full: tf.Tensor
    global_: tf.Tensor
    global_bias: tf.Tensor
    long: tf.Tensor
    window: tf.Tensor
    bias: tf.Tensor
    short: tuple[ShortTensors, ...]


class PackedTensors(NamedTuple):
    """Tensors by which packed examples are computed.

    Attributes:
        head_types: PackedHeads of each type of heads.
        restore: <int32>[sequences, seq, heads], numbers of the outputs, for
            `sorted_views.gather_back`.
        chunks: ChunkTensors.
    """

    head_types: tuple[PackedHeads, ...]
    restore: tf.Tensor
    chunks: ChunkTensors


class PackedLayout:
    """Layout of the buckets of packed examples, which have a global part each.

    They are laid out as in `mate.windows`, as if each were alone. Then blocks
    without a token are left out, and indices are those of the tokens in the shared sequences. The
    keys of the global tokens are cut into chunks, so that an example does not compute as many as
    the longest one. Examples of `SHORT_BLOCKS` blocks or fewer have none in fact: all their pairs
    are computed, in groups of similar length. Within XLA, which knows no lengths, all examples have
    blocks, and there are as many blocks and chunks as the sequences can need.

    Args:
        context: the TableContext, which has `examples`.
        config: options of MATE.
        kinds: the types of heads.
        num_heads: their heads together.
        dtype: dtype of the biases.
    """

    def __init__(self, context, config, kinds: list[HeadType], num_heads: int, dtype):
        self._packed, self._own = context.examples, context.examples.context
        self._config, self._kinds, self._num_heads, self._dtype = config, kinds, num_heads, dtype
        self._batch, self._seq = shape_list(self._own.row_ids)
        sequences, seq = shape_list(context.row_ids)
        self._capacity = sequences * seq
        self._real = masks.real_tokens(self._own)
        self._lengths = tf.reduce_sum(tf.cast(self._real, tf.int32), axis=1)
        self._groups = []
        self._by_blocks = tf.fill([self._batch], True)
        self._long = _Pieces.all(self._batch)
        if not within_xla():
            self._group(max(kind.radius for kind in kinds))
        self._chunk = window_length(config.global_length, kinds)
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

    def tensors(self) -> PackedTensors:
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
        # [batch, seq, heads] -> [batch * seq + 1, heads] -> [sequences, seq, heads]
        restore = tf.reshape(restore, [-1, restore.shape[-1]])
        restore = tf.concat([restore, tf.fill([1, restore.shape[-1]], num_outputs)], axis=0)
        restore = tf.gather(restore, self._packed.come_from)
        of_chunk = tf.gather(self._long.places[:, 0], self._chunks.examples)
        chunks = ChunkTensors(of_chunk, shape_list(self._long.examples)[0])
        return PackedTensors(tuple(parts), restore, chunks)

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
        keys = _padded(order, shape_list(self._chunks.places)[1] * self._chunk)
        keys = _cut(keys, self._chunks, self._chunk, self._chunk)
        first = tf.gather(first, examples)
        in_first, in_keys = _take(tokens, first, examples), _take(tokens, keys, examples)
        part = PackedHeads(
            full=self._indices(kind, keys, examples),
            global_=self._indices(kind, first, examples),
            long=self._indices(kind, own, blocks.examples),
            window=self._indices(kind, window, blocks.examples),
            bias=self._bias(in_block, in_window),
            global_bias=self._bias(in_first, in_keys),
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
        exist = first + tf.range(count) * size < self._lengths[:, None]
        # An example of n ranks more than `first` has (n + size - 1) // size pieces.
        most = (self._capacity + self._batch * max(size - 1 - first, 0)) // size
        return _Pieces.chosen(exist & self._by_blocks[:, None], most if within_xla() else None)

    def _indices(self, kind: HeadType, positions, examples):
        """Returns the indices of a type's heads; those of no token are of any token."""
        in_batch = examples[:, None] * self._seq + tf.maximum(positions, 0)
        to = tf.minimum(tf.reshape(self._packed.to, [-1]), self._capacity - 1)
        return sorted_views.head_indices(
            tf.gather(to, in_batch), kind.first, kind.count, self._num_heads
        )

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


def attend_packed(layer, query, key, value, tensors: PackedTensors, seed, training):
    """Computes packed examples; all <float>[sequences, seq, heads, head_size].

    Args:
        layer: the `TableAttention`, which has the scale and drops probabilities.
        seed: <int32>[2] of dropout; None: no dropout.
    """
    outputs = []

    def attend(function, *arguments):
        # Each matmul drops other probabilities.
        own_seed = None if seed is None else seed + tf.constant([0, len(outputs)])
        outputs.append(function(*arguments, training, own_seed))

    for part in tensors.head_types:
        q = sorted_views.gather_views(query, global_=part.global_, long=part.long)
        k, v = (
            sorted_views.gather_views(x, full=part.full, window=part.window) for x in (key, value)
        )
        of_global = functools.partial(attention_by_chunks, layer, tensors.chunks)
        # [examples, heads, G, head_size]
        attend(of_global, q.global_, k.full, v.full, part.global_bias)
        # [blocks, heads, block, head_size]
        attend(layer.softmax_attention, q.long, k.window, v.window, part.bias)
        for group in part.short:
            # [examples, heads, tokens, head_size]
            own = [
                sorted_views.gather_views(x, full=group.indices).full for x in (query, key, value)
            ]
            attend(layer.softmax_attention, *own, group.bias)
    return sorted_views.gather_back(outputs, tensors.restore)


def attention_by_chunks(layer, chunks: ChunkTensors, query, key, value, bias, training, seed):
    """Computes attention whose keys are in several chunks, and joins the parts of a softmax.

    Query, key and value are <float>[chunks, heads, tokens, head_size], bias is <float>[chunks,
    1, queries, keys]. Returns <float>[examples, heads, queries, head_size].
    """
    scores = tf.matmul(query, key, transpose_b=True) * layer.scale(query.dtype) + bias
    # [chunks, heads, queries, 1]; any number gives the same, so it needs no gradient
    largest = tf.stop_gradient(tf.reduce_max(scores, axis=-1, keepdims=True))
    weights = tf.exp(scores - largest)
    total = tf.reduce_sum(weights, axis=-1, keepdims=True)
    context = tf.matmul(layer.drop(weights, training, seed), value)
    examples, count = chunks
    of_example = tf.math.unsorted_segment_max(largest, examples, count)
    factor = tf.exp(largest - tf.gather(of_example, examples))
    context, total = (
        tf.math.unsorted_segment_sum(part * factor, examples, count) for part in (context, total)
    )
    return tf.math.divide_no_nan(context, total)  # an example without tokens has no chunk


class _Pieces(NamedTuple):
    """Pieces of examples: runs of ranks of equal size.

    For each piece its example and its number in it, <int32>[pieces]; places <int32>[batch, count]
    are the numbers of each example's pieces among all, any number if one was left out.
    """

    examples: tf.Tensor
    numbers: tf.Tensor
    places: tf.Tensor

    @classmethod
    def all(cls, batch) -> "_Pieces":
        """Returns one piece of each example."""
        pieces = tf.range(batch)
        return cls(pieces, tf.zeros_like(pieces), pieces[:, None])

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


def _padded(positions, length):
    """Pads [batch, seq] to [batch, length] with -1, which is not a token."""
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
