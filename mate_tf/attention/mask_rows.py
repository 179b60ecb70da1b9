"""Masks computed query by query in a loop that Numba compiles, for pairs that form no blocks.

The products of TensorFlow compute blocks of pairs. A loop computes only the pairs that are allowed,
each of them several times as slowly. It runs on the CPU and in the process that made the graph
(`tf.numpy_function`).
"""

import concurrent.futures
import functools
import importlib.util
import os
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.errors import InputError

PAIR_COST = 6
"""Cost of a pair in the loop, relative to one in a product of all queries and keys."""


class Rows(NamedTuple):
    """The allowed keys of each query, for n tokens.

    Attributes:
        first: <int64>[1 or heads, n + 1], number of the first pair of each query, and their end.
        keys: <int32>[pairs], positions of the keys, ascending for each query.
    """

    first: np.ndarray
    keys: np.ndarray


class RowTensors(NamedTuple):
    """Tensors by which `attend` computes a mask.

    Attributes:
        first: <int64>[1 or heads, n + 1], see Rows.
        keys: <int32>[pairs], see Rows.
        real: <bool>[batch, seq], tokens that are not padding; seq may be below n.
    """

    first: tf.Tensor
    keys: tf.Tensor
    real: tf.Tensor


def check_installed() -> None:
    """Raises an InputError if Numba is not installed."""
    if not importlib.util.find_spec("numba"):
        raise InputError("form rows needs Numba: pip install 'mate-tf[rows]'")


def rows(mask: np.ndarray) -> Rows:
    """Lists the keys of each query of a mask, <bool>[1 or heads, n, n]."""
    heads, n, _ = mask.shape
    before = np.concatenate([[0], np.cumsum(mask.sum(-1))])
    first = before[np.arange(heads)[:, None] * n + np.arange(n + 1)]
    return Rows(first.astype(np.int64), np.nonzero(mask)[2].astype(np.int32))


def tensors(own: Rows, real: tf.Tensor) -> RowTensors:
    """Makes the tensors for a batch with the real tokens <bool>[batch, seq]."""
    return RowTensors(tf.constant(own.first), tf.constant(own.keys), real)


def attend(layer, query, key, value, pattern: RowTensors) -> tf.Tensor:
    """Computes attention row by row, without dropout, in float32.

    Gradients are those of dense attention under the mask, which is computed again for them.

    Args:
        query: <float>[batch, seq, heads, head_size].
        key: <float>[batch, seq, heads, head_size].
        value: <float>[batch, seq, heads, head_size].

    Returns:
        <float>[batch, seq, heads, head_size]
    """

    def dense(*parts):
        scores = tf.matmul(*parts[:2], transpose_b=True) * layer.scale(tf.float32)
        seq = tf.shape(pattern.real)[1]
        mask = tf.numpy_function(dense_mask, [*pattern[:2], seq], tf.bool)
        mask &= pattern.real[:, None, None] & pattern.real[:, None, :, None]
        scores = tf.where(mask, scores, masked_score(tf.float32))
        weights = tf.nn.softmax(scores) * tf.cast(mask, tf.float32)
        return tf.matmul(weights, parts[2])

    @tf.custom_gradient
    def compute(*parts):
        def gradients(upstream):
            with tf.GradientTape() as tape:
                tape.watch(parts)
                outputs = dense(*parts)
            return tape.gradient(outputs, parts, upstream)

        inputs = [*parts, *pattern, layer.scale(tf.float32)]
        outputs = tf.numpy_function(_attend, inputs, tf.float32, stateful=False)
        return tf.ensure_shape(outputs, parts[0].shape), gradients

    # [batch, seq, heads, head_size] -> [batch, heads, seq, head_size]: a head's keys lie together
    parts = (tf.transpose(tf.cast(x, tf.float32), [0, 2, 1, 3]) for x in (query, key, value))
    return tf.cast(tf.transpose(compute(*parts), [0, 2, 1, 3]), query.dtype)


def dense_mask(first: np.ndarray, keys: np.ndarray, seq: int) -> np.ndarray:
    """Returns the mask of the first `seq` tokens from the arrays of Rows, <bool>[heads, seq, seq].

    Args:
        first: <int64>[1 or heads, n + 1].
        keys: <int32>[pairs].
        seq: tokens, n at most.
    """
    heads, n = len(first), first.shape[1] - 1
    counts = np.diff(np.append(first[:, :-1].ravel(), first[-1, -1]))
    mask = np.zeros([heads * n, n], bool)
    mask[np.repeat(np.arange(heads * n), counts), keys] = True
    return mask.reshape(heads, n, n)[:, :seq, :seq]


def _attend(query, key, value, first, keys, real, scale):
    """Computes <float32>[batch, heads, seq, head_size] from arrays, heads in several threads."""
    batch, heads, _, size = query.shape
    outputs = np.empty_like(query)
    attend_in_head = _compiled(size)

    def compute(index):
        example, head = divmod(index, heads)
        own = example, head
        of_head = first[head % len(first)]
        attend_in_head(
            query[own], key[own], value[own], of_head, keys, real[example], scale, outputs[own]
        )

    with concurrent.futures.ThreadPoolExecutor(_num_threads()) as threads:
        list(threads.map(compute, range(batch * heads)))
    return outputs


def _num_threads() -> int:
    return tf.config.threading.get_intra_op_parallelism_threads() or len(os.sched_getaffinity(0))


@functools.cache
def _compiled(size):
    """Compiles the loop for one example and head; the constant head size makes it a fifth faster.

    It may add in any order, so that it uses vectors; infinities keep their meaning.
    """
    import numba

    @numba.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
    def attend_in_head(query, key, value, first, keys, real, scale, outputs):
        seq = len(query)
        seen, weights = np.empty(seq, np.int32), np.empty(seq, np.float32)
        context = np.empty(size, np.float32)
        for i in range(seq):
            count, largest, total = 0, np.float32(-np.inf), np.float32(0)
            if real[i]:
                for pair in range(first[i], first[i + 1]):
                    j = keys[pair]
                    if j >= seq:
                        break
                    if real[j]:
                        score = np.float32(0)
                        for d in range(size):
                            score += query[i, d] * key[j, d]
                        seen[count], weights[count] = j, score * scale
                        largest = max(largest, weights[count])
                        count += 1
            for n in range(count):
                weights[n] = np.exp(weights[n] - largest)
                total += weights[n]
            context[:] = 0
            for n in range(count):
                j, weight = seen[n], weights[n] / total
                for d in range(size):
                    context[d] += weight * value[j, d]
            outputs[i] = context

    return attend_in_head


MASKED_SCORE = -1e9
"""Added to the score of a pair that must not attend; exp() of it is exactly zero."""


def masked_score(dtype) -> tf.Tensor:
    """Returns MASKED_SCORE as a scalar of `dtype`; in float16, half of its lowest number.

    MASKED_SCORE is -inf in float16, and the softmax over a row of -inf is NaN.
    """
    return tf.constant(max(MASKED_SCORE, float(tf.as_dtype(dtype).min) / 2), dtype)


def mask_bias(mask: tf.Tensor, dtype) -> tf.Tensor:
    """Returns the additive form of a mask: 0 for allowed pairs, `masked_score` elsewhere.

    Args:
        mask: <bool>[...].
        dtype: dtype of the result, which has the shape of `mask`.
    """
    return tf.where(mask, tf.zeros([], dtype), masked_score(dtype))
