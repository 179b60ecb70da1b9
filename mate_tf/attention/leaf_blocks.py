"""Tokens sorted by leaf and cut into blocks, and the pairs of blocks that share a leaf.

A group has the tokens of one head, example, tree and leaf. All blocks of a batch have one size,
chosen from a few so that little padding is computed. A leaf has as many blocks as it needs, and an
empty leaf has none. Everything here is integers. Shapes are dynamic, so XLA cannot compile it.

Indices are positions in a projection flattened to [batch * seq * heads, head_size]; a vector is
one entry of it.
"""

from typing import NamedTuple

import tensorflow as tf

from mate_tf.layers.shapes import shape_list

BLOCK_SIZES = (8, 16, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512)
"""Sizes of blocks to choose from, besides the size that makes every leaf one block."""

GATHER_COST = 96
"""Cost of gathering the vectors of a token, in pairs of tokens compared."""

JOINT_COST = 1.3
"""Cost of a softmax over several blocks, relative to one over a single block."""

CLASSES = (0.5, 0.95)
"""Shares of the groups, ordered by size, at which the next class of whole groups begins. The last
class is small, so that one leaf with many tokens does not make the blocks of others large."""

LARGEST_WHOLE = 1024
"""Tokens of a group above which blocks of whole groups would take too much memory."""


class Sorted(NamedTuple):
    """Tokens in the order of their groups: tree, leaf, example, head.

    Attributes:
        indices: <int32>[n], indices of the vectors, without padding.
        counts: <int32>[groups], number of tokens of each group.
        padding: <int32>[padding], indices of the vectors in no group: padding, and tokens without
            a leaf.
    """

    indices: tf.Tensor
    counts: tf.Tensor
    padding: tf.Tensor


class Pairs(NamedTuple):
    """Pairs of a block of queries and a block of keys of the same group.

    Attributes:
        queries: <int32>[pairs, block], indices of the queries.
        keys: <int32>[pairs, block], indices of the keys.
        query_exists: <bool>[pairs, block], false where a block is not full.
        key_exists: <bool>[pairs, block].
        tree: <int32>[pairs], number of the tree whose leaf they share.
        query_block: <int32>[pairs], number of the block of queries, ascending.
        num_query_blocks: <int32>[], number of these blocks.
        outputs: <int32>[trees, vectors], position of each query in [num_query_blocks * block];
            behind all of them if it has no key.
    """

    queries: tf.Tensor
    keys: tf.Tensor
    query_exists: tf.Tensor
    key_exists: tf.Tensor
    tree: tf.Tensor
    query_block: tf.Tensor
    num_query_blocks: tf.Tensor
    outputs: tf.Tensor


class Whole(NamedTuple):
    """Groups with queries and keys, each as one block.

    Attributes:
        queries: <int32>[groups, query block], indices of the queries.
        keys: <int32>[groups, key block], indices of the keys.
        query_exists: <bool>[groups, query block], false where a block is not full.
        key_exists: <bool>[groups, key block].
    """

    queries: tf.Tensor
    keys: tf.Tensor
    query_exists: tf.Tensor
    key_exists: tf.Tensor


def sort(leaves: tf.Tensor, real: tf.Tensor, num_leaves: int) -> Sorted:
    """Sorts tokens by group, in time linear in their number.

    Args:
        leaves: <int32>[trees, batch, heads, seq]; -1 for tokens without a leaf.
        real: <bool>[batch, seq], tokens that are not padding.
        num_leaves: leaves of each tree.
    """
    trees, batch, heads, seq = shape_list(leaves)
    example_head = tf.reshape(tf.range(batch * heads), [batch, heads, 1])
    example, head = example_head // heads, example_head % heads
    # [trees, batch, heads, seq]
    indices = (example * seq + tf.range(seq)) * heads + head
    indices = tf.broadcast_to(indices, tf.shape(leaves))
    of_tree = tf.range(trees)[:, None, None, None] * num_leaves
    leaf = tf.where(real[:, None] & (leaves >= 0), of_tree + leaves, trees * num_leaves)
    # Within a leaf, tokens keep their order: by example, head, position.
    *parts, padding = tf.dynamic_partition(indices, leaf, trees * num_leaves + 1)
    groups = tf.reshape(leaf * (batch * heads) + example_head, [-1])
    num_groups = trees * num_leaves * batch * heads
    counts = tf.math.bincount(groups, minlength=num_groups, maxlength=num_groups)
    return Sorted(tf.concat(parts, 0), counts, padding)


