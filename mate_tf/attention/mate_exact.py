"""MATE by masks (section 3 of the paper): heads that attend within rows, or within columns."""

from typing import Any, NamedTuple

import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import AttentionPattern, TableAttention, all_pairs_flops, mask_bias
from mate_tf.attention.mate_heads import HeadType, has_diagonal, head_types


class MaskTensors(NamedTuple):
    """Tensors of the pattern that has masks.

    Attributes:
        real: <float>[batch, seq, 1, 1], 0 for padding, whose output is zero.
        biases: for each type of heads, <float>[batch, 1, queries, keys].
    """

    real: tf.Tensor
    biases: tuple[tf.Tensor, ...]


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
        return MaskTensors(self.real(context), self.biases(context))

    def biases(self, context):
        """Returns <float>[batch, 1, queries, keys] for each type of heads."""
        return tuple(
            mask_bias(self._mask_of(kind, context), self.compute_dtype) for kind in self.head_types
        )

    def real(self, context):
        """Returns 0 for padding, whose output must be zero: <float>[batch, seq, 1, 1]."""
        return tf.cast(masks.real_tokens(context), self.compute_dtype)[:, :, None, None]

    def _mask_of(self, kind: HeadType, context):
        """Computes the mask of one type of heads, <bool>[batch, 1, queries, keys]."""
        ids = getattr(context, kind.ids)
        if self.windowed:
            mask = masks.windowed(context, ids, self.config.global_length, kind.radius)
        else:
            mask = masks.visible(masks.head_tokens(context, ids))
        mask = masks.same_example(mask, context)
        return (mask if has_diagonal(self.config) else masks.without_diagonal(mask))[:, None]


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

    def attend(self, query, key, value, pattern: Any, training=None):
        return self.by_masks(query, key, value, pattern.real, pattern.biases, None, training)

    def by_masks(self, query, key, value, real, biases, seed, training):
        """Computes all types of heads; a seed makes their dropout the same in each call."""
        contexts = []
        for (kind, parts), bias in zip(self.per_type(query, key, value), biases, strict=True):
            own_seed = None if seed is None else seed + tf.constant([0, kind.first])
            context = self.softmax_attention(*parts, bias=bias, training=training, seed=own_seed)
            contexts.append(context)
        return self.joined(contexts) * real

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        return all_pairs_flops(hidden_size, length)

    def per_type(self, *projections):
        """Yields each type of heads with its projections, <float>[batch, heads, seq, head_size]."""
        counts = [kind.count for kind in self.head_types]
        # [batch, seq, heads, head_size] -> [batch, heads, seq, head_size]
        projections = (tf.transpose(x, [0, 2, 1, 3]) for x in projections)
        # Not slices: the gradient of each would be as large as all heads, and mostly zeros.
        parts = zip(*(tf.split(x, counts, axis=1) for x in projections), strict=True)
        yield from zip(self.head_types, parts, strict=True)

    def joined(self, contexts):
        """Joins the outputs of the types of heads: <float>[batch, seq, heads, head_size]."""
        # [batch, heads, seq, head_size] -> [batch, seq, heads, head_size]
        return tf.concat([tf.transpose(x, [0, 2, 1, 3]) for x in contexts], axis=2)
