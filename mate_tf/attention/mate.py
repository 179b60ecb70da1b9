"""MATE: row heads and column heads (paper section 3), by mask and in linear time (section 3.1)."""

import dataclasses
import functools

import tensorflow as tf

from mate_tf.attention import masks, views
from mate_tf.attention.base import (
    AttentionPattern,
    PackedContext,
    TableAttention,
    all_pairs_flops,
    mask_bias,
    shape_list,
)
from mate_tf.errors import InputError

STRETCH = 256
"""Queries at a time where a question beyond the global section makes attention dense."""

BUCKETS_PER_BLOCK = 2
"""Buckets whose queries share a matrix product: more multiplications, but in larger products."""


@dataclasses.dataclass(frozen=True)
class MateOptions:
    """Options of `mate_efficient`.

    Attributes:
        global_length: G, tokens at the start of each order that see and are seen by all.
        radius: R, size of a bucket; tokens see their own bucket and the two beside it.
        row_radius: R of the row heads; None = `radius`.
        column_radius: R of the column heads; None = `radius`.
        row_heads_ratio: share of row heads, rounded down; they come first.
        diagonal: whether tokens see themselves. If not, each example needs two tokens of the
            question, as [CLS] and [SEP] are: then every token sees another one.
    """

    global_length: int = 116
    radius: int = 42
    row_radius: int | None = None
    column_radius: int | None = None
    row_heads_ratio: float = 0.5
    diagonal: bool = True


@dataclasses.dataclass(frozen=True)
class MateExactOptions(MateOptions):
    """Options of `mate_exact`: G and R count only if `windowed`.

    Attributes:
        windowed: whether to hide what `mate_efficient` with the same G and R would not reach.
    """

    windowed: bool = False


@dataclasses.dataclass(frozen=True)
class HeadType:
    """Row heads or column heads: the heads from `first` on, with their radius."""

    ids: str
    first: int
    count: int
    radius: int


def head_types(config, num_heads: int) -> list[HeadType]:
    """The types of heads that have at least one head.

    Raises:
        InputError: an option out of range.
    """
    if not 0 <= config.row_heads_ratio <= 1:
        raise InputError(f"row_heads_ratio must be between 0 and 1, not {config.row_heads_ratio}")
    if config.global_length < 0:
        raise InputError(f"global_length must not be negative, but is {config.global_length}")
    rows = int(num_heads * config.row_heads_ratio)
    row_radius, column_radius = (
        config.radius if radius is None else radius
        for radius in (config.get("row_radius"), config.get("column_radius"))
    )
    if min(row_radius, column_radius) < 1:
        raise InputError(f"radius must be positive, not {min(row_radius, column_radius)}")
    both = (
        HeadType("row_ids", 0, rows, row_radius),
        HeadType("column_ids", rows, num_heads - rows, column_radius),
    )
    return [head_type for head_type in both if head_type.count]


class MatePattern(AttentionPattern):
    """What `mate_exact` and `mate_efficient` share: the two types of heads and their mask."""

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
        pattern = {
            kind.ids: mask_bias(self._mask_of(kind, context), self.compute_dtype)
            for kind in self.head_types
        }
        return pattern | {"real": self._real(context)}

    def _mask_of(self, kind: HeadType, context):
        """<bool>[batch, 1, seq, seq] of one type of heads."""
        ids = getattr(context, kind.ids)
        if self.windowed:
            mask = masks.windowed(context, ids, self.config.global_length, kind.radius)
        else:
            mask = masks.visible(masks.head_tokens(context, ids))
        mask = masks.apart(mask, context)
        return (mask if _diagonal(self.config) else masks.without_diagonal(mask))[:, None]

    def _real(self, context):
        """<float>[batch, seq, 1, 1]: 0 for padding, which must come out as zero."""
        return tf.cast(masks.real_tokens(context), self.compute_dtype)[:, :, None, None]


