"""MATE's row heads beside heads with trees: each as in the variant that has it alone."""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig, mate
from mate_tf.attention.decision_trees import DecisionTrees
from mate_tf.errors import InputError

HIDDEN, HEADS, SEQ = 16, 4, 50
MATE = {"global_length": 8, "radius": 5}
PROJECTIONS = ("query", "key", "value", "output_projection")


@pytest.fixture(scope="module")
def context(tables):
    """One of the questions is longer than G, and one example has no tokens."""
    return tables.random_context(np.random.default_rng(1), SEQ, [11, 4, 0], columns=4)


@pytest.fixture(scope="module")
def x():
    return tf.random.stateless_normal([3, SEQ, HIDDEN], [1, 1])


@pytest.fixture(params=[True, False], ids=["by buckets", "by mask"])
def way_of_rows(request):
    """Short sequences are cut into buckets too, or computed under the mask."""
    with mock.patch.object(mate, "dense_is_cheaper", return_value=not request.param):
        yield


def mate_tree(tables, **options):
    config = AttentionConfig(name="mate_tree", **MATE | {"tree_height": 2} | options)
    run = tables.layer_pair(config, num_heads=HEADS)
    run.layer.tree.bias.assign(tf.random.stateless_normal(run.layer.tree.bias.shape, [4, 4]) / 3)
    return run


def other(tables, run, name, **options):
    """Another variant with the projections of `run`."""
    options |= {key: value for key, value in MATE.items() if name.startswith("mate")}
    twin = tables.layer_pair(AttentionConfig(name=name, **options), num_heads=HEADS)
    for projection in PROJECTIONS:
        theirs = getattr(run.layer, projection).get_weights()
        getattr(twin.layer, projection).set_weights(theirs)
    return twin


def of_heads(run, x, context, training=False):
    """What each head gives: <float>[batch, seq, heads, head_size]."""
    layer = run.layer
    projected = layer.project(x, layer.query, layer.key, layer.value)
    return layer.attend(*projected, run.pattern(context), training).numpy()


def leaf(kernel, bias, vector):
    """Walks down a tree of height 2, whose nodes are root, left, right."""
    right = kernel[0] @ vector + bias[0] > 0
    node = 2 if right else 1
    return 2 * right + (kernel[node] @ vector + bias[node] > 0)


