"""TF-Attention: the sorted form against the masked one, and that against its definition."""

import functools
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.attention import AttentionConfig, TableContext, masks, tree_fine
from mate_tf.attention.decision_trees import DecisionTrees

from .conftest import normal

HIDDEN, HEADS = 16, 4


def context_of(tables, seq, seed=0):
    rng = np.random.default_rng(seed)
    return tables.random_context(rng, seq, [5, 3, 0])


@functools.cache
def layer_with(layer_pair, options):
    return layer_pair(AttentionConfig(name="tree_fine", **dict(options)), num_heads=HEADS)


def run_with(tables, x, context, leaves, **options):
    """Output of `tree_fine` with the given leaves of queries and keys."""
    run = layer_with(tables.layer_pair, tuple(options.items()))
    with mock.patch.object(DecisionTrees, "leaves", side_effect=map(tf.constant, leaves)):
        return run(x, context).numpy()


@st.composite
def assignments(draw):
    """Leaves of queries and keys: random, skewed, all in one, with empty leaves."""
    num_trees, seq = draw(st.integers(1, 3)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**31 - 1)))
    leaves = []
    for _ in range(2):
        x = rng.integers(8, size=[num_trees, 3, HEADS, seq])
        kind = draw(st.sampled_from(["random", "skewed", "single leaf", "empty leaves"]))
        if kind == "skewed":
            x[rng.random(x.shape) < 0.8] = 2
        elif kind == "single leaf":
            x[:] = draw(st.integers(0, 7))
        elif kind == "empty leaves":
            x = x // 3 * 3
        leaves.append(x.astype(np.int32))
    return leaves


@given(leaves=assignments(), size=st.sampled_from([None, 3]), seed=st.integers(0, 2**31 - 1))
def test_sorted_equals_masked(tables, leaves, size, seed):
    """Leaves as whole blocks, which is cheaper here; or with a size, in several blocks."""
    num_trees, _, _, seq = leaves[0].shape
    context, x = context_of(tables, seq, seed), normal(seed, 3, seq, HIDDEN)
    options = {"tree_height": 3, "num_trees": num_trees}
    masked = run_with(tables, x, context, leaves, form="masked", **options)
    blocks = tree_fine.leaf_blocks
    in_blocks = {"BLOCK_SIZES": (size,), "LARGEST_WHOLE": -1} if size else {}
    with mock.patch.dict(vars(blocks), in_blocks):
        by_leaf = run_with(tables, x, context, leaves, form="sorted", **options)
    np.testing.assert_allclose(by_leaf, masked, atol=1e-5, rtol=0)
    mask = masks.same_leaf(*leaves, context.input_mask.numpy() > 0)
    mask = np.asarray(mask).any(0)
    without = ~mask.any(-1).any(1)  # in no head
    np.testing.assert_array_equal(masked[without], 0)


@pytest.mark.parametrize("options", [{"tree_height": 3}, {"branching": [3, 2]}, {"num_trees": 2}])
def test_with_its_own_trees_all_forms_are_equal(tables, options):
    context, x = context_of(tables, 33), normal(1, 3, 33, HIDDEN)
    masked, by_leaf, automatic = (
        tables.layer_pair(AttentionConfig(name="tree_fine", form=form, **options))
        for form in ("masked", "sorted", "auto")
    )
    expected = masked(x, context).numpy()
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(by_leaf(x, context), expected, atol=1e-5)
    np.testing.assert_allclose(automatic(x, context, training=True), expected, atol=1e-5)


def test_lemma_1_all_in_one_leaf_is_full_attention(tables):
    """The construction of appendix C: no weights, a small positive bias in every node."""
    context, x = context_of(tables, 30), normal(2, 3, 30, HIDDEN)
    run = tables.layer_pair(AttentionConfig(name="tree_fine", tree_height=3))
    run.layer.tree.kernel.assign(tf.zeros_like(run.layer.tree.kernel))
    run.layer.tree.bias.assign(tf.fill(run.layer.tree.bias.shape, 1e-6))
    assert {7} == set(np.ravel(run.layer.leaves(x)))
    full = tables.layer_pair(AttentionConfig(name="full"))
    kernels = run.layer.get_weights()[: len(full.layer.get_weights())]
    full.layer.set_weights(kernels)
    real = context.input_mask.numpy() == 1
    expected = full(x, context).numpy()[real]
    for training in (False, True):
        np.testing.assert_allclose(run(x, context, training).numpy()[real], expected, atol=1e-5)


