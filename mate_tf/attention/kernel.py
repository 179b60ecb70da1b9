"""Performer: softmax attention estimated by random features (Choromanski et al., 2021, FAVOR+).

tf-models' KernelAttention computes the same but was not usable: its projections have names of their
own; "exp" fails in mixed_bfloat16; it subtracts one maximum for all tokens of an example, padding
included, and adds 1e-6 to the denominators, which are below that for many queries. A test compares
the two where this does not matter. Its random directions are not used because they are not uniform
(see `orthogonal_features`): with more of them the estimate does not converge.
"""

import dataclasses
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import MASKED_SCORE, AttentionPattern, TableAttention
from mate_tf.field_types import CountOrZero, Size


@dataclasses.dataclass(frozen=True)
class KernelOptions:
    """Options of `kernel`.

    Attributes:
        num_random_features: m; more features are closer to softmax attention.
        seed: seed of the random features, which all layers and heads share.
    """

    num_random_features: Size = 256
    seed: CountOrZero = 0


class KernelTensors(NamedTuple):
    """Tensors of `KernelPattern`.

    Attributes:
        real: <bool>[batch, seq, 1, 1], false for padding.
    """

    real: tf.Tensor


class KernelPattern(AttentionPattern):
    """Pattern of the real tokens."""

    def mask(self, context):
        return masks.full(context)[:, None]

    def call(self, context, training=None):
        return KernelTensors(masks.real_tokens(context)[:, :, None, None])


class KernelAttention(TableAttention):
    """Normalized weights phi(query) phi(key); time and memory linear in the length.

    phi(x) = exp(W x - |x|^2 / 2) for random W <float32>[m, head_size]. No query attends to padding;
    padding queries attend to all real tokens, as in `full`. Dropout drops whole keys. All of it is
    computed in float32.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.directions = orthogonal_features(
            self.config.num_random_features, self.head_size, self.config.seed
        )

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Counts features of queries and keys, their products with values, and denominators."""
        features = config.num_random_features
        return 8 * length * features * hidden_size + 2 * length * features * num_heads

    def attend(self, query, key, value, pattern: KernelTensors, training=None):
        # b batch, s sequence, h heads, d head_size, m random features
        dtype, real = value.dtype, pattern.real
        value = tf.cast(self.drop_keys(value, training), tf.float32)
        root = tf.sqrt(self.scale(tf.float32))
        query, key = (tf.cast(x, tf.float32) * root for x in (query, key))
        # [batch, seq, heads, head_size], [features, head_size] -> [batch, seq, heads, features]
        of_query, of_key = (tf.einsum("bshd,md->bshm", x, self.directions) for x in (query, key))
        of_key -= tf.reduce_sum(tf.square(key), -1, keepdims=True) / 2
        of_key = tf.where(real, of_key, MASKED_SCORE)
        # The maximum of each feature moves from the keys to the queries; a constant of all features
        # of a query cancels in the division. Then every sum of weights is 1 or more.
        largest = tf.stop_gradient(tf.reduce_max(of_key, axis=1, keepdims=True))
        of_key = tf.where(real, tf.exp(of_key - largest), 0.0)
        of_query += largest
        of_query -= tf.stop_gradient(tf.reduce_max(of_query, axis=-1, keepdims=True))
        of_query = tf.exp(of_query)
        # [batch, heads, features, head_size]
        sums = tf.einsum("bshm,bshd->bhmd", of_key, value)
        # [batch, queries, heads, head_size]
        context = tf.einsum("bshm,bhmd->bshd", of_query, sums)
        # [batch, queries, heads]
        weights = tf.einsum("bshm,bhm->bsh", of_query, tf.reduce_sum(of_key, axis=1))
        return tf.cast(tf.math.divide_no_nan(context, weights[..., None]), dtype)


def orthogonal_features(count: int, size: int, seed: int) -> np.ndarray:
    """Draws random directions, orthogonal in groups of `size`, with the lengths of normal vectors.

    tf-models' create_projection_matrix does this in the graph, with a QR decomposition in each
    step. Here they are a constant, and all directions are equally likely: those of a QR
    decomposition are not, unless the diagonal of R is made positive.

    Returns:
        <float32>[count, size]
    """
    rng = np.random.default_rng(seed)
    decompositions = (np.linalg.qr(rng.normal(size=[size, size])) for _ in range(-(-count // size)))
    groups = [(q * np.sign(np.diag(r))).T for q, r in decompositions]
    lengths = np.linalg.norm(rng.normal(size=[count, size]), axis=1, keepdims=True)
    return (np.concatenate(groups)[:count] * lengths).astype(np.float32)
