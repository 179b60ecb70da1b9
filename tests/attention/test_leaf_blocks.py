"""Blocks hold every query and key that share a leaf, once, whatever the occupancy."""

import numpy as np
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.attention import leaf_blocks

HEADS, LEAVES = 2, 5


def assignment(rng, shape, skew):
    """Leaves of tokens: evenly at random, most in one leaf, all in one, or some leaves empty."""
    if skew == "one":
        return np.full(shape, rng.integers(LEAVES), np.int32)
    leaves = rng.integers(LEAVES, size=shape)
    if skew == "most":
        leaves[rng.random(shape) < 0.8] = 3
    if skew == "empty":
        leaves = leaves // 2 * 2
    return leaves.astype(np.int32)


SKEWS = st.sampled_from(["none", "most", "one", "empty"])


@st.composite
def cases(draw, max_trees):
    """Both sides sorted by leaf; (tree, query, key) of the real ones that share a leaf; sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31 - 1)))
    trees, batch = draw(st.integers(1, max_trees)), draw(st.integers(1, 3))
    seq = draw(st.integers(1, 30))
    leaves = [assignment(rng, [trees, batch, HEADS, seq], draw(SKEWS)) for _ in range(2)]
    real = rng.random([batch, seq]) < rng.choice([0, 0.5, 1])
    by_leaf = [leaf_blocks.sort(tf.constant(x), tf.constant(real), LEAVES) for x in leaves]
    same = leaves[0][..., :, None] == leaves[1][..., None, :]
    same &= real[:, None, :, None] & real[:, None, None, :]
    expected = {
        (t, (b * seq + q) * HEADS + h, (b * seq + k) * HEADS + h)
        for t, b, h, q, k in np.argwhere(same)
    }
    return by_leaf, expected, trees, batch * HEADS * seq


@given(cases(max_trees=2), st.sampled_from([None, 1, 3, 16]))
def test_every_pair_of_a_leaf_once(case, size):
    by_leaf, expected, trees, tokens = case
    pairs = leaf_blocks.pairs(*by_leaf, trees, tokens, size)
    pairs = leaf_blocks.Pairs(*(np.array(part) for part in pairs))
    found = set()
    for p, tree in enumerate(pairs.tree):
        queries = pairs.queries[p][pairs.query_exists[p]]
        keys = pairs.keys[p][pairs.key_exists[p]]
        assert min(len(queries), len(keys)) > 0
        block = {(tree, q, k) for q in queries for k in keys}
        assert len(block) == len(queries) * len(keys)
        assert not block & found
        found |= block
    assert found == expected
    # queries are where their places say, and the others behind
    slots = np.full([int(pairs.num_query_blocks), pairs.queries.shape[1]], -1)
    for p, block in enumerate(pairs.query_block):
        slots[block] = np.where(pairs.query_exists[p], pairs.queries[p], -1)
    slots = np.append(slots, -1)
    for tree in range(trees):
        meet = {q for t, q, _ in expected if t == tree}
        for row, place in enumerate(pairs.outputs[tree]):
            assert slots[place] == (row if row in meet else -1)


@given(cases(max_trees=1))
def test_whole_groups_hold_each_pair_of_a_leaf_once(case):
    by_leaf, expected, _, tokens = case
    expected = {(q, k) for _, q, k in expected}
    found, alone = set(), set(leaf_blocks.without_keys(*by_leaf).numpy())
    for whole in leaf_blocks.whole_groups(*by_leaf):
        for blocks in zip(*map(np.array, whole), strict=True):
            queries, keys, query_exists, key_exists = blocks
            queries, keys = queries[query_exists], keys[key_exists]
            block = {(q, k) for q in queries for k in keys}
            assert len(block) == len(queries) * len(keys) > 0
            assert not block & found
            found |= block
    assert found == expected
    assert alone == set(range(tokens)) - {q for q, _ in expected}


def test_a_large_leaf_does_not_make_the_blocks_of_others_large():
    leaves = np.repeat(np.arange(32), 4)
    leaves = np.append(leaves, np.full(100, 32)).astype(np.int32)[None, None, None]
    real = tf.ones([1, leaves.size], tf.bool)
    by_leaf = leaf_blocks.sort(tf.constant(leaves), real, 33)
    sizes = [whole.keys.shape for whole in leaf_blocks.whole_groups(by_leaf, by_leaf)]
    assert [size for _, size in sizes] == [4, 4, 104]
    assert [count for count, _ in sizes] == [16, 15, 2]


def test_counts_by_tree_leaf_example_and_head():
    leaves = tf.constant([[[[1, 0, 1]], [[0, 0, 0]]]])
    real = tf.constant([[True, True, True], [True, False, True]])
    found = leaf_blocks.sort(leaves, real, 2)
    np.testing.assert_array_equal(found.counts, [1, 2, 2, 0])
    np.testing.assert_array_equal(found.indices, [1, 3, 5, 0, 2])


def test_blocks_grow_with_the_leaves():
    def size(count):
        counts = tf.fill([64], count)
        return int(leaf_blocks._cheapest_size(counts, counts))

    assert size(4) == 8
    assert size(100) == 104
    assert size(128) == 128
    assert size(5000) == 512
