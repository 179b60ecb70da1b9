"""TC-Attention against equation 4 of the Treeformer paper, evaluated node by node."""

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig, TableContext

from .conftest import normal

HIDDEN, HEADS, SEQ = 16, 4, 30
OPTIONS = [{"tree_height": 3}, {"branching": [3, 4]}, {"tree_height": 0}]


@pytest.fixture(scope="module")
def context(tables):
    return tables.random_context(np.random.default_rng(1), SEQ, [7, 4, 0])


@pytest.fixture(scope="module")
def x():
    return normal(2, 3, SEQ, HIDDEN)


def layer_of(tables, **options):
    run = tables.layer_pair(AttentionConfig(name="tree_coarse", **options))
    run.layer.alpha.assign(normal(3, *run.layer.alpha.shape))
    run.layer.tree.bias.assign(normal(4, *run.layer.tree.bias.shape) / 3)
    return run


def memberships_of_nodes(branching, of_leaves):
    """Of each level, root first: <float>[..., leaves] summed over the leaves below each node."""
    return [
        of_leaves.reshape(*of_leaves.shape[:-1], nodes, -1).sum(-1)
        for nodes in itertools.accumulate(branching, initial=1, func=lambda a, b: a * b)
    ]


def equation_4(branching, of_query, of_key, value, alpha):
    """One head: memberships [seq, leaves], value [seq, size], alpha [levels] -> [seq, size]."""
    total = np.zeros_like(value)
    per_level = zip(
        memberships_of_nodes(branching, of_query),
        memberships_of_nodes(branching, of_key),
        alpha,
        strict=True,
    )
    for query_nodes, key_nodes, weight in per_level:
        for node in range(query_nodes.shape[-1]):
            count = key_nodes[:, node].sum()
            if count > 0:
                mean = (key_nodes[:, node] @ value) / count
                total += weight * np.outer(query_nodes[:, node], mean)
    return total


def projected(layer, x, name):
    dense = getattr(layer, name)
    flat = x.astype(np.float64) @ dense.kernel.numpy() + dense.bias.numpy()
    return flat.reshape(*x.shape[:2], HEADS, -1).swapaxes(1, 2)


def expected_output(layer, x, context):
    shape = layer.tree_shape
    leaves = [np.eye(shape.num_leaves)[part[0]] for part in layer.leaves(x)]
    leaves = [part * (context.input_mask.numpy() > 0)[:, None, :, None] for part in leaves]
    value, alpha = projected(layer, x, "value"), layer.alpha.numpy()
    total = np.zeros_like(value)
    for b, h in np.ndindex(*value.shape[:2]):
        of_query, of_key = (part[b, h] for part in leaves)
        total[b, h] = equation_4(shape.branching, of_query, of_key, value[b, h], alpha[h])
    return total.swapaxes(1, 2).reshape(x.shape) @ layer.output_projection.kernel.numpy()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_is_equation_4(tables, x, context, options):
    run = layer_of(tables, **options)
    expected = expected_output(run.layer, x, context)
    assert np.abs(expected).max() > 0.1
    for training in (False, True):
        np.testing.assert_allclose(run(x, context, training), expected, atol=1e-5)


def test_the_given_leaves(tables, x, context):
    """All tokens in one leaf, and queries in a leaf that has no key."""
    run = layer_of(tables, tree_height=2)
    kernel, bias = run.layer.tree.kernel, run.layer.tree.bias
    kernel.assign(tf.zeros_like(kernel))
    for direction in (1.0, -1.0):
        bias.assign(tf.fill(bias.shape, direction))
        expected = expected_output(run.layer, x, context)
        np.testing.assert_allclose(run(x, context), expected, atol=1e-5)
    # a query beside all keys below the root: its path has the mean of all values, then nothing
    value = tf.constant(projected(run.layer, x, "value").swapaxes(1, 2), tf.float32)
    keys, queries = (tf.fill([1, 3, HEADS, SEQ], leaf) for leaf in (0, 3))
    pattern = run.pattern(context)
    found = run.layer._by_segments(queries, keys, value, pattern).numpy()
    real = context.input_mask.numpy() == 1
    for b in range(2):
        root = run.layer.alpha[:, :1] * value.numpy()[b][real[b]].mean(0)
        np.testing.assert_allclose(found[b][real[b]] - root, 0, atol=1e-5)
    np.testing.assert_array_equal(found[~real], 0)


def test_alpha_starts_as_the_mean_over_levels(tables):
    run = tables.layer_pair(AttentionConfig(name="tree_coarse", tree_height=4))
    np.testing.assert_allclose(run.layer.alpha, np.full([HEADS, 5], 0.2), rtol=1e-6)