def straight_memberships(kernel, bias, x, hard=None):
    """Of a tree of height 2, <float64>[heads, seq, 4]; see test_decision_trees."""
    constants, used = iter(hard or ()), []

    def step(soft):
        used.append(np.eye(soft.shape[-1])[soft.argmax(-1)] - soft)
        return soft + (used[-1] if hard is None else next(constants))

    f = np.tanh(np.einsum("hsd,hnd->hsn", x, kernel) + bias[:, None])
    signs = [2 * step(np.stack([1 - f[..., i], 1 + f[..., i]], -1) / 2) - 1 for i in range(3)]
    root, left, right = signs
    paths = [(root, left, 0, 0), (root, left, 0, 1), (root, right, 1, 0), (root, right, 1, 1)]
    sums = np.stack([a[..., i] + b[..., j] for a, b, i, j in paths], -1)
    e = np.exp(sums)
    return step(e / e.sum(-1, keepdims=True)), used


def test_gradients_are_those_of_m_exp_s(tables):
    """Finite differences of M exp(s) / sum M exp(s), with M as differentiable as it is declared."""
    run = tables.layer_pair(AttentionConfig(name="tree_fine", tree_height=2), num_heads=2)
    layer = run.layer
    layer.tree.bias.assign(normal(7, *layer.tree.bias.shape) / 3)
    x = normal(3, 1, 12, HIDDEN)
    ones = tf.ones([1, 12], tf.int32)
    context = TableContext(ones, ones, ones, ones)
    weights = normal(4, 12, HIDDEN).astype(np.float64)
    weights[~np.asarray(layer.mask(x, run.pattern(context)))[0].any(-1).all(0)] = 0  # no key there
    assert (weights != 0).any(-1).sum() > 6
    names = {
        "query": layer.query.kernel,
        "key": layer.key.kernel,
        "value": layer.value.kernel,
        "kernel": layer.tree.kernel,
        "bias": layer.tree.bias,
    }
    with mock.patch.object(tree_fine, "LEAST_MASS", 1e-9), tf.GradientTape() as tape:
        y = run(x, context, training=True)
        loss = tf.reduce_sum(y[0] * weights)
    gradients = dict(zip(names, tape.gradient(loss, list(names.values())), strict=True))
    start = {name: variable.numpy().astype(np.float64) for name, variable in names.items()}
    out = layer.output_projection.kernel.numpy().astype(np.float64)

    def parts(values):
        heads = (x[0] @ values[name] for name in ("query", "key", "value"))
        return [part.reshape(12, 2, -1).swapaxes(0, 1) for part in heads]

    query, key, _ = parts(start)
    hard = [straight_memberships(start["kernel"], start["bias"], part)[1] for part in (query, key)]

    def surrogate(values):
        query, key, value = parts(values)
        of_query, of_key = (
            straight_memberships(values["kernel"], values["bias"], part, constants)[0]
            for part, constants in zip((query, key), hard, strict=True)
        )
        m = of_query @ of_key.swapaxes(1, 2)
        e = m * np.exp(query @ key.swapaxes(1, 2) / np.sqrt(HIDDEN / 2))
        total = e.sum(-1, keepdims=True)
        p = np.divide(e, total, out=np.zeros_like(e), where=total > 1e-6)
        return ((p @ value).swapaxes(0, 1).reshape(12, HIDDEN) @ out * weights).sum()

    np.testing.assert_allclose(surrogate(start), loss, rtol=1e-4)
    for i, name in enumerate(names):
        direction, step = np.random.default_rng(i).normal(size=start[name].shape), 1e-5
        above, below = (
            surrogate(start | {name: start[name] + sign * step * direction}) for sign in (1, -1)
        )
        found = (gradients[name].numpy() * direction).sum()
        np.testing.assert_allclose(found, (above - below) / (2 * step), rtol=2e-3, err_msg=name)