def softmax_rows(scores, seen):
    weights = np.exp(scores) * seen
    total = weights.sum(-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


@pytest.mark.parametrize("training", [False, True])
def test_equals_its_definition(tables, x, context, training):
    """Written out pair by pair, with radii that hold every row."""
    run = mate_tree(tables, radius=30)
    layer = run.layer
    y = run(x, context, training).numpy()
    kernel, bias = (v.numpy() for v in (layer.tree.kernel, layer.tree.bias))
    assert kernel.shape == (2, 3, HIDDEN // HEADS)
    expected = np.zeros_like(y)
    for b in range(3):
        real, segment, row = (
            part.numpy()[b] for part in (context.input_mask, context.segment_ids, context.row_ids)
        )
        question = segment == 0
        heads = []
        for head in range(HEADS):
            size = slice(4 * head, 4 * head + 4)
            query, key, value = (
                x.numpy()[b] @ projection.kernel.numpy()[:, size]
                for projection in (layer.query, layer.key, layer.value)
            )
            if head < 2:
                seen = question[:, None] | question | (row[:, None] == row)
            else:
                tree = kernel[head - 2], bias[head - 2]
                q, k = ([leaf(*tree, each) for each in part] for part in (query, key))
                seen = np.array(q)[:, None] == np.array(k)
            seen = seen & (real[:, None] > 0) & (real > 0)
            heads.append(softmax_rows(query @ key.T / 2, seen) @ value)
        expected[b] = np.concatenate(heads, -1) @ layer.output_projection.kernel.numpy()
    assert np.abs(expected[:2]).max() > 0.1
    np.testing.assert_allclose(y, expected, atol=1e-5, rtol=0)


@pytest.mark.usefixtures("way_of_rows")
@pytest.mark.parametrize("ratio", [0.25, 0.7])
def test_each_head_is_that_of_the_other_variant(tables, x, context, ratio):
    rows = int(HEADS * ratio)
    for form in ("masked", "sorted"):
        run = mate_tree(tables, row_heads_ratio=ratio, form=form)
        heads = of_heads(run, x, context)
        by_row = of_heads(other(tables, run, "mate_efficient", row_heads_ratio=ratio), x, context)
        np.testing.assert_array_equal(heads[:, :, :rows], by_row[:, :, :rows])
        trees = other(tables, run, "tree_fine", tree_height=2, form=form)
        for name in ("kernel", "bias"):
            variable = getattr(trees.layer.tree, name)
            theirs = getattr(run.layer.tree, name)
            variable.assign(tf.concat([variable[:rows], theirs], 0))
        by_leaf = of_heads(trees, x, context)
        assert np.abs(by_leaf[:, :, rows:]).max() > 0.1
        np.testing.assert_allclose(heads[:, :, rows:], by_leaf[:, :, rows:], atol=1e-6)
        np.testing.assert_array_equal(
            np.stack(run.layer.leaves(x)), np.stack(trees.layer.leaves(x))[:, :, :, rows:]
        )


@pytest.mark.usefixtures("way_of_rows")
def test_mask_of_both_kinds(tables, x, context):
    run = mate_tree(tables)
    mask = run.layer.mask(x, run.pattern(context)).numpy()
    assert mask.shape == (3, HEADS, SEQ, SEQ)
    possible = run.pattern.mask(context).numpy()
    by_row = other(tables, run, "mate_efficient").pattern.mask(context).numpy()
    np.testing.assert_array_equal(mask[:, :2], by_row[:, :2])
    np.testing.assert_array_equal(possible[:, :2], by_row[:, :2])
    assert (possible[:, 2:] >= mask[:, 2:]).all()
    assert possible[:, 2:].sum() > mask[:, 2:].sum()


def test_all_in_one_leaf_is_full_attention(tables, x, context):
    run = mate_tree(tables, tree_height=3)
    run.layer.tree.kernel.assign(tf.zeros_like(run.layer.tree.kernel))
    run.layer.tree.bias.assign(tf.fill(run.layer.tree.bias.shape, 1e-6))
    real = context.input_mask.numpy() == 1
    full = of_heads(other(tables, run, "full"), x, context)
    for training in (False, True):
        heads = of_heads(run, x, context, training)
        np.testing.assert_allclose(heads[real][:, 2:], full[real][:, 2:], atol=1e-5)
        assert np.abs(heads[real][:, :2] - full[real][:, :2]).max() > 0.01
        np.testing.assert_array_equal(heads[~real], 0)


@pytest.mark.parametrize("kind", ["skewed", "single leaf", "no key in the leaf of a query"])
def test_uneven_leaves(tables, x, context, kind):
    rng = np.random.default_rng(2)
    queries, keys = rng.integers(4, size=[2, 1, 3, 2, SEQ]).astype(np.int32)
    if kind == "skewed":
        queries[rng.random(queries.shape) < 0.8] = keys[rng.random(keys.shape) < 0.8] = 1
    elif kind == "single leaf":
        queries[:] = keys[:] = 3
    else:
        keys //= 2
    heads = {}
    for form in ("masked", "sorted"):
        leaves = map(tf.constant, (queries, keys))
        with mock.patch.object(DecisionTrees, "leaves", side_effect=leaves):
            heads[form] = of_heads(mate_tree(tables, form=form), x, context)
    np.testing.assert_allclose(heads["sorted"], heads["masked"], atol=1e-5)
    real = context.input_mask.numpy() == 1
    alone = (heads["sorted"][real][:, 2:] == 0).all(-1)
    meets = (queries[0][..., None] == keys[0][:, :, None]) & real[:, None, None]
    np.testing.assert_array_equal(alone, ~meets.any(-1).transpose(0, 2, 1)[real])
    assert alone.mean() > 0.3 or not kind.startswith("no key")


def test_far_apart_in_a_column_and_in_one_leaf(tables):
    """What no window of column heads reaches, a tree does; row heads do not."""
    seq, ones = 64, tf.ones([1, 64], tf.int32)
    table = tf.concat([tf.zeros([1, 4], tf.int32), tf.ones([1, 60], tf.int32)], axis=1)
    context = tables.random_context(np.random.default_rng(0), seq, [4])._replace(
        input_mask=ones,
        segment_ids=table,
        column_ids=table,
        row_ids=tf.maximum(tf.range(seq) - 3, 0)[None],
    )
    run = mate_tree(tables, global_length=4)
    x = tf.Variable(tf.random.stateless_normal([1, seq, HIDDEN], [1, 2]))
    x[:, 10].assign(x[:, 63])
    with tf.GradientTape(persistent=True) as tape:
        projected = run.layer.project(x, run.layer.query, run.layer.key, run.layer.value)
        last = run.layer.attend(*projected, run.pattern(context))[0, -1]
        rows, trees = (tf.reduce_sum(part) for part in (last[:2], last[2:]))
    seen = [np.abs(tape.gradient(of, x)[0]).sum(-1) > 0 for of in (rows, trees)]
    mask = run.layer.mask(x, run.pattern(context)).numpy()[0, :, -1]
    np.testing.assert_array_equal(np.flatnonzero(seen[0]), [0, 1, 2, 3, 63])
    assert mask[2:].any(0)[4:53].any()
    np.testing.assert_array_equal(seen[1][:-1], mask[2:].any(0)[:-1])


@pytest.mark.parametrize("options", [{}, {"branching": [3, 2]}, {"num_trees": 2}])
def test_every_tree_parameter_has_a_gradient(tables, x, context, options):
    run = mate_tree(tables, **options)
    weights = tf.random.stateless_normal(x.shape, [5, 5])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(run(x, context, training=True) * weights)
    variables = [run.layer.tree.kernel, run.layer.tree.bias]
    for gradient in tape.gradient(loss, variables):
        assert np.isfinite(gradient).all()
        assert (np.abs(gradient) > 0).all()


def test_occupancy_is_that_of_heads_with_trees(tables, x, context):
    run = mate_tree(tables, row_heads_ratio=0.25)
    found = run.layer.occupancy(x, run.pattern(context).trees.real)
    assert found["share"].shape == [1, 3, 4]
    np.testing.assert_allclose(tf.reduce_sum(found["share"], -1), np.ones([1, 3]), rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"row_heads_ratio": 0.2}, "0.2 makes none of 4 heads row heads"),
        ({"row_heads_ratio": 1.0}, "1.0 makes all of 4 heads row heads"),
        ({"row_heads_ratio": 1.5}, "row_heads_ratio is 1.5, expected a number"),
        ({"radius": 0}, "radius is 0, expected an integer"),
        ({"tree_height": -2}, "tree_height"),
        ({"form": "fast"}, "form must be one of"),
    ],
)
def test_options_are_checked(tables, options, named):
    with pytest.raises(InputError, match=named):
        mate_tree(tables, **options)