def pairs(queries: Sorted, keys: Sorted, num_trees: int, num_vectors, size=None) -> Pairs:
    """Makes all pairs of blocks that share a group.

    Args:
        queries: the sorted queries.
        keys: the sorted keys, by the same groups.
        num_trees: trees of each head.
        num_vectors: vectors of a projection, batch * seq * heads.
        size: size of the blocks; None: the cheapest of BLOCK_SIZES for these counts.
    """
    size = _cheapest_size(queries.counts, keys.counts) if size is None else size
    key_blocks = _ceil_div(keys.counts, size)
    query_blocks = tf.where(key_blocks > 0, _ceil_div(queries.counts, size), 0)
    of_group = query_blocks * key_blocks
    num_groups = tf.size(of_group)
    group = tf.repeat(tf.range(num_groups), of_group)
    number = tf.range(tf.size(group)) - tf.gather(_before(of_group), group)
    num_keys = tf.gather(key_blocks, group)
    query_indices, query_exists = _block(queries, group, number // num_keys, size)
    key_indices, key_exists = _block(keys, group, number % num_keys, size)
    groups_of_tree = num_groups // num_trees
    num_query_blocks = tf.reduce_sum(query_blocks)
    # The position of each query in the outputs: its rank in the blocks of its group.
    of_token = tf.repeat(tf.range(num_groups), queries.counts)
    rank = tf.range(tf.size(of_token)) - tf.gather(_before(queries.counts), of_token)
    has_key = tf.gather(query_blocks, of_token) > 0
    position = tf.gather(_before(query_blocks), of_token) * size + rank
    behind = num_query_blocks * size
    # [trees, vectors]
    outputs = tf.scatter_nd(
        tf.stack([of_token // groups_of_tree, queries.indices], axis=-1),
        tf.where(has_key, position, behind) - behind,
        [num_trees, num_vectors],
    )
    return Pairs(
        query_indices,
        key_indices,
        query_exists,
        key_exists,
        tree=group // groups_of_tree,
        query_block=tf.gather(_before(query_blocks), group) + number // num_keys,
        num_query_blocks=num_query_blocks,
        outputs=outputs + behind,
    )


def whole_groups(queries: Sorted, keys: Sorted) -> list[Whole]:
    """Makes the groups with a query and a key, in classes of similar size with one block size each.

    Args:
        queries: the sorted queries.
        keys: the sorted keys, by the same groups.

    Returns:
        One Whole for each class; some may be empty.
    """
    classes = []
    for group, query_size, key_size in _classes(queries.counts, keys.counts):
        query_indices, query_exists = _block(queries, group, 0 * group, query_size)
        key_indices, key_exists = _block(keys, group, 0 * group, key_size)
        classes.append(Whole(query_indices, key_indices, query_exists, key_exists))
    return classes


def without_keys(queries: Sorted, keys: Sorted) -> tf.Tensor:
    """Returns the indices of queries without keys in their group, and of padding; <int32>[n]."""
    alone = tf.boolean_mask(queries.indices, tf.repeat(keys.counts == 0, queries.counts))
    return tf.concat([alone, queries.padding], 0)


def whole_groups_are_cheaper(queries: Sorted, keys: Sorted) -> tf.Tensor:
    """Returns whether `whole_groups` are cheaper to compute than `pairs`, <bool>[]."""
    classes = _classes(queries.counts, keys.counts)
    whole = tf.add_n(
        [_cost(tf.size(group), query_size, key_size) for group, query_size, key_size in classes]
    )
    largest = tf.reduce_max(tf.concat([queries.counts, keys.counts], 0))
    _, in_pairs = _sizes_and_costs(queries.counts, keys.counts)
    return (largest <= LARGEST_WHOLE) & (whole <= tf.reduce_min(in_pairs))


def _classes(query_counts, key_counts):
    """Returns for each class its groups <int32>[groups], and sizes of query and of key blocks."""
    order = tf.argsort(query_counts)
    both = tf.minimum(tf.gather(query_counts, order), tf.gather(key_counts, order)) > 0
    order = tf.boolean_mask(order, both)
    count = tf.size(order)
    begins = [tf.cast(share * tf.cast(count, tf.float32), tf.int32) for share in CLASSES]
    classes = []
    for first, end in zip([0, *begins], [*begins, count], strict=True):
        group = order[first:end]
        sizes = (
            _size_for(tf.reduce_max(tf.gather(counts, group)))
            for counts in (query_counts, key_counts)
        )
        classes.append((group, *sizes))
    return classes


def _size_for(count):
    """Returns the smallest of 1, 2, 4, 8, 16, 24, 32, … that is not below `count`, <int32>[]."""
    smaller = tf.where(count > 2, 4, tf.where(count > 1, 2, 1))
    return tf.where(count > 4, _ceil_div(count, 8) * 8, smaller)


def _block(tokens: Sorted, group, number, size):
    """Returns the indices of the `number`-th block of each `group`, and which of them exist."""
    counts = tf.gather(tokens.counts, group)
    first = tf.gather(_before(tokens.counts), group)
    within = (number * size)[:, None] + tf.range(size)
    exists = within < counts[:, None]
    position = first[:, None] + tf.minimum(within, counts[:, None] - 1)
    return tf.gather(tokens.indices, position), exists


def _cheapest_size(query_counts, key_counts):
    sizes, costs = _sizes_and_costs(query_counts, key_counts)
    return tf.gather(sizes, tf.argmin(costs))


def _sizes_and_costs(query_counts, key_counts):
    """Returns the possible sizes of the blocks of `pairs`, and their costs."""
    largest = tf.maximum(tf.reduce_max(query_counts), tf.reduce_max(key_counts))
    fitting = tf.maximum(_ceil_div(largest, 8) * 8, 8)
    sizes = tf.concat([BLOCK_SIZES, tf.minimum(fitting, BLOCK_SIZES[-1])[None]], 0)
    blocks = [_ceil_div(counts[:, None], sizes) for counts in (query_counts, key_counts)]
    num_pairs = tf.reduce_sum(blocks[0] * blocks[1], 0)
    cost = _cost(num_pairs, sizes, sizes) * tf.where(sizes < largest, JOINT_COST, 1.0)
    return sizes, cost


def _cost(num_pairs, query_size, key_size):
    """Computes the cost of comparing blocks, in pairs of tokens."""
    num_pairs, query_size, key_size = (
        tf.cast(x, tf.float32) for x in (num_pairs, query_size, key_size)
    )
    return num_pairs * (query_size * key_size + GATHER_COST * (query_size + key_size) / 2)


def _before(counts):
    return tf.cumsum(counts, exclusive=True)


def _ceil_div(a, b):
    return (a + b - 1) // b


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
