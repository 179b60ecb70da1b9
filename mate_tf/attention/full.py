"""Dense attention under a mask: two matmuls with a softmax between them."""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import AttentionPattern, TableAttention, all_pairs_flops, mask_bias


@dataclasses.dataclass(frozen=True)
class FullOptions:
    """Options of `full` and `same_row_or_column`.

    Attributes:
        diagonal: whether tokens attend to themselves (SparseBERT paper, section 3.2).
    """

    diagonal: bool = True


class MaskTensors(NamedTuple):
    """Tensors of a pattern with one mask, or one mask for each head.

    Attributes:
        bias: <float>[batch, 1 or heads, 1 or queries, keys], 0 for allowed pairs.
        any_key: <float>[batch, 1 or queries, 1 or heads, 1], 0 for queries without keys.
    """

    bias: tf.Tensor
    any_key: tf.Tensor

    @classmethod
    def from_mask(cls, mask, dtype):
        """Makes the tensors of <bool>[batch, 1 or heads, 1 or queries, keys]."""
        # [batch, heads, queries, 1] -> [batch, queries, heads, 1]
        any_key = tf.transpose(masks.any_key(mask, dtype), [0, 2, 1, 3])
        return cls(mask_bias(mask, dtype), any_key)


class FullPattern(AttentionPattern):
    """Pattern in which every token attends to every real token, as in BERT."""

    packs = True

    def call(self, context, training=None):
        return MaskTensors.from_mask(self.mask(context), self.compute_dtype)

    def mask(self, context):
        mask = masks.full(context)[:, None]
        return mask if self.config.get("diagonal", True) else masks.without_diagonal(mask)


class MaskedAttention(TableAttention):
    """Softmax attention under the mask of `MaskTensors`."""

    has_pair_probabilities = True

    def attend(self, query, key, value, pattern: MaskTensors, training=None):
        # [batch, seq, heads, head_size] -> [batch, heads, seq, head_size]
        query, key, value = (tf.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
        context = self.softmax_attention(query, key, value, pattern.bias, training)
        # [batch, heads, queries, head_size] -> [batch, queries, heads, head_size]
        return tf.transpose(context, [0, 2, 1, 3]) * pattern.any_key

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        return all_pairs_flops(hidden_size, length)
