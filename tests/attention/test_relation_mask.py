"""Masks learned by relation: what holds between two tokens, and what heads make of it."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig, relation_mask
from mate_tf.attention.relation_mask import CELL, COLUMN, HEADER, QUESTION, RELATIONS, ROW
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras

HEADS, HIDDEN, SEQ = 4, 16, 40
ROW_HEAD, COLUMN_HEAD = {CELL, ROW, QUESTION}, {CELL, COLUMN, HEADER, QUESTION}


def config_of(**options):
    return AttentionConfig(name="relation_mask", **options)


def pattern_of(alpha=None, **options):
    pattern = relation_mask.RelationMaskPattern(config_of(**options), HEADS)
    pattern.build()
    if alpha is not None:
        pattern.alpha.assign(tf.broadcast_to(tf.cast(alpha, tf.float32), pattern.alpha.shape))
    return pattern


def alpha_of(*heads):
    """alpha of heads that keep these relations and no others."""
    return [[2.0 if number in kept else -2.0 for number in range(len(RELATIONS))] for kept in heads]


@pytest.fixture(scope="module")
def context(tables):
    return tables.random_context(np.random.default_rng(1), SEQ, [7, 4, 0], columns=3)


def by_hand(context):
    """Which relation holds, pair by pair, in plain Python."""
    segments, rows, columns, _ = (part.numpy() for part in context.tensors.values())
    found = np.empty([*segments.shape, segments.shape[1]], object)
    for b, i, j in np.ndindex(found.shape):
        same_row = rows[b, i] == rows[b, j]
        if segments[b, i] == 0 or segments[b, j] == 0:
            relation = "question"
        elif columns[b, i] == columns[b, j]:
            header = 0 in (rows[b, i], rows[b, j])
            relation = "same cell" if same_row else "header" if header else "same column"
        else:
            relation = "same row" if same_row else "elsewhere"
        found[b, i, j] = relation
    return found


def real_pairs(context):
    real = context.input_mask.numpy() == 1
    return real[:, :, None] & real[:, None, :]


def test_exactly_one_relation_holds(context):
    expected = by_hand(context)
    found = relation_mask.relations(context).numpy()
    np.testing.assert_array_equal(np.array(RELATIONS, object)[found], expected)
    assert set(expected[:2].ravel()) == set(RELATIONS)
    np.testing.assert_array_equal(found, found.transpose(0, 2, 1))


@pytest.mark.parametrize("diagonal", [False, True])
def test_scores_shift_by_the_importance_of_the_relation(context, diagonal):
    pattern = pattern_of(penalty=3.0, diagonal=diagonal)
    pattern.alpha.assign(np.random.default_rng(8).normal(size=[HEADS, 6]))
    importance = 1 / (1 + np.exp(-pattern.alpha.numpy()))
    np.testing.assert_allclose(pattern.importance(), importance, rtol=1e-6)
    seen = real_pairs(context) & (diagonal | ~np.eye(SEQ, dtype=bool))
    np.testing.assert_array_equal(pattern.mask(context)[:, 0], seen)
    relation = by_hand(context)
    for training in (False, True):
        bias = pattern(context, training=training).bias.numpy()
        assert (bias[np.broadcast_to(~seen[:, None], bias.shape)] < -1e8).all()
        for head, name in np.ndindex(HEADS, len(RELATIONS)):
            pairs = seen & (relation == RELATIONS[name])
            expected = -3 * (1 - importance[head, name])
            np.testing.assert_allclose(bias[:, head][pairs], expected, atol=1e-5)
    assert not pattern.losses


def test_two_of_the_masks_are_the_heads_of_mate(tables, context):
    """Row heads and column heads as `mate_exact` has them, and what it computes."""
    run = tables.layer_pair(config_of(objective="dam"))
    x = tf.random.stateless_normal([3, SEQ, HIDDEN], [1, 2])
    run(x, context)
    run.pattern.alpha.assign(alpha_of(ROW_HEAD, ROW_HEAD, COLUMN_HEAD, COLUMN_HEAD))
    mate = tables.layer_pair(AttentionConfig(name="mate_exact", row_heads_ratio=0.5))
    np.testing.assert_array_equal(run.pattern.mask(context), mate.pattern.mask(context))
    np.testing.assert_allclose(run(x, context), mate(x, context), atol=1e-5)


def drawn(pattern, context):
    """M of one batch of training, <float>[batch, heads, seq, seq]; 0 for pairs that are not."""
    bias = pattern(context, training=True).bias.numpy().astype(np.float64)
    return np.maximum(1 + bias / pattern.config.penalty, 0)


@pytest.mark.parametrize("diagonal", [False, True])
def test_drawn_masks_are_of_relations_and_cost_their_sum(context, diagonal):
    """A diagonal that is off is no part of them, and costs nothing."""
    options = {"objective": "dam", "sparsity_weight": 0.5, "diagonal": diagonal}
    pattern = pattern_of(initial_alpha=0.3, **options)
    mask, relation = drawn(pattern, context), by_hand(context)
    pairs = real_pairs(context) & (diagonal | ~np.eye(SEQ, dtype=bool))
    means = np.empty([HEADS, len(RELATIONS)])
    for head, name in np.ndindex(*means.shape):
        values = mask[:, head][pairs & (relation == RELATIONS[name])]
        assert np.ptp(values) < 1e-5
        means[head, name] = values[0]
    assert len(np.unique(means.round(5))) == means.size
    (loss,) = pattern.losses
    assert float(loss) == pytest.approx(0.5 * mask.sum() / 3, rel=1e-4)
    assert np.abs(drawn(pattern, context) - mask).max() > 0.1  # of each batch anew
    pattern(context)
    assert not pattern.losses


def test_sparsity_is_that_of_the_final_mask_on_what_training_has_seen(context):
    """In training and evaluation alike."""
    pattern = pattern_of(alpha_of(ROW_HEAD, COLUMN_HEAD, {ROW}, set()), objective="dam")
    for _ in range(2):
        pattern(context, training=True)
    kept = pattern.mask(context).numpy().sum() / HEADS
    expected = 1 - kept / real_pairs(context).sum()
    metrics = {metric.name: metric for metric in keras.Sequential([pattern]).metrics}
    assert float(metrics["sparsity"].result()) == pytest.approx(expected, abs=2e-3)
    assert float(metrics["temperature"].result()) == pytest.approx(1.0, abs=1e-3)
    assert pattern.pairs.numpy().sum() == 2 * real_pairs(context).sum() + len(RELATIONS)
    pattern(context)
    assert pattern.pairs.numpy().sum() == 2 * real_pairs(context).sum() + len(RELATIONS)


def test_temperature_falls_and_the_end_is_hard(context):
    pattern = pattern_of(
        objective="dam", temperature=2.0, final_temperature=0.5, temperature_steps=2
    )
    temperatures, soft = [], []
    for _ in range(4):
        temperatures.append(float(pattern.temperature()))
        mask = drawn(pattern, context)
        soft.append(((mask > 0.01) & (mask < 0.99)).any())
    np.testing.assert_allclose(temperatures, [2.0, 1.0, 0.5, 0.5], rtol=1e-5)
    assert soft == [True, True, False, False]
    assert int(pattern.step) == 4


@pytest.mark.parametrize("temperature_steps", [0, 100])
def test_gradients_reach_alpha_through_the_drawn_mask(tables, context, temperature_steps):
    config = config_of(
        objective="dam",
        penalty=5.0,
        sparsity_weight=0.0,
        final_temperature=1.0,
        temperature_steps=temperature_steps,
    )
    run = tables.layer_pair(config)
    x = tf.random.stateless_normal([3, SEQ, HIDDEN], [1, 2])
    with tf.GradientTape() as tape:
        y = run(x, context, training=True)
        loss = tf.reduce_sum(y * tf.random.stateless_normal(y.shape, [3, 4]))
    gradient = tape.gradient(loss, run.pattern.alpha).numpy()
    assert np.isfinite(gradient).all()
    assert (gradient != 0).all()


def test_what_nobody_needs_is_dropped_for_its_price(context):
    """Where only the price counts, the relation of most pairs goes first."""
    pattern = pattern_of(0.01, objective="dam", temperature_steps=0, final_temperature=1.0)

    @tf.function(jit_compile=True)
    def gradient():
        with tf.GradientTape() as tape:
            pattern(context, training=True)
            loss = tf.add_n(pattern.losses)
        return tape.gradient(loss, pattern.alpha)

    found = sum(gradient().numpy() for _ in range(300))
    relation, pairs = by_hand(context), real_pairs(context)
    counts = [(pairs & (relation == name)).sum() for name in RELATIONS]
    expected = np.tile(counts, [HEADS, 1]) / (HEADS * pairs.sum())
    np.testing.assert_allclose(found / found.sum(), expected, rtol=0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "both"}, "objective must be one of importance, dam"),
        ({"final_temperature": 0.0}, "final_temperature is 0.0, expected a number"),
        ({"temperature_steps": -1}, "temperature_steps is -1, expected an integer"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        pattern_of(**options)
