"""Linformer: keys and values projected along the sequence to a fixed length (Wang et al., 2020).

A baseline of the MATE paper (section 5.1), as google-research/tapas has it under proj_value_length.
Each layer has one projection, shared by all heads and by keys and values. It limits a model to one
length, and mixes tokens without regard to rows and columns.
"""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import AttentionPattern, TableAttention
from mate_tf.field_types import Tokens
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import build_child, check_length, shape_list


@dataclasses.dataclass(frozen=True)
class LinformerOptions:
    """Options of `linformer`.

    Attributes:
        projected_length: k, number of projected keys and values.
        length: n, the largest length; shorter inputs use the first rows of the projection.
    """

    projected_length: Tokens = 256
    length: Tokens = 512


class LinformerTensors(NamedTuple):
    """Tensors of `LinformerPattern`.

    Attributes:
        real: <float>[batch, seq, 1, 1], 0 for padding, which the projection leaves out.
    """

    real: tf.Tensor


class LinformerPattern(AttentionPattern):
    """Pattern of the real tokens; checks the length of the input.

    Raises:
        InputError: when called, an input longer than `length`.
    """

    def mask(self, context):
        return masks.full(context)[:, None]

    def call(self, context, training=None):
        real = tf.cast(masks.real_tokens(context), self.compute_dtype)[:, :, None, None]
        _, seq = shape_list(context.input_mask)
        checked = check_length(seq, self.config.length, "linformer: a projection")
        with tf.control_dependencies([] if checked is None else [checked]):
            return LinformerTensors(tf.identity(real))


class Linformer(TableAttention):
    """Attention to k mixtures of tokens: time and memory linear in the length.

    Weights are softmax(scale query (E^T key)^T), and the values are E^T value. Padding is zero
    before it is projected, so it has no influence. Padding queries attend to the same mixtures.

    Variables: proj_seq_length/kernel, E: <float32>[length, projected_length].
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.proj_seq_length = keras.layers.Dense(
            self.config.projected_length,
            use_bias=False,
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=self.initializer_range),
            name="proj_seq_length",
        )

    def build(self, input_shape):
        build_child(self.proj_seq_length, [None, self.config.length])
        super().build(input_shape)

    def checkpoint_variables(self):
        return {"proj_seq_length/kernel": self.proj_seq_length.kernel}

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Counts the projections of keys and values by length, and both products with them."""
        return 8 * length * config.projected_length * hidden_size

    def attend(self, query, key, value, pattern: LinformerTensors, training=None):
        _, seq, _, _ = shape_list(key)
        kernel = tf.cast(self.proj_seq_length.kernel[:seq], key.dtype)
        # [batch, seq, heads, head_size], [seq, projected] -> [batch, heads, projected, head_size]
        key, value = (tf.einsum("bshd,sk->bhkd", x * pattern.real, kernel) for x in (key, value))
        # [batch, seq, heads, head_size] -> [batch, heads, queries, head_size]
        query = tf.transpose(query, [0, 2, 1, 3])
        no_bias = tf.zeros([1, 1, 1, 1], query.dtype)
        context = self.softmax_attention(query, key, value, no_bias, training)
        # [batch, heads, queries, head_size] -> [batch, queries, heads, head_size]
        return tf.transpose(context, [0, 2, 1, 3])