class MateExactPattern(MatePattern):
    """One mask for the row heads, one for the column heads."""

    @property
    def windowed(self):
        return self.config.windowed


class MateExact(TableAttention):
    """MATE by masking: quadratic in time and memory, the reference for `mate_efficient`."""

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.head_types = head_types(self.config, num_heads)

    def attend(self, query, key, value, pattern, training=None):
        contexts = [
            self.softmax_attention(*parts, pattern[kind.ids], training)
            for kind, parts in self._per_type(query, key, value)
        ]
        return self._joined(contexts) * pattern["real"]

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        return all_pairs_flops(hidden_size, length)

    def _per_type(self, *projections):
        """Each type of heads with its part of the projections, <float>[batch, heads, seq, size]."""
        for kind in self.head_types:
            heads = slice(kind.first, kind.first + kind.count)
            yield kind, [tf.transpose(x[:, :, heads], [0, 2, 1, 3]) for x in projections]

    def _joined(self, contexts):
        """The opposite: <float>[batch, seq, heads, size] from a part for each type of heads."""
        return tf.concat([tf.transpose(x, [0, 2, 1, 3]) for x in contexts], axis=2)


class MateEfficientPattern(MatePattern):
    """Orders of the two types of heads, and where their global tokens and blocks lie.

    Queries beyond the global section are handled in blocks of several buckets, whose keys are
    the global tokens, the block and one bucket on either side, masked to the buckets' windows.
    The last block is filled up with places that are neither seen nor read.
    """

    def call(self, context, training=None):
        seq = context.row_ids.shape[1]
        # Examples that share a sequence are short: each would need a global section of its own.
        packed = isinstance(context, PackedContext)
        if packed or dense_is_cheaper(seq, self.config.global_length, self.head_types):
            return super().call(context)
        pattern, rows_before, restored = {}, 0, []
        for kind in self.head_types:
            part, places, num_rows = self._head_type(kind, context)
            pattern[kind.ids] = part
            restored.append(places + rows_before)
            rows_before += num_rows
        # padding reads the row of zeros behind all others
        restore = tf.concat(restored, axis=-1)
        restore = tf.where(masks.real_tokens(context)[:, :, None], restore, rows_before)
        question_length = tf.reduce_sum(tf.cast(masks.question_tokens(context), tf.int32), -1)
        return pattern | {
            # <int32>[batch, seq, heads]: where each head's output for each token ends up
            "restore": restore,
            "real": self._real(context),
            "overflow": tf.reduce_any(question_length > self.config.global_length),
        }

    def _head_type(self, kind: HeadType, context):
        """Indices and masks of one type, places of its outputs, and how many rows they are in."""
        ids = getattr(context, kind.ids)
        batch, seq = shape_list(ids)
        num_global, radius = self.config.global_length, kind.radius
        block = BUCKETS_PER_BLOCK * radius
        num_blocks = _ceil_div(_at_least(seq - num_global, 1), block)
        order = masks.sort_order(context, ids)
        rank = masks.inverse_permutation(order)
        tokens = masks.head_tokens(context, ids, masks.buckets(rank, num_global, radius))

        # Places of the order, filled up: [global | radius | blocks | radius], -1 = no token
        filling = num_global + num_blocks * block - seq
        order = tf.pad(order, [[0, 0], [0, filling]], constant_values=-1)
        first = order[:, :num_global]
        tail = tf.pad(order[:, num_global:], [[0, 0], [radius, radius]], constant_values=-1)

        # <int32>[batch * blocks, global_length + block + 2 * radius]
        starts = tf.range(num_blocks)[:, None] * block
        window = tf.gather(tail, starts + tf.range(block + 2 * radius), axis=1)
        to_first = tf.repeat(first[:, None], num_blocks, axis=1)
        window = tf.concat([to_first, window], axis=-1)
        window = tf.reshape(window, [-1, num_global + block + 2 * radius])
        # <int32>[batch * blocks, block]
        own = window[:, num_global + radius : -radius]
        examples = tf.repeat(tf.range(batch), num_blocks)

        in_window, in_first = _take(tokens, window, examples), _take(tokens, first, tf.range(batch))
        in_block = masks.HeadTokens(*(x[:, num_global + radius : -radius] for x in in_window))

        def bias(queries, keys):
            visible = masks.visible(queries, keys, _diagonal(self.config))
            return mask_bias(visible[:, None], self.compute_dtype)

        def rows(places, examples):
            in_batch = examples[:, None] * seq + tf.maximum(places, 0)
            return views.head_rows(in_batch, kind.first, kind.count, self.num_heads)

        everything = tf.broadcast_to(tf.range(seq), [batch, seq])
        part = {
            "full": rows(everything, tf.range(batch)),
            "global_": rows(first, tf.range(batch)),
            "long": rows(own, examples),
            "window": rows(window, examples),
            "bias": bias(in_block, in_window),
            "global_bias": bias(in_first, tokens),
            "tokens": tokens._asdict(),
        }
        places, num_rows = self._places(rank, batch, num_blocks, block, kind)
        return part, places, num_rows

    def _places(self, rank, batch, num_blocks, block, kind):
        """<int32>[batch, seq, heads]: rows of the outputs, global ones first, then the blocks."""
        num_global = self.config.global_length
        heads = tf.range(kind.count)
        example = tf.range(batch)[:, None, None]
        rank = rank[:, :, None]
        in_first = (example * kind.count + heads) * num_global + rank
        tail = rank - num_global
        of_block = example * num_blocks + tail // block
        in_block = (of_block * kind.count + heads) * block + tail % block
        num_first = batch * kind.count * num_global
        places = tf.where(rank < num_global, in_first, num_first + in_block)
        return places, num_first + batch * num_blocks * kind.count * block