@pytest.mark.parametrize("options", OPTIONS[:2], ids=str)
def test_folded_projections_give_the_same(tables, x, context, options):
    run = layer_of(tables, **options)
    for projection in (run.layer.query, run.layer.key):
        projection.bias.assign(normal(5, HIDDEN))
    query_tree, key_tree = run.layer.folded()
    assert query_tree.kernel.shape == [HEADS, run.layer.tree_shape.num_scores, HIDDEN]
    pattern = run.pattern(context)
    folded = run.layer.call_folded(x, query_tree, key_tree, pattern)
    np.testing.assert_allclose(folded, run(x, context), atol=1e-5)


@pytest.mark.parametrize(("height", "folds"), [(2, True), (3, False)])
def test_exported_layers_compute_the_same_with_fewer_products(tables, x, context, height, folds):
    """4 heads of 3 scores are fewer than 16 features and 3 scores, of 7 scores more than 23."""
    run = layer_of(tables, tree_height=height)
    expected, unfolded = run(x, context), run.layer.query.call
    projected = []
    run.layer.query.call = lambda inputs: projected.append(inputs) or unfolded(inputs)
    with run.layer.exporting():
        exported = tf.function(lambda: run(x, context), autograph=False).get_concrete_function()
        assert bool(projected) != folds
        run(x, context, training=True)
    np.testing.assert_allclose(exported(), expected, atol=1e-5)
    projected.clear()
    run(x, context)
    assert projected  # as before, once the export is done


def test_gradients_are_straight_through(tables):
    """Finite differences of equation 4 with memberships that move as those of the trees."""
    run = layer_of(tables, tree_height=2)
    layer, x = run.layer, normal(6, 1, 9, HIDDEN)
    ones = tf.ones([1, 9], tf.int32)
    weights = normal(7, *x.shape)
    variables = [layer.tree.kernel, layer.tree.bias, layer.alpha, layer.value.kernel]
    with tf.GradientTape() as tape:
        y = run(x, TableContext(ones, ones, ones, ones), training=True)
        loss = tf.reduce_sum(y * weights)
    gradients = tape.gradient(loss, variables)
    out = layer.output_projection.kernel.numpy().astype(np.float64)

    def slope(direction_of, step=1e-3):
        """Of the loss along a direction of tree parameters, by moving memberships alone."""
        start = [v.numpy() for v in variables[:2]]
        moved = []
        parts = layer.project(x, layer.query, layer.key)
        with tf.autodiff.ForwardAccumulator(
            variables[:2], [tf.constant(d, tf.float32) for d in direction_of]
        ) as forward:
            soft = [layer.tree.memberships(part) for part in parts]
        assert all((a == b.numpy()).all() for a, b in zip(start, variables[:2], strict=True))
        tangents = [forward.jvp(part).numpy()[0, 0].astype(np.float64) for part in soft]
        hard = [part.numpy()[0, 0].astype(np.float64) for part in soft]
        value, alpha = projected(layer, x, "value")[0], layer.alpha.numpy()
        for sign in (1, -1):
            total = np.stack(
                [
                    smooth_equation_4(
                        *(h[i] + sign * step * t[i] for h, t in zip(hard, tangents, strict=True)),
                        value[i],
                        alpha[i],
                    )
                    for i in range(HEADS)
                ]
            )
            moved.append((total.swapaxes(0, 1).reshape(9, HIDDEN) @ out * weights[0]).sum())
        return (moved[0] - moved[1]) / (2 * step)

    def smooth_equation_4(of_query, of_key, value, alpha):
        """As equation_4; a node that holds nobody stays without a mean."""
        total = np.zeros_like(value)
        for i, (q, k) in enumerate(
            zip(*(memberships_of_nodes([2, 2], part) for part in (of_query, of_key)), strict=True)
        ):
            counts = k.sum(0)
            means = (k.T @ value) / np.where(counts > 0.5, counts, 1)[:, None]
            total += alpha[i] * q @ means
        return total

    for i in range(2):
        rng = np.random.default_rng(i)
        direction = [rng.normal(size=v.shape) * (j == i) for j, v in enumerate(variables[:2])]
        found = float((gradients[i].numpy() * direction[i]).sum())
        assert math.isclose(found, slope(direction), rel_tol=1e-2, abs_tol=1e-3)
    for gradient in gradients:
        assert np.isfinite(gradient).all()
        assert (np.abs(gradient) > 0).all()
