"""Linformer: keys and values projected along the sequence to a fixed length (Wang et al., 2020).

A baseline of the MATE paper (section 5.1), as google-research/tapas has it under proj_value_length:
one projection a layer, shared by all heads and by keys and values. It ties a model to a length, and
mixes tokens before anything knows of rows and columns.
"""

import dataclasses

import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import AttentionPattern, TableAttention, build_child, shape_list
from mate_tf.attention.static_masks import refuse_longer
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras


@dataclasses.dataclass(frozen=True)
class LinformerOptions:
    """Options of `linformer`.

    Attributes:
        projected_length: k, how many projected keys and values there are.
        length: n, the largest length; shorter inputs use the first rows of the projection.
    """

    projected_length: int = 256
    length: int = 512


class LinformerPattern(AttentionPattern):
    """Which tokens are real: the others are left out of the projection.

    Raises:
        InputError: an option out of range; when called, an input longer than `length`.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        for name in ("projected_length", "length"):
            if self.config.get(name) < 1:
                raise InputError(f"{name} must be 1 or more, not {self.config.get(name)}")

    def mask(self, context):
        return masks.full(context)[:, None]

    def call(self, context, training=None):
        real = tf.cast(masks.real_tokens(context), self.compute_dtype)[:, :, None, None]
        _, seq = shape_list(context.input_mask)
        checked = refuse_longer(seq, self.config.length, "linformer: a projection")
        with tf.control_dependencies([] if checked is None else [checked]):
            return {"real": tf.identity(real)}


class Linformer(TableAttention):
    """Attention to k mixtures of tokens: time and memory linear in the length.

    Scores are softmax(scale query (E^T key)^T), which weigh E^T value. Padding is zero before it is
    projected, so it has no influence. Padding queries see what real ones do, as in `full`.

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
        """Keys and values to k mixtures, and both products with these."""
        return 8 * length * config.projected_length * hidden_size

    def attend(self, query, key, value, pattern, training=None):
        _, seq, _, _ = shape_list(key)
        kernel = tf.cast(self.proj_seq_length.kernel[:seq], key.dtype)
        key, value = (tf.einsum("bshd,sk->bhkd", x * pattern["real"], kernel) for x in (key, value))
        query = tf.transpose(query, [0, 2, 1, 3])
        no_bias = tf.zeros([1, 1, 1, 1], query.dtype)
        context = self.softmax_attention(query, key, value, no_bias, training)
        return tf.transpose(context, [0, 2, 1, 3])
