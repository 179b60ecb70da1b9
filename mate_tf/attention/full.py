"""Dense attention under a mask: two matrix products with a softmax between them."""

import dataclasses

import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import AttentionPattern, TableAttention, all_pairs_flops, mask_bias


@dataclasses.dataclass(frozen=True)
class FullOptions:
    """Options of `full` and `same_row_or_column`.

    Attributes:
        diagonal: whether tokens see themselves (SparseBERT paper, section 3.2).
    """

    diagonal: bool = True


class FullPattern(AttentionPattern):
    """Every token attends to every real token, as in BERT."""

    packs = True

    def call(self, context, training=None):
        mask = self.mask(context)
        return {
            "bias": mask_bias(mask, self.compute_dtype),
            # <float>[batch, 1 or seq, 1, 1]: 0 for queries that may see nothing
            "any_key": tf.cast(tf.reduce_any(mask, -1), self.compute_dtype)[:, 0, :, None, None],
        }

    def mask(self, context):
        mask = masks.full(context)[:, None]
        return mask if self.config.get("diagonal", True) else masks.without_diagonal(mask)


class MaskedAttention(TableAttention):
    """All heads under one mask: pattern["bias"] is <float>[batch, 1, 1 or seq, seq]."""

    def attend(self, query, key, value, pattern, training=None):
        query, key, value = (tf.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
        context = self.softmax_attention(query, key, value, pattern["bias"], training)
        return tf.transpose(context, [0, 2, 1, 3]) * pattern["any_key"]

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        return all_pairs_flops(hidden_size, length)
