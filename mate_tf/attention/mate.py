"""MATE: row heads and column heads (section 3), by mask and in linear time (section 3.1)."""

import contextlib
import functools

import tensorflow as tf

from mate_tf.attention import masks, views
from mate_tf.attention.base import AttentionPattern, TableAttention, all_pairs_flops, mask_bias
from mate_tf.attention.mate_buckets import (
    BUCKETS_PER_BLOCK,
    BucketLayout,
    dense_is_cheaper,
    known_to_be_dense,
)
from mate_tf.attention.mate_heads import (
    BucketTensors,
    ChunkTensors,
    HeadType,
    HeadTypeTensors,
    MateExactOptions,
    MateOptions,
    MateTensors,
    compared_pairs,
    has_diagonal,
    head_types,
)
from mate_tf.layers import step_seeds
from mate_tf.layers.recomputation import recomputed
from mate_tf.layers.shapes import shape_list
from mate_tf.layers.shared_functions import shared_function

__all__ = [
    "BUCKETS_PER_BLOCK",
    "QUERY_CHUNK",
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
        return (mask if has_diagonal(self.config) else masks.without_diagonal(mask))[:, None]

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
        counts = [kind.count for kind in self.head_types]
        # [batch, seq, heads, head_size] -> [batch, heads, seq, head_size]
        projections = (tf.transpose(x, [0, 2, 1, 3]) for x in projections)
        # Not slices: the gradient of each would be as large as all heads, and mostly zeros.
        parts = zip(*(tf.split(x, counts, axis=1) for x in projections), strict=True)
        yield from zip(self.head_types, parts, strict=True)

    def _joined(self, contexts):
        """Joins the outputs of the types of heads: <float>[batch, seq, heads, head_size]."""
        # [batch, heads, seq, head_size] -> [batch, seq, heads, head_size]
        return tf.concat([tf.transpose(x, [0, 2, 1, 3]) for x in contexts], axis=2)


class MateEfficientPattern(MatePattern):
    """Pattern with the orders of both types of heads, their global tokens and their blocks.

    Queries behind the global part are computed in blocks of several buckets (`mate_buckets`).

    Where a window would be as long as the sequence, there are masks in place of buckets. A graph
    for any length has both, and computes the one or the other, unless it is traced within
    `mate_buckets.graph_for`. So do packed examples, where masks
    are for questions that are longer than the global part.
    """

    has_form_for_short_inputs = True

    def call(self, context, training=None):
        length = shape_list(context.row_ids)[1]
        dense = known_to_be_dense(self.config.global_length, self.head_types)
        if dense is None:
            dense = dense_is_cheaper(length, self.config.global_length, self.head_types)
        packed = context.starts is not None
        if dense is True or (packed and context.examples is None):
            return super().call(context)
        layout = BucketLayout(
            context, self.config, self.head_types, self.num_heads, self.compute_dtype
        )
        buckets = layout.tensors()
        if packed:
            dense = tf.logical_or(dense, buckets.overflow)
            buckets = buckets._replace(overflow=None)
        found = MateTensors(self._real(context), buckets=buckets)
        if dense is False:
            return found
        nothing = tf.zeros([shape_list(context.row_ids)[0], 1, 0, 0], self.compute_dtype)
        empty = (nothing,) * len(self.head_types)
        biases = tf.cond(dense, lambda: self._biases(context), lambda: empty)
        return found._replace(biases=biases, dense=dense)


class MateEfficient(MateExact):
    """MATE in time and memory linear in the length: global tokens and a window of buckets.

    It equals `mate_exact` if the question fits into `global_length`, and the rows and columns into
    the windows (`coverage` measures it). Questions longer than `global_length` stay global: a batch
    with such a question is computed under the dense mask, a chunk of queries at a time (quadratic
    time, linear memory), and once more for its gradients.
    """

    _exporting = False

    @contextlib.contextmanager
    def exporting(self):
        """Leaves out what is computed again for gradients: an export has none."""
        self._exporting = True
        try:
            with super().exporting():
                yield
        finally:
            self._exporting = False

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
        settings = (self.dropout_rate, self.softmax_temperature, drops, self._exporting)
        own = (type(self), self.config, self.num_heads, self.compute_dtype)
        attend = shared_function((*own, *settings), functools.partial(self._attend, training=drops))
        return attend(query, key, value, pattern, seed)

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
        by_buckets = functools.partial(self._by_buckets, query, key, value, buckets, seed, training)
        if buckets.overflow is None:
            return by_buckets()
        by_chunks = functools.partial(
            self._by_chunks, query, key, value, real, buckets, seed, training
        )
        return tf.cond(buckets.overflow, by_chunks, by_buckets)

    def _by_buckets(self, query, key, value, buckets: BucketTensors, seed, training):
        outputs = []

        def attend(function, *arguments):
            # Each product drops other probabilities.
            own_seed = None if seed is None else seed + tf.constant([0, len(outputs)])
            outputs.append(function(*arguments, training, own_seed))

        for part in buckets.head_types:
            q = views.gather_views(query, global_=part.global_, long=part.long)
            k, v = (views.gather_views(x, full=part.full, window=part.window) for x in (key, value))
            of_global = self.softmax_attention
            if buckets.chunks is not None:
                of_global = functools.partial(self._attention_by_chunks, buckets.chunks)
            # [batch, heads, global_length, head_size]
            attend(of_global, q.global_, k.full, v.full, part.global_bias)
            # [blocks, heads, block, head_size]
            attend(self.softmax_attention, q.long, k.window, v.window, part.bias)
            for group in part.short:
                # [examples, heads, tokens, head_size]
                own = [views.gather_views(x, full=group.indices).full for x in (query, key, value)]
                attend(self.softmax_attention, *own, group.bias)
        return views.gather_back(outputs, buckets.restore)

    def _attention_by_chunks(self, chunks: ChunkTensors, query, key, value, bias, training, seed):
        """Computes attention whose keys are in several chunks, and joins the parts of a softmax.

        Query, key and value are <float>[chunks, heads, tokens, head_size], bias is <float>[chunks,
        1, queries, keys]. Returns <float>[examples, heads, queries, head_size].
        """
        scores = tf.matmul(query, key, transpose_b=True) * self.scale(query.dtype) + bias
        # [chunks, heads, queries, 1]; any number gives the same, so it needs no gradient
        largest = tf.stop_gradient(tf.reduce_max(scores, axis=-1, keepdims=True))
        weights = tf.exp(scores - largest)
        total = tf.reduce_sum(weights, axis=-1, keepdims=True)
        context = tf.matmul(self.drop(weights, training, seed), value)
        examples, count = chunks
        of_example = tf.math.unsorted_segment_max(largest, examples, count)
        factor = tf.exp(largest - tf.gather(of_example, examples))
        context, total = (
            tf.math.unsorted_segment_sum(part * factor, examples, count)
            for part in (context, total)
        )
        return tf.math.divide_no_nan(context, total)  # an example without tokens has no chunk

    def _by_chunks(self, query, key, value, real, buckets: BucketTensors, seed, training):
        contexts = []
        types = zip(self._per_type(query, key, value), buckets.head_types, strict=True)
        for (kind, projections), part in types:
            function = functools.partial(self._dense, kind, training)
            others = part.tokens if seed is None else (*part.tokens, seed)
            contexts.append(
                function(*projections, *others)
                if self._exporting
                else recomputed(function, projections, others)
            )
        return self._joined(contexts) * real

    def _dense(self, kind, training, query, key, value, *tokens_and_seed):
        """Computes one type of heads by chunks; all <float>[batch, heads, seq, head_size]."""
        tokens = masks.HeadTokens(*tokens_and_seed[: len(masks.HeadTokens._fields)])
        seed = tokens_and_seed[-1] if training else None

        def attend_chunk(parts):
            number, own_query, *own = parts
            mask = masks.visible(masks.HeadTokens(*own), tokens, has_diagonal(self.config))
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


def _chunks(x, axis: int):
    """Cuts `axis` into chunks, the last one padded, and moves the axis of chunks to the front."""
    shape = shape_list(x)
    count = -(-shape[axis] // QUERY_CHUNK)
    paddings = [[0, 0]] * axis + [[0, count * QUERY_CHUNK - shape[axis]]]
    x = tf.pad(x, paddings + [[0, 0]] * (len(shape) - axis - 1))
    # [..., seq, ...] -> [..., chunks, QUERY_CHUNK, ...] -> [chunks, ..., QUERY_CHUNK, ...]
    x = tf.reshape(x, [*shape[:axis], count, QUERY_CHUNK, *shape[axis + 1 :]])
    return tf.transpose(x, [axis, *range(axis), *range(axis + 1, len(shape) + 1)])
