"""Trees against walking down node by node, and their gradients against finite differences."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import decision_trees
from mate_tf.attention.decision_trees import DecisionTrees, TreeShape
from mate_tf.errors import InputError

HEADS, SIZE = 2, 5
SHAPES = [
    TreeShape.of(0),
    TreeShape.of(1),
    TreeShape.of(4),
    TreeShape.of(0, [5]),
    TreeShape.of(0, [4, 2, 3]),
]


def trees_of(shape, num_trees=1, seed=0):
    layer = DecisionTrees(shape, HEADS, SIZE, num_trees)
    layer.build()
    rng = np.random.default_rng(seed)
    layer.kernel.assign(rng.normal(size=layer.kernel.shape))
    layer.bias.assign(rng.normal(size=layer.bias.shape) / 2)
    return layer


def vectors(seed=1, batch=2, seq=7):
    return np.random.default_rng(seed).normal(size=[batch, seq, HEADS, SIZE]).astype(np.float32)


def walk(shape, kernel, bias, x):
    """The leaf of one vector."""
    node, first, nodes = 0, 0, 1
    for children in shape.branching:
        if shape.binary:
            index = first + node
            child = int(kernel[index] @ x + bias[index] > 0)
            first += nodes
        else:
            index = slice(first + node * children, first + (node + 1) * children)
            child = int(np.argmax(kernel[index] @ x + bias[index]))
            first += nodes * children
        node, nodes = node * children + child, nodes * children
    return node


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("num_trees", [1, 3])
def test_leaves_are_where_the_path_ends(shape, num_trees):
    layer, x = trees_of(shape, num_trees), vectors()
    kernel, bias = layer.kernel.numpy(), layer.bias.numpy()
    expected = np.zeros([num_trees, 2, HEADS, 7], np.int32)
    for t, b, h, s in np.ndindex(*expected.shape):
        row = t * HEADS + h
        expected[t, b, h, s] = walk(shape, kernel[row], bias[row], x[b, s, h])
    for at_once in (0, 7, 10**6):
        layer.scored_at_once = at_once
        np.testing.assert_array_equal(layer.leaves(x), expected)
        np.testing.assert_array_equal(tf.function(layer.leaves)(x), expected)
    np.testing.assert_array_equal(shape.descend(layer.scores(x)), expected)
    np.testing.assert_array_equal(layer.memberships(x), np.eye(shape.num_leaves)[expected])


def test_a_taller_tree_refines_one_that_is_its_prefix():
    low, high = trees_of(TreeShape.of(3)), trees_of(TreeShape.of(4), seed=3)
    assert low.kernel.shape == [HEADS, 7, SIZE]
    high.kernel[:, :7].assign(low.kernel)
    high.bias[:, :7].assign(low.bias)
    np.testing.assert_array_equal(high.leaves(vectors()) // 2, low.leaves(vectors()))


def straight_through(shape, kernel, bias, x, hard=None):
    """Memberships of [heads, seq, size] in float64, and the constants that make them hard. With
    these constants, taken at one point, the memberships are an ordinary function of the parameters
    around it, and its derivative there is the straight-through one."""
    constants = iter(hard or ())
    used = []

    def step(soft):
        if hard is None:
            used.append(np.eye(soft.shape[-1])[soft.argmax(-1)] - soft)
            return soft + used[-1]
        return soft + next(constants)

    scores = np.einsum("hsd,hnd->hsn", x, kernel) + bias[:, None]
    agreement, first, nodes = np.zeros([*scores.shape[:2], 1]), 0, 1
    for children in shape.branching:
        width = nodes if shape.binary else nodes * children
        own = scores[..., first : first + width]
        if shape.binary:
            chosen = step(np.stack([1 - np.tanh(own), 1 + np.tanh(own)], -1) / 2)
        else:
            chosen = step(softmax(own.reshape(*own.shape[:2], nodes, children)))
        agreement = (agreement[..., None] + 2 * chosen).reshape(*own.shape[:2], nodes * children)
        first, nodes = first + width, nodes * children
    return step(softmax(agreement)), used


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("shape", SHAPES[1:], ids=str)
def test_gradients_are_straight_through(shape):
    layer, x = trees_of(shape), vectors(batch=1)
    weights = np.random.default_rng(2).normal(size=[HEADS, 7, shape.num_leaves])
    inputs = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.reduce_sum(layer.memberships(inputs)[0, 0] * weights)
    sources = [layer.kernel, layer.bias, inputs]
    gradients = tape.gradient(loss, sources)
    start = [value.numpy().astype(np.float64) for value in sources]
    _, hard = straight_through(shape, start[0], start[1], start[2][0].swapaxes(0, 1))

    def surrogate(kernel, bias, x):
        soft, _ = straight_through(shape, kernel, bias, x[0].swapaxes(0, 1), hard)
        return (soft * weights).sum()

    for i, gradient in enumerate(gradients):
        direction, step = np.random.default_rng(i).normal(size=gradient.shape), 1e-5
        above, below = (
            surrogate(*start[:i], start[i] + sign * step * direction, *start[i + 1 :])
            for sign in (1, -1)
        )
        expected = (above - below) / (2 * step)
        np.testing.assert_allclose((gradient * direction).numpy().sum(), expected, rtol=1e-4)
    # every node takes part: each leaf competes with all others
    assert (np.abs(gradients[0]).max(-1) > 0).all()
    assert (np.abs(gradients[1]) > 0).all()


def test_occupancy_counts_real_tokens():
    leaves = tf.constant([[[[0, 0, 3, 1]], [[0, 2, 2, 2]]]])  # two examples of one head
    real = tf.constant([[True, True, True, False], [True, True, False, False]])
    found = decision_trees.occupancy(leaves, real, 4)
    np.testing.assert_allclose(found["share"], [[[0.6, 0, 0.2, 0.2]]], rtol=1e-6)
    entropy = -(0.6 * np.log(0.6) + 2 * 0.2 * np.log(0.2)) / np.log(4)
    np.testing.assert_allclose(found["entropy"], [[entropy]], rtol=1e-5)
    np.testing.assert_allclose(found["largest"], [[0.6]], rtol=1e-6)
    np.testing.assert_allclose(found["empty"], [[0.25]])


@pytest.mark.parametrize("wrong", [[], [1], [2, 0], [2.0], ["3"]])
def test_branching_is_checked(wrong):
    with pytest.raises(InputError, match="branching"):
        TreeShape.of(2, wrong)


def test_sizes_are_checked():
    with pytest.raises(InputError, match="tree_height must not be negative, but is -1"):
        TreeShape.of(-1)
    with pytest.raises(InputError, match="num_trees"):
        DecisionTrees(TreeShape.of(1), 1, 1, 0)
    assert TreeShape.of(0, [100, 10]).num_leaves == 1000
    assert TreeShape.of(0, [100, 10]).num_scores == 1100


def test_config_round_trip():
    layer = trees_of(TreeShape.of(0, [2, 3]), num_trees=2)
    twin = DecisionTrees.from_config(layer.get_config())
    twin.build()
    twin.set_weights(layer.get_weights())
    np.testing.assert_array_equal(twin.leaves(vectors()), layer.leaves(vectors()))
