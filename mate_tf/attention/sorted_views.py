"""Views of a sorted tensor, which bucketed attention works on (MATE paper, appendix D).

Indices are positions in a projection flattened to [batch * seq * heads, head_size].
"""

from typing import NamedTuple

import tensorflow as tf


class MultiViewEmbedding(NamedTuple):
    """One projection (query, key or value) of the heads of one type, gathered in four ways.

    The paper sorts and buckets by reshapes and rotations. Here each view is one gather from the
    projection, which sorts and transposes at once. Views that are not needed are None.

    Attributes:
        full: <float>[batch, heads, seq, head_size], in the order of the input.
        global_: <float>[batch, heads, global_length, head_size], the first ranks of the order.
        long: <float>[batch * blocks, heads, block, head_size], the ranks that follow.
        window: <float>[batch * blocks, heads, global_length + block + 2 * radius, head_size],
            the global tokens, the tokens of the block and `radius` on either side.
    """

    full: tf.Tensor | None = None
    global_: tf.Tensor | None = None
    long: tf.Tensor | None = None
    window: tf.Tensor | None = None


def gather_views(projection, **indices) -> MultiViewEmbedding:
    """Gathers views of a projection.

    Args:
        projection: <float>[batch, seq, heads, head_size].
        **indices: name of a view -> <int32>[...], indices as `head_indices` makes them.

    Returns:
        The named views, <float>[..., head_size] each.
    """
    # [batch, seq, heads, head_size] -> [batch * seq * heads, head_size]
    flat = tf.reshape(projection, [-1, projection.shape[-1]])
    return MultiViewEmbedding(**{name: tf.gather(flat, index) for name, index in indices.items()})


def gather_back(outputs, indices) -> tf.Tensor:
    """Gathers the outputs of attention over views; the inverse of `gather_views`.

    Args:
        outputs: list of <float>[..., head_size]; vectors are numbered through all of them.
        indices: <int32>[...], numbers of vectors; the number behind the last one gives zeros.

    Returns:
        <float>[..., head_size]
    """
    size = outputs[0].shape[-1]
    # [vectors + 1, head_size]
    vectors = [tf.reshape(x, [-1, size]) for x in outputs]
    vectors = tf.concat([*vectors, tf.zeros([1, size], vectors[0].dtype)], axis=0)
    # Makes the gradient dense. A concatenation splits a sparse gradient by sizes that are known
    # only when it runs, which no TPU program may have.
    vectors = tf.reshape(vectors, [-1, size])
    return tf.gather(vectors, indices)


def head_indices(tokens, first_head: int, num_heads: int, total_heads: int) -> tf.Tensor:
    """Returns the indices of some heads' vectors of some tokens.

    Args:
        tokens: <int32>[a, n], numbers of tokens within the batch, example * seq + position.
        first_head: first of the heads.
        total_heads: heads in the projection.

    Returns:
        <int32>[a, num_heads, n]
    """
    heads = tf.range(first_head, first_head + num_heads)
    # [a, 1, n] * heads + [1, num_heads, 1]
    return tokens[:, None, :] * total_heads + heads[None, :, None]
