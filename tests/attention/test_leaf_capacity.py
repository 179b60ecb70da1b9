"""Leaves with a capacity."""

import math

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from mate_tf.attention import AttentionConfig, leaf_blocks

limit = tf.function(
    leaf_blocks.limit,
    input_signature=[
        tf.TensorSpec([None, None, 3, None], tf.int32),
        tf.TensorSpec([None, None], tf.bool),
        *[tf.TensorSpec([], tf.int32)] * 2,
        tf.TensorSpec([], tf.float32),
    ],
    autograph=False,
)


def one_by_one(leaves, real, num_leaves, siblings, factor):
    """The same for one tree, example and head, token by token."""
    capacity = max(math.ceil(factor * real.sum() / num_leaves), 1)
    found, seen = leaves.copy(), np.zeros(num_leaves, int)
    full = np.minimum(np.bincount(leaves[real], minlength=num_leaves), capacity)
    for token in np.flatnonzero(real):
        leaf = leaves[token]
        seen[leaf] += 1
        if seen[leaf] <= capacity:
            continue
        sibling = leaf // siblings * siblings + (leaf + 1) % siblings
        has_room = full[sibling] < capacity
        found[token] = sibling if has_room else -1
        full[sibling] += has_room
    return found


@settings(max_examples=50)
@given(
    seed=st.integers(0, 2**31 - 1),
    seq=st.integers(1, 40),
    nodes=st.integers(1, 4),
    siblings=st.integers(2, 3),
    factor=st.sampled_from([0.25, 1.0, 1.5, 100.0]),
)
def test_limit_token_by_token(seed, seq, nodes, siblings, factor):
    rng = np.random.default_rng(seed)
    num_leaves = nodes * siblings
    # most tokens are in few leaves
    leaves = (num_leaves * rng.random([2, 2, 3, seq]) ** 3).astype(np.int32)
    real = rng.random([2, seq]) < 0.8
    found = limit(leaves, real, num_leaves, siblings, np.float32(factor)).numpy()
    for tree, example, head in np.ndindex(2, 2, 3):
        own = leaves[tree, example, head]
        expected = one_by_one(own, real[example], num_leaves, siblings, factor)
        np.testing.assert_array_equal(
            found[tree, example, head][real[example]], expected[real[example]]
        )


def inputs(tables):
    context = tables.random_context(np.random.default_rng(4), 50, [7, 3, 0])
    return 3 * tf.random.stateless_normal([3, 50, 16], [5, 6]), context


@pytest.mark.parametrize("num_trees", [1, 2])
def test_sorted_by_leaves_equals_the_mask(tables, num_trees):
    x, context = inputs(tables)
    config = AttentionConfig(
        name="tree_fine", tree_height=3, num_trees=num_trees, leaf_capacity=0.7
    )
    masked, by_leaf = (
        tables.layer_pair(AttentionConfig(config, form=form)) for form in ("masked", "sorted")
    )
    expected = masked(x, context)
    np.testing.assert_allclose(by_leaf(x, context), expected, atol=1e-5)
    np.testing.assert_allclose(masked(x, context, training=True), expected, atol=1e-5)
    unlimited = tables.layer_pair(AttentionConfig(config, form="masked", leaf_capacity=None))
    assert np.abs(expected - unlimited(x, context)).max() > 0.01
    mask = masked.layer.mask(x, masked.pattern(context)).numpy()
    real = context.input_mask.numpy().sum(-1)
    most = num_trees * np.ceil(0.7 * real / 8)[:, None, None]
    assert (mask.sum(-1) <= most).all()
    assert (mask.sum(-2) <= most).all()


def test_trees_learn(tables):
    x, context = inputs(tables)
    run = tables.layer_pair(AttentionConfig(name="tree_fine", tree_height=3, leaf_capacity=0.7))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sin(run(x, context, training=True)))
    gradient = tape.gradient(loss, run.layer.tree.kernel)
    assert np.isfinite(gradient).all()
    assert (np.abs(gradient).max(-1) > 0).all()