def test_gradients_are_bounded_where_a_leaf_has_little_of_the_attention():
    """(delta_jk - p_j) e_k / sum M e, in which the sum is at least a tenth of all; in numpy."""
    same = np.array([[1.0, 0.0, 0.0, 0.0]] * 3)  # of M: one key is in the leaf of the queries
    everywhere = np.array([[0.5, 0.2, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2], [0.02, 0.48, 0.3, 0.2]])
    probabilities, upstream = same, normal(8, 3, 4)
    of_query = tf.ones([1, 1, 1, 3, 1])
    of_key = tf.constant(same[0].reshape(1, 1, 1, 4, 1), tf.float32)
    parts = [tf.constant(x[None, None], tf.float32) for x in (probabilities, everywhere)]
    with tf.GradientTape() as tape:
        tape.watch(of_query)
        zero = tree_fine._zero_with_gradient(of_query, of_key, same[None, None] > 0, *parts)
        loss = tf.reduce_sum(zero * upstream)
    np.testing.assert_array_equal(zero, np.zeros([1, 1, 3, 4]))
    mass = np.maximum([0.5, 0.1, 0.02], 0.1)  # 50 without the bound
    of_m = (upstream - (probabilities * upstream).sum(-1, keepdims=True)) * everywhere
    # The only key in the leaf has the derivative 0 of its own; M is q k, so the others have none.
    np.testing.assert_allclose(
        tape.gradient(loss, of_query)[0, 0, 0, :, 0], (of_m * same).sum(-1) / mass, atol=1e-6
    )
    with tf.GradientTape() as tape:
        tape.watch(of_key)
        zero = tree_fine._zero_with_gradient(of_query, of_key, same[None, None] > 0, *parts)
        loss = tf.reduce_sum(zero * upstream)
    expected = (of_m / mass[:, None]).sum(0)
    np.testing.assert_allclose(tape.gradient(loss, of_key)[0, 0, 0, :, 0], expected, rtol=1e-5)


@pytest.mark.parametrize("options", [{"tree_height": 3}, {"branching": [3, 2]}, {"num_trees": 2}])
def test_every_tree_parameter_has_a_gradient(tables, options):
    """Finite and not zero, also where queries meet no key and scores are extreme."""
    run = tables.layer_pair(AttentionConfig(name="tree_fine", **options))
    context, x = context_of(tables, 30), normal(5, 3, 30, HIDDEN)
    for scale in (1.0, 30.0):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(run(scale * x, context, training=True) * normal(6, *x.shape))
        for gradient in tape.gradient(loss, [run.layer.tree.kernel, run.layer.tree.bias]):
            assert np.isfinite(gradient).all()
            if scale == 1:
                assert (np.abs(gradient) > 0).all()


def test_trees_that_are_not_trained_have_no_gradients(tables):
    run = tables.layer_pair(AttentionConfig(name="tree_fine", train_trees=False))
    assert not run.layer.tree.trainable_variables
    context, x = context_of(tables, 30), normal(5, 3, 30, HIDDEN)
    with mock.patch.object(run.layer, "_masked", side_effect=AssertionError):
        np.testing.assert_allclose(run(x, context, training=True), run(x, context), atol=1e-6)


def test_balancing_loss(tables):
    config = AttentionConfig(name="tree_fine", tree_height=2, balancing_loss=0.5)
    run = tables.layer_pair(config)
    context, x = context_of(tables, 30), normal(5, 3, 30, HIDDEN)
    run(x, context)
    assert not run.layer.losses
    with tf.GradientTape() as tape:
        run(x, context, training=True)
        (loss,) = run.layer.losses
    real = context.input_mask.numpy() == 1
    leaves = np.stack(run.layer.leaves(x))[:, 0]  # [2, batch, heads, seq]
    counts = np.array(
        [[np.bincount(of[:, h][real], minlength=4) for h in range(4)] for of in leaves]
    )
    expected = 0.5 * 4 * np.mean(((counts / real.sum()) ** 2).sum(-1))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    gradient = tape.gradient(loss, run.layer.tree.kernel)
    assert np.isfinite(gradient).all()
    assert np.abs(gradient).max() > 0
