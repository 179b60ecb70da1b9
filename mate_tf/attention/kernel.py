"""Performer: softmax attention estimated by random features (Choromanski et al., 2021, FAVOR+).

tf-models' KernelAttention computes the same, but could not be wrapped: it has projections of its
own names; "exp" fails in mixed_bfloat16; and it subtracts one maximum for all tokens of an example,
padding among them, and adds 1e-6 to the denominators, below which those of many queries lie. A test
compares the two where this does not matter. Its random directions are not used either, as they
are not uniform (`orthogonal_features`): with more of them the estimate does not converge.
"""

import dataclasses

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import MASKED_SCORE, AttentionPattern, TableAttention
from mate_tf.errors import InputError


@dataclasses.dataclass(frozen=True)
class KernelOptions:
    """Options of `kernel`.

    Attributes:
        num_random_features: m; the more, the closer to softmax attention.
        seed: of the random features, which are the same in all layers and heads.
    """

    num_random_features: int = 256
    seed: int = 0


class KernelPattern(AttentionPattern):
    """Which tokens are real.

    Raises:
        InputError: an option out of range.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        if self.config.num_random_features < 1:
            raise InputError(
                f"num_random_features must be 1 or more, not {self.config.num_random_features}"
            )

    def mask(self, context):
        return masks.full(context)[:, None]

    def call(self, context, training=None):
        return {"real": masks.real_tokens(context)[:, :, None, None]}


class KernelAttention(TableAttention):
    """Weights phi(query) phi(key), normalised; time and memory linear in the length.

    phi(x) = exp(W x - |x|^2 / 2) for random W <float32>[m, head_size]. Padding is not seen; padding
    queries see what real ones do, as in `full`. Dropout leaves keys out. Computed in float32.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.directions = orthogonal_features(
            self.config.num_random_features, self.head_size, self.config.seed
        )

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Features of queries and keys, their sums with the values, and back; denominators."""
        features = config.num_random_features
        return 8 * length * features * hidden_size + 2 * length * features * num_heads

    def attend(self, query, key, value, pattern, training=None):
        # b batch, s sequence, h heads, d head_size, m random features
        dtype, real = value.dtype, pattern["real"]
        value = tf.cast(self.drop_keys(value, training), tf.float32)
        root = tf.sqrt(self.scale(tf.float32))
        query, key = (tf.cast(x, tf.float32) * root for x in (query, key))
        of_query, of_key = (tf.einsum("bshd,md->bshm", x, self.directions) for x in (query, key))
        of_key -= tf.reduce_sum(tf.square(key), -1, keepdims=True) / 2
        of_key = tf.where(real, of_key, MASKED_SCORE)
        # What is taken from a feature of all keys is given to it in the queries, and what is the
        # same in all features of a query does not count: so sums of weights are 1 or more.
        largest = tf.stop_gradient(tf.reduce_max(of_key, axis=1, keepdims=True))
        of_key = tf.where(real, tf.exp(of_key - largest), 0.0)
        of_query += largest
        of_query -= tf.stop_gradient(tf.reduce_max(of_query, axis=-1, keepdims=True))
        of_query = tf.exp(of_query)
        sums = tf.einsum("bshm,bshd->bhmd", of_key, value)
        context = tf.einsum("bshm,bhmd->bshd", of_query, sums)
        weights = tf.einsum("bshm,bhm->bsh", of_query, tf.reduce_sum(of_key, axis=1))
        return tf.cast(tf.math.divide_no_nan(context, weights[..., None]), dtype)


def orthogonal_features(count: int, size: int, seed: int) -> np.ndarray:
    """Random directions, orthogonal in groups of `size`, as long as normal vectors are.

    As tf-models' create_projection_matrix, but a constant, also where a graph is built: no QR
    decomposition has to run in each step. And every direction is as likely as any other: those of
    a QR decomposition are not, unless the diagonal of R is made positive.

    Returns:
        <float32>[count, size]
    """
    rng = np.random.default_rng(seed)
    decompositions = (np.linalg.qr(rng.normal(size=[size, size])) for _ in range(-(-count // size)))
    groups = [(q * np.sign(np.diag(r))).T for q, r in decompositions]
    lengths = np.linalg.norm(rng.normal(size=[count, size]), axis=1, keepdims=True)
    return (np.concatenate(groups)[:count] * lengths).astype(np.float32)