class MateEfficient(MateExact):
    """MATE in time and memory linear in the length: global tokens plus a window of buckets.

    Equal to `mate_exact` wherever the table's question fits into `global_length` and its rows
    and columns into the windows (`coverage` tells). Questions longer than `global_length` stay
    global: a batch that has one is computed under the dense mask, a stretch of queries at a time
    (quadratic time, linear memory), and once more for its gradients.
    """

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Products of the compared pairs (`compared_pairs`), the mean over the heads."""
        kinds = head_types(config, num_heads)
        if dense_is_cheaper(length, config.global_length, kinds):
            return super().flops(config, num_heads, hidden_size, length)
        pairs = sum(
            compared_pairs(length, config.global_length, kind.radius) * kind.count for kind in kinds
        )
        return 4 * hidden_size * pairs / num_heads

    def attend(self, query, key, value, pattern, training=None):
        if "overflow" not in pattern:
            return super().attend(query, key, value, pattern, training)
        return tf.cond(
            pattern["overflow"],
            lambda: self._by_stretches(query, key, value, pattern, training),
            lambda: self._by_buckets(query, key, value, pattern, training),
        )

    def _by_buckets(self, query, key, value, pattern, training):
        outputs = []
        for kind in self.head_types:
            part = pattern[kind.ids]
            q = views.gather_views(query, global_=part["global_"], long=part["long"])
            k, v = (
                views.gather_views(x, full=part["full"], window=part["window"])
                for x in (key, value)
            )
            outputs += [
                self.softmax_attention(q.global_, k.full, v.full, part["global_bias"], training),
                self.softmax_attention(q.long, k.window, v.window, part["bias"], training),
            ]
        return views.gather_back(outputs, pattern["restore"])

    def _by_stretches(self, query, key, value, pattern, training):
        seed = tf.random.uniform([2], 0, 2**30, tf.int32) if training else None
        contexts = [
            _recomputed(functools.partial(self._of_kind, kind, pattern, seed, training), parts)
            for kind, parts in self._per_type(query, key, value)
        ]
        return self._joined(contexts) * pattern["real"]

    def _of_kind(self, kind, pattern, seed, training, query, key, value):
        """One type of heads under its dense mask; <float>[batch, heads, seq, size] all of them."""
        tokens = masks.HeadTokens(**pattern[kind.ids]["tokens"])

        def stretch(parts):
            number, own_query, *own = parts
            mask = masks.visible(masks.HeadTokens(*own), tokens, _diagonal(self.config))
            bias = mask_bias(mask[:, None], key.dtype)
            own_seed = None if seed is None else seed + tf.stack([kind.first, number])
            return self.softmax_attention(own_query, key, value, bias, training, own_seed)

        parts = (_stretches(query, 2), *(_stretches(part, 1) for part in tokens))
        numbers = tf.range(shape_list(parts[0])[0])
        context = tf.map_fn(stretch, (numbers, *parts), fn_output_signature=query.dtype)
        # <float>[stretches, batch, heads, STRETCH, size] -> [batch, heads, seq, size]
        context = tf.transpose(context, [1, 2, 0, 3, 4])
        batch, heads, count, _, size = shape_list(context)
        context = tf.reshape(context, [batch, heads, count * STRETCH, size])
        return context[:, :, : shape_list(query)[2]]


def _recomputed(function, arguments):
    """`function(*arguments)`, computed again for its gradients instead of remembering how.

    Whether a branch is taken, a TPU finds out when it runs, but its memory is laid out before: what
    a branch remembers is there always. And it has no kernels to hand a loop's memory on.
    """

    @tf.custom_gradient
    def run(*arguments):
        def gradients(upstream):
            with tf.GradientTape() as tape:
                tape.watch(arguments)
                result = function(*arguments)
            return tape.gradient(result, arguments, upstream)

        return function(*arguments), gradients

    return run(*arguments)


def _diagonal(config) -> bool:
    return config.get("diagonal", True)


def dense_is_cheaper(seq: int | None, global_length: int, kinds: list[HeadType]) -> bool:
    """Whether a window of buckets is no shorter than the whole sequence."""
    widest = (BUCKETS_PER_BLOCK + 2) * max(kind.radius for kind in kinds)
    return seq is not None and seq <= global_length + widest


def compared_pairs(length: int, global_length: int, radius: int) -> int:
    """Returns the pairs of tokens that a head of `mate_efficient` compares (paper, section 3.1).

    G queries are compared with all keys, the others with G + 3 R. No more pairs than those of full
    attention: where a window would be as long as the sequence, there are no buckets.
    """
    tail = max(length - global_length, 0)
    return min(global_length * length + tail * (global_length + 3 * radius), length**2)


def _stretches(x, axis: int):
    """Cuts `axis` into stretches of STRETCH, the last one filled up, and puts their axis first."""
    shape = shape_list(x)
    count = _ceil_div(shape[axis], STRETCH)
    filling = [[0, 0]] * axis + [[0, count * STRETCH - shape[axis]]]
    x = tf.pad(x, filling + [[0, 0]] * (len(shape) - axis - 1))
    x = tf.reshape(x, [*shape[:axis], count, STRETCH, *shape[axis + 1 :]])
    return tf.transpose(x, [axis, *range(axis), *range(axis + 1, len(shape) + 1)])


def _take(tokens: masks.HeadTokens, places, examples) -> masks.HeadTokens:
    """The tokens at `places` <int32>[a, n] of `examples` <int32>[a]; not real where negative."""
    index = tf.stack([tf.broadcast_to(examples[:, None], tf.shape(places)), places], axis=-1)
    taken = masks.HeadTokens(*(tf.gather_nd(part, tf.maximum(index, 0)) for part in tokens))
    return taken._replace(real=taken.real & (places >= 0), question=taken.question & (places >= 0))


def _at_least(size, minimum: int):
    return max(size, minimum) if isinstance(size, int) else tf.maximum(size, minimum)


def _ceil_div(size, divisor: int):
    return -(-size // divisor)
