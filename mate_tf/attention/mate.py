"""MATE: row heads and column heads (section 3), by mask and in linear time (section 3.1)."""

import functools

import tensorflow as tf

from mate_tf.attention import masks, views
from mate_tf.attention.base import AttentionPattern, TableAttention, all_pairs_flops, mask_bias
from mate_tf.attention.mate_heads import (
    BucketTensors,
    HeadType,
    HeadTypeTensors,
    MateExactOptions,
    MateOptions,
    MateTensors,
    compared_pairs,
    head_types,
)
from mate_tf.layers import step_seeds
from mate_tf.layers.recomputation import recomputed
from mate_tf.layers.shapes import shape_list
from mate_tf.layers.shared_functions import SharedFunctions

__all__ = [
    "BUCKETS_PER_BLOCK",
    "QUERY_CHUNK",
    "STRETCH",
    "BucketTensors",
    "HeadType",
    "HeadTypeTensors",
    "MateEfficient",
    "MateEfficientPattern",
    "MateExact",
    "MateExactOptions",
    "MateExactPattern",
    "MateOptions",
    "MatePattern",
    "MateTensors",
    "compared_pairs",
    "dense_is_cheaper",
    "head_types",
]

QUERY_CHUNK = 256
"""Queries computed at a time if a question longer than G makes attention dense."""

STRETCH = QUERY_CHUNK  # alias of QUERY_CHUNK, kept for code that uses the old name

BUCKETS_PER_BLOCK = 2
"""Buckets of queries in one matrix product: more multiplications, but larger products."""


class MatePattern(AttentionPattern):
    """Pattern with a mask for each type of heads."""

    windowed = True
    packs = True

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.head_types = head_types(self.config, num_heads)

    def mask(self, context):
        parts = (
            tf.repeat(self._mask_of(kind, context), kind.count, axis=1) for kind in self.head_types
        )
        return tf.concat(list(parts), axis=1)

    def call(self, context, training=None):
        return MateTensors(self._real(context), self._biases(context))

    def _biases(self, context):
        """Returns <float>[batch, 1, queries, keys] for each type of heads."""
        return tuple(
            mask_bias(self._mask_of(kind, context), self.compute_dtype) for kind in self.head_types
        )

    def _mask_of(self, kind: HeadType, context):
        """Computes the mask of one type of heads, <bool>[batch, 1, queries, keys]."""
        ids = getattr(context, kind.ids)
        if self.windowed:
            mask = masks.windowed(context, ids, self.config.global_length, kind.radius)
        else:
            mask = masks.visible(masks.head_tokens(context, ids))
        mask = masks.same_example(mask, context)
        return (mask if _diagonal(self.config) else masks.without_diagonal(mask))[:, None]

    def _real(self, context):
        """Returns 0 for padding, whose output must be zero: <float>[batch, seq, 1, 1]."""
        return tf.cast(masks.real_tokens(context), self.compute_dtype)[:, :, None, None]


class MateExactPattern(MatePattern):
    """Pattern with one mask for the row heads and one for the column heads."""

    @property
    def windowed(self):
        """True if the masks have the windows of `mate_efficient`."""
        return self.config.windowed


class MateExact(TableAttention):
    """MATE by masks: quadratic in time and memory, the reference for `mate_efficient`."""

    has_pair_probabilities = True

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.head_types = head_types(self.config, num_heads)

    def attend(self, query, key, value, pattern, training=None):
        return self._by_masks(query, key, value, pattern.real, pattern.biases, None, training)

    def _by_masks(self, query, key, value, real, biases, seed, training):
        """Computes all types of heads; a seed makes their dropout the same in each call."""
        contexts = []
        for (kind, parts), bias in zip(self._per_type(query, key, value), biases, strict=True):
            own_seed = None if seed is None else seed + tf.constant([0, kind.first])
            contexts.append(self.softmax_attention(*parts, bias, training, own_seed))
        return self._joined(contexts) * real

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        return all_pairs_flops(hidden_size, length)

    def _per_type(self, *projections):
        """Yields each type of heads with its projections, <float>[batch, heads, seq, head_size]."""
        for kind in self.head_types:
            heads = slice(kind.first, kind.first + kind.count)
            # [batch, seq, heads, head_size] -> [batch, heads, seq, head_size]
            yield kind, [tf.transpose(x[:, :, heads], [0, 2, 1, 3]) for x in projections]

    def _joined(self, contexts):
        """Joins the outputs of the types of heads: <float>[batch, seq, heads, head_size]."""
        # [batch, heads, seq, head_size] -> [batch, seq, heads, head_size]
        return tf.concat([tf.transpose(x, [0, 2, 1, 3]) for x in contexts], axis=2)


