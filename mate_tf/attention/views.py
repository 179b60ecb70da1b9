"""The views of a sorted tensor that bucketed attention works on (MATE paper, appendix D)."""

from typing import NamedTuple

import tensorflow as tf


class MultiViewEmbedding(NamedTuple):
    """One projection (query, key or value) of the heads of one type, gathered four ways.

    The paper sorts and buckets by reshapes and rotations; here each view is one gather from the
    projection, which sorts and transposes at once. Views that a projection does not need are None.

    Attributes:
        full: <float>[batch, heads, seq, head_size], in the order of the input.
        global_: <float>[batch, heads, global_length, head_size], first places of the order.
        long: <float>[batch * blocks, heads, block, head_size], the places that follow.
        window: <float>[batch * blocks, heads, global_length + block + 2 * radius, head_size],
            the global tokens, the block's own and `radius` on either side.
    """

    full: tf.Tensor | None = None
    global_: tf.Tensor | None = None
    long: tf.Tensor | None = None
    window: tf.Tensor | None = None


def gather_views(projection, **rows) -> MultiViewEmbedding:
    """Views of `projection` <float>[batch, seq, heads, head_size] by row numbers.

    Args:
        projection: the tensor, all heads.
        **rows: view name -> <int32>[...] rows of the projection as [batch * seq * heads,
            head_size]; see `head_rows`.
    """
    flat = tf.reshape(projection, [-1, projection.shape[-1]])
    return MultiViewEmbedding(**{name: tf.gather(flat, index) for name, index in rows.items()})


def gather_back(outputs, places) -> tf.Tensor:
    """The opposite of `gather_views`, for what attention made of views.

    Args:
        outputs: list of <float>[..., head_size], whose rows are counted through all of them.
        places: <int32>[...] row numbers; the one behind all others is a row of zeros.

    Returns:
        <float>[..., head_size]
    """
    size = outputs[0].shape[-1]
    rows = [tf.reshape(x, [-1, size]) for x in outputs]
    rows = tf.concat([*rows, tf.zeros([1, size], rows[0].dtype)], axis=0)
    # Makes the gradient dense; a concatenation takes a sparse one apart by sizes that are known
    # only when it runs, which no TPU program may have.
    rows = tf.reshape(rows, [-1, size])
    return tf.gather(rows, places)


def head_rows(tokens, first_head: int, num_heads: int, total_heads: int) -> tf.Tensor:
    """Row numbers of some heads' vectors: tokens <int32>[a, n] -> <int32>[a, num_heads, n].

    Args:
        tokens: token numbers within the batch, example * seq + place.
        first_head: first of the heads wanted.
        num_heads: how many.
        total_heads: heads in the projection.
    """
    heads = tf.range(first_head, first_head + num_heads)
    return tokens[:, None, :] * total_heads + heads[None, :, None]
