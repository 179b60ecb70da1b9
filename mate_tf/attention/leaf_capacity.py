"""Limits the tokens of a leaf, so that no leaf costs much more than others.

As experts have in mixtures of experts, leaves have a capacity (Switch Transformers, section 2.2).
Treeformer has none.
"""

import tensorflow as tf

from mate_tf.layers.shapes import shape_list

NO_LEAF = -1
"""The leaf of tokens for which there is no room."""


def limit(leaves: tf.Tensor, real: tf.Tensor, num_leaves: int, siblings: int, factor: float):
    """Moves tokens from full leaves to a sibling, and out of all leaves if that is full as well.

    A leaf has room for ceil(factor * tokens / leaves) of the real tokens of an example, and keeps
    the first ones. The others go to the next child of the same node, behind its own tokens; the
    next one of the last child is the first.

    Args:
        leaves: <int32>[trees, batch, heads, seq].
        real: <bool>[batch, seq], tokens that are not padding, which take no room.
        num_leaves: leaves of each tree.
        siblings: children of a node of the last level.
        factor: the capacity, in mean numbers of tokens of a leaf.

    Returns:
        <int32>[trees, batch, heads, seq], NO_LEAF for tokens without a leaf.
    """
    trees, batch, heads, seq = shape_list(leaves)
    mean = tf.reduce_sum(tf.cast(real, tf.float32), -1) / tf.cast(num_leaves, tf.float32)
    # [batch, 1, 1]
    capacity = tf.maximum(tf.cast(tf.math.ceil(factor * mean), tf.int32), 1)[:, None, None]
    # Each tree, example and head has a row of groups: its leaves, and one for padding.
    width = num_leaves + 1
    own = tf.where(real[:, None], leaves, num_leaves)
    rows = tf.reshape(tf.range(trees * batch * heads) * width, [trees, batch, heads, 1])
    groups = tf.reshape(rows + own, [-1])
    num_groups = trees * batch * heads * width
    counts = tf.math.unsorted_segment_sum(tf.ones_like(groups), groups, num_groups)
    # Sorting is stable: within a group tokens keep their order.
    order = tf.argsort(groups, stable=True)
    before = tf.cumsum(counts, exclusive=True)
    rank_in_order = tf.range(tf.size(groups)) - tf.gather(before, tf.gather(groups, order))
    rank = tf.scatter_nd(order[:, None], rank_in_order, [tf.size(groups)])
    rank = tf.reshape(rank, [trees, batch, heads, seq])
    sibling = leaves - leaves % siblings + (leaves + 1) % siblings
    taken = tf.gather(counts, tf.minimum(rows + sibling, num_groups - 1))
    has_room = rank - capacity < capacity - tf.minimum(taken, capacity)
    has_room &= siblings > 1
    return tf.where(rank < capacity, leaves, tf.where(has_room, sibling, NO_LEAF))