class MateEfficientPattern(MatePattern):
    """Pattern with the orders of both types of heads, their global tokens and their blocks.

    Queries behind the global part are computed in blocks of several buckets. The keys of a block
    are the global tokens, the block and one bucket on either side, masked to the buckets' windows.
    The last block is padded with entries that stand for no token.

    Where a window would be as long as the sequence, there are masks in place of buckets. A graph
    for any length has both, and computes the one or the other.
    """

    def call(self, context, training=None):
        # Packed examples are short: each would need a global part of its own.
        packed = context.starts is not None
        length = shape_list(context.row_ids)[1]
        dense = packed or dense_is_cheaper(length, self.config.global_length, self.head_types)
        if dense is True:
            return super().call(context)
        parts, restore, num_outputs = [], [], 0
        for kind in self.head_types:
            part, own_restore, own_outputs = self._head_type(kind, context)
            parts.append(part)
            restore.append(own_restore + num_outputs)
            num_outputs += own_outputs
        # [batch, seq, heads]; padding reads the zeros behind all outputs
        restore = tf.concat(restore, axis=-1)
        restore = tf.where(masks.real_tokens(context)[:, :, None], restore, num_outputs)
        question_length = tf.reduce_sum(tf.cast(masks.question_tokens(context), tf.int32), -1)
        overflow = tf.reduce_any(question_length > self.config.global_length)
        buckets = BucketTensors(tuple(parts), restore, overflow)
        found = MateTensors(self._real(context), buckets=buckets, shared=SharedFunctions())
        if dense is False:
            return found
        nothing = tf.zeros([shape_list(context.row_ids)[0], 1, 0, 0], self.compute_dtype)
        empty = (nothing,) * len(self.head_types)
        biases = tf.cond(dense, lambda: self._biases(context), lambda: empty)
        return found._replace(biases=biases, dense=dense)

    def _head_type(self, kind: HeadType, context):
        """Computes the tensors of one type, the numbers of its outputs, and how many there are."""
        ids = getattr(context, kind.ids)
        batch, seq = shape_list(ids)
        num_global, radius = self.config.global_length, kind.radius
        block = BUCKETS_PER_BLOCK * radius
        num_blocks = _ceil_div(_at_least(seq - num_global, 1), block)
        order = masks.sort_order(context, ids)
        rank = masks.inverse_permutation(order)
        tokens = masks.head_tokens(context, ids, masks.buckets(rank, num_global, radius))

        # Positions by rank, padded to [global | radius | blocks | radius]; -1 = no token
        pad_length = num_global + num_blocks * block - seq
        order = tf.pad(order, [[0, 0], [0, pad_length]], constant_values=-1)
        first = order[:, :num_global]
        tail = tf.pad(order[:, num_global:], [[0, 0], [radius, radius]], constant_values=-1)

        # [batch, blocks, block + 2 * radius]
        starts = tf.range(num_blocks)[:, None] * block
        window = tf.gather(tail, starts + tf.range(block + 2 * radius), axis=1)
        # [batch, blocks, global_length]
        to_first = tf.repeat(first[:, None], num_blocks, axis=1)
        # [batch * blocks, global_length + block + 2 * radius]
        window = tf.concat([to_first, window], axis=-1)
        window = tf.reshape(window, [-1, num_global + block + 2 * radius])
        # [batch * blocks, block]
        own = window[:, num_global + radius : -radius]
        examples = tf.repeat(tf.range(batch), num_blocks)

        in_window, in_first = _take(tokens, window, examples), _take(tokens, first, tf.range(batch))
        in_block = masks.HeadTokens(*(x[:, num_global + radius : -radius] for x in in_window))

        def bias(queries, keys):
            visible = masks.visible(queries, keys, _diagonal(self.config))
            return mask_bias(visible[:, None], self.compute_dtype)

        def indices(positions, examples):
            in_batch = examples[:, None] * seq + tf.maximum(positions, 0)
            return views.head_indices(in_batch, kind.first, kind.count, self.num_heads)

        all_positions = tf.broadcast_to(tf.range(seq), [batch, seq])
        part = HeadTypeTensors(
            full=indices(all_positions, tf.range(batch)),
            global_=indices(first, tf.range(batch)),
            long=indices(own, examples),
            window=indices(window, examples),
            bias=bias(in_block, in_window),
            global_bias=bias(in_first, tokens),
            tokens=tokens,
        )
        restore, num_outputs = self._outputs(rank, batch, num_blocks, block, kind)
        return part, restore, num_outputs

    def _outputs(self, rank, batch, num_blocks, block, kind):
        """Numbers the outputs of one type: those of the global tokens first, then the blocks'.

        Returns:
            The number of each token's output, <int32>[batch, seq, heads], and how many there are.
        """
        num_global = self.config.global_length
        heads = tf.range(kind.count)
        example = tf.range(batch)[:, None, None]
        rank = rank[:, :, None]
        # In [batch, heads, global_length]
        in_first = (example * kind.count + heads) * num_global + rank
        # In [batch * blocks, heads, block]
        tail = rank - num_global
        number_of_block = example * num_blocks + tail // block
        in_block = (number_of_block * kind.count + heads) * block + tail % block
        num_first = batch * kind.count * num_global
        numbers = tf.where(rank < num_global, in_first, num_first + in_block)
        return numbers, num_first + batch * num_blocks * kind.count * block


class MateEfficient(MateExact):
    """MATE in time and memory linear in the length: global tokens and a window of buckets.

    It equals `mate_exact` if the question fits into `global_length`, and the rows and columns into
    the windows (`coverage` measures it). Questions longer than `global_length` stay global: a batch
    with such a question is computed under the dense mask, a chunk of queries at a time (quadratic
    time, linear memory), and once more for its gradients.
    """

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Counts the products of the computed pairs (`compared_pairs`), as a mean over heads."""
        kinds = head_types(config, num_heads)
        if dense_is_cheaper(length, config.global_length, kinds):
            return super().flops(config, num_heads, hidden_size, length)
        pairs = sum(
            compared_pairs(length, config.global_length, kind.radius) * kind.count for kind in kinds
        )
        return 4 * hidden_size * pairs / num_heads

    def attend(self, query, key, value, pattern, training=None):
        if pattern.buckets is None:
            return super().attend(query, key, value, pattern, training)
        drops = bool(training and self.dropout_rate)
        seed = step_seeds.draw() if drops else None  # not in the function, which layers share
        settings = (self.dropout_rate, self.softmax_temperature, drops)
        attend = pattern.shared.get(settings, functools.partial(self._attend, training=drops))
        return attend(query, key, value, pattern._replace(shared=None), seed)

    def _attend(self, query, key, value, pattern, seed, training):
        by_buckets = functools.partial(
            self._without_masks, query, key, value, pattern.real, pattern.buckets, seed, training
        )
        if pattern.dense is None:
            return by_buckets()
        by_masks = functools.partial(
            self._by_masks, query, key, value, pattern.real, pattern.biases, seed, training
        )
        # Masks in the second branch: TensorFlow's graph optimizer fuses product and bias, and then
        # reads a bias from outside the branch as if this were the second (a fault of its remapper).
        return tf.cond(tf.logical_not(pattern.dense), by_buckets, by_masks)

    def _without_masks(self, query, key, value, real, buckets, seed, training):
        return tf.cond(
            buckets.overflow,
            lambda: self._by_chunks(query, key, value, real, buckets, seed, training),
            lambda: self._by_buckets(query, key, value, buckets, seed, training),
        )

    def _by_buckets(self, query, key, value, buckets: BucketTensors, seed, training):
        outputs = []

        def attend(*arguments):
            # Each product drops other probabilities.
            own_seed = None if seed is None else seed + tf.constant([0, len(outputs)])
            outputs.append(self.softmax_attention(*arguments, training, own_seed))

        for part in buckets.head_types:
            q = views.gather_views(query, global_=part.global_, long=part.long)
            k, v = (views.gather_views(x, full=part.full, window=part.window) for x in (key, value))
            # [batch, heads, global_length, head_size]
            attend(q.global_, k.full, v.full, part.global_bias)
            # [batch * blocks, heads, block, head_size]
            attend(q.long, k.window, v.window, part.bias)
        return views.gather_back(outputs, buckets.restore)

    def _by_chunks(self, query, key, value, real, buckets: BucketTensors, seed, training):
        contexts = []
        types = zip(self._per_type(query, key, value), buckets.head_types, strict=True)
        for (kind, projections), part in types:
            function = functools.partial(self._dense, kind, training)
            others = part.tokens if seed is None else (*part.tokens, seed)
            contexts.append(recomputed(function, projections, others))
        return self._joined(contexts) * real

    def _dense(self, kind, training, query, key, value, *tokens_and_seed):
        """Computes one type of heads by chunks; all <float>[batch, heads, seq, head_size]."""
        tokens = masks.HeadTokens(*tokens_and_seed[: len(masks.HeadTokens._fields)])
        seed = tokens_and_seed[-1] if training else None

        def attend_chunk(parts):
            number, own_query, *own = parts
            mask = masks.visible(masks.HeadTokens(*own), tokens, _diagonal(self.config))
            bias = mask_bias(mask[:, None], key.dtype)
            own_seed = None if seed is None else seed + tf.stack([kind.first, number])
            return self.softmax_attention(own_query, key, value, bias, training, own_seed)

        parts = (_chunks(query, 2), *(_chunks(part, 1) for part in tokens))
        numbers = tf.range(shape_list(parts[0])[0])
        context = tf.map_fn(attend_chunk, (numbers, *parts), fn_output_signature=query.dtype)
        # [chunks, batch, heads, QUERY_CHUNK, head_size]
        # -> [batch, heads, chunks, QUERY_CHUNK, head_size] -> [batch, heads, seq, head_size]
        context = tf.transpose(context, [1, 2, 0, 3, 4])
        batch, heads, count, _, size = shape_list(context)
        context = tf.reshape(context, [batch, heads, count * QUERY_CHUNK, size])
        return context[:, :, : shape_list(query)[2]]


def _diagonal(config) -> bool:
    return config.get("diagonal", True)


def dense_is_cheaper(seq, global_length: int, kinds: list[HeadType]):
    """Returns whether a window of buckets is no shorter than a sequence.

    A bool for an int `seq`, the number of tokens; <bool>[] for an <int32>[] tensor.
    """
    return seq <= global_length + (BUCKETS_PER_BLOCK + 2) * max(kind.radius for kind in kinds)


def _chunks(x, axis: int):
    """Cuts `axis` into chunks, the last one padded, and moves the axis of chunks to the front."""
    shape = shape_list(x)
    count = _ceil_div(shape[axis], QUERY_CHUNK)
    paddings = [[0, 0]] * axis + [[0, count * QUERY_CHUNK - shape[axis]]]
    x = tf.pad(x, paddings + [[0, 0]] * (len(shape) - axis - 1))
    # [..., seq, ...] -> [..., chunks, QUERY_CHUNK, ...] -> [chunks, ..., QUERY_CHUNK, ...]
    x = tf.reshape(x, [*shape[:axis], count, QUERY_CHUNK, *shape[axis + 1 :]])
    return tf.transpose(x, [axis, *range(axis), *range(axis + 1, len(shape) + 1)])


def _take(tokens: masks.HeadTokens, positions, examples) -> masks.HeadTokens:
    """Gathers tokens by position.

    Args:
        tokens: HeadTokens of [batch, seq].
        positions: <int32>[a, n]; the token of a negative position is not real.
        examples: <int32>[a], the example of each list of positions.

    Returns:
        HeadTokens of [a, n].
    """
    index = tf.stack([tf.broadcast_to(examples[:, None], tf.shape(positions)), positions], axis=-1)
    taken = masks.HeadTokens(*(tf.gather_nd(part, tf.maximum(index, 0)) for part in tokens))
    exists = positions >= 0
    return taken._replace(real=taken.real & exists, question=taken.question & exists)


def _at_least(size, minimum: int):
    return max(size, minimum) if isinstance(size, int) else tf.maximum(size, minimum)


def _ceil_div(size, divisor: int):
    return -(-size // divisor)
