"""Importance of positions and masks learned by Gumbel-sigmoid."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.attention import AttentionConfig, TableContext, learned_mask, mask_files
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras

from .conftest import context_of

HEADS, HIDDEN = 4, 16
KINDS = {"structured": {"structured": True}, "symmetric": {"symmetric": True}, "pairs": {}}


def config_of(**options):
    return AttentionConfig(name="learned_mask", **({"length": 12} | options))


def pattern_of(alpha=None, **options):
    pattern = learned_mask.LearnedMaskPattern(config_of(**options), HEADS)
    pattern.build()
    if alpha == "random":
        pattern.alpha.assign(np.random.default_rng(8).normal(size=pattern.alpha.shape))
    elif alpha is not None:
        pattern.alpha.assign(tf.fill(pattern.alpha.shape, alpha))
    return pattern


def drawn(pattern, seq=12):
    """M of one batch of training, <float>[heads, seq, seq]."""
    bias = pattern(context_of(seq), training=True).bias.numpy()[0].astype(np.float64)
    return np.maximum(1 + bias / pattern.config.penalty, 0)


@pytest.mark.parametrize("kind", ["structured", "symmetric", "pairs"])
@pytest.mark.parametrize("diagonal", [False, True])
def test_pairs_that_share_a_parameter_and_its_noise(kind, diagonal):
    pattern = pattern_of("random", objective="dam", diagonal=diagonal, **KINDS[kind])
    assert pattern.alpha.shape[1] == {"structured": 10, "symmetric": 78, "pairs": 144}[kind]
    mask = drawn(pattern)
    off = ~np.eye(12, dtype=bool)
    difference = np.abs(mask - mask.transpose(0, 2, 1))
    if kind == "pairs":  # independent, so that hardly any two are equal
        assert (difference[:, off] > 1e-4).mean() > 0.9
    else:
        assert difference.max() < 1e-5
    on_diagonal = np.diagonal(mask, axis1=1, axis2=2)
    assert (on_diagonal > 0).all() == diagonal
    structured = kind == "structured"
    inner = mask[:, 1:-1, 1:-1]
    for head in inner:
        for distance in range(10):
            values = np.diagonal(head, distance)
            assert (np.ptp(values) < 1e-5) == (structured or distance == 9 or not np.any(values))
    if structured:
        for edge in (mask[:, 0], mask[:, -1]):
            np.testing.assert_allclose(edge[:, 1:-1], 1)
        np.testing.assert_allclose((mask[:, 0] * off[0])[:, -1], 1)
    # of each batch anew, and not the same in all heads
    assert np.abs(drawn(pattern) - mask).max() > 0.1
    assert np.abs(mask[0] - mask[1]).max() > 0.1


@pytest.mark.parametrize(("kind", "number"), [("structured", 3), ("symmetric", 32), ("pairs", 88)])
def test_final_mask(kind, number):
    """The pair of query 7 and key 4, of the length 12."""
    pattern = pattern_of("random", objective="dam", **KINDS[kind])
    final = pattern.final_mask()
    alpha = pattern.alpha.numpy()
    np.testing.assert_array_equal(final[:, 7, 4], alpha[:, number] > 0)
    opposite = 4 * 12 + 7 if kind == "pairs" else number
    np.testing.assert_array_equal(final[:, 4, 7], alpha[:, opposite] > 0)
    used = pattern(context_of(12)).bias.numpy()[0] == 0
    np.testing.assert_array_equal(used, final)
    np.testing.assert_array_equal(pattern.mask(context_of(12))[0], final)
    assert float(pattern.sparsity()) == pytest.approx(1 - final.mean(), abs=1e-6)
    if kind != "structured":
        np.testing.assert_array_equal(pattern.mask(context_of(5))[0], final[:, :5, :5])


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_last_row_and_column_are_those_of_an_examples_last_token(diagonal, training):
    """Of 5, 9 and 3 tokens in a buffer of 9, for a mask of 12. All other pairs are off."""
    pattern = pattern_of(-50.0, objective="dam", structured=True, diagonal=diagonal)
    context = context_of(9, [5, 9, 3])
    bias = pattern(context, training=training).bias.numpy()
    on = np.broadcast_to(bias == 0, [3, HEADS, 9, 9])
    for example, length in enumerate((5, 9, 3)):
        expected = np.zeros([9, 9], bool)
        expected[[0, length - 1], :length] = expected[:length, [0, length - 1]] = True
        expected &= diagonal | ~np.eye(9, dtype=bool)
        np.testing.assert_array_equal(on[example], np.tile(expected, [HEADS, 1, 1]))


def test_symmetry_is_that_of_the_paper_unless_it_is_given():
    for options, parameters in (
        ({"objective": "importance"}, 78),
        ({"objective": "importance", "symmetric": False}, 144),
        ({"objective": "dam"}, 144),
        ({"objective": "dam", "symmetric": True}, 78),
        ({"objective": "dam", "structured": True}, 10),
        ({"objective": "dam", "structured": True, "symmetric": True}, 10),
    ):
        assert pattern_of(**options).num_parameters == parameters, options
    with pytest.raises(InputError, match="symmetric must not be false with structured"):
        pattern_of(structured=True, symmetric=False)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("kind", ["structured", "symmetric", "pairs"])
def test_the_price_of_a_mask_is_its_sum(diagonal, kind):
    """Of the pairs in the mask: a diagonal that is off costs nothing, and has no gradient."""
    options = {"objective": "dam", "sparsity_weight": 0.5, "diagonal": diagonal, "penalty": 1e6}
    pattern = pattern_of(**options | KINDS[kind])
    with tf.GradientTape() as tape:
        bias = pattern(context_of(12), training=True).bias.numpy()[0].astype(np.float64)
        (loss,) = pattern.losses
    mask = np.maximum(1 + bias / 1e6, 0)
    assert (np.diagonal(mask, axis1=1, axis2=2) > 0.01).any() == diagonal
    assert float(loss) == pytest.approx(0.5 * mask.sum(), rel=1e-4)
    paid = tape.gradient(loss, pattern.alpha).numpy() != 0
    if kind == "pairs":
        np.testing.assert_array_equal(
            paid.reshape(HEADS, 12, 12).diagonal(axis1=1, axis2=2), diagonal
        )
    pattern(context_of(12))
    assert not pattern.losses


def test_metrics_are_read_off():
    """At any time, also in an evaluation that has just reset what others have collected."""
    pattern = pattern_of(objective="dam", temperature=2.0, final_temperature=0.5)
    metrics = keras.Sequential([pattern]).metrics
    assert [metric.name for metric in metrics] == ["sparsity", "temperature"]
    assert [float(metric.result()) for metric in metrics] == [0, 2]
    pattern.alpha.assign(pattern.alpha * np.array([[-1.0]] + [[1.0]] * (HEADS - 1)))
    pattern.step.assign(pattern.config.temperature_steps)
    for metric in metrics:
        metric.reset_state()
    found = [float(metric.result()) for metric in metrics]
    assert found == pytest.approx([1 / HEADS, 0.5])
    assert not keras.Sequential([pattern_of(objective="importance")]).metrics


def test_restored_from_its_variables():
    config = config_of(objective="dam", structured=True)
    alpha = np.random.default_rng(0).normal(size=[HEADS, 10]).astype(np.float32)
    pattern = learned_mask.LearnedMaskPattern.restored(config, {"alpha": alpha, "step": 7})
    np.testing.assert_array_equal(pattern.alpha, alpha)
    assert int(pattern.step) == 7
    i, j = 3, 8
    np.testing.assert_array_equal(pattern.final_mask()[:, i, j], alpha[:, 5] > 0)
    for variables in ({}, {"alpha": alpha[:, 1:]}, {"alpha": alpha[0]}):
        with pytest.raises(InputError, match=r"length=12.*, not \["):
            learned_mask.LearnedMaskPattern.restored(config, variables)


@pytest.mark.parametrize("kind", ["structured", "symmetric", "pairs"])
@pytest.mark.parametrize("temperature_steps", [0, 100])
def test_gradients_reach_alpha_through_the_drawn_mask(tables, kind, temperature_steps):
    config = config_of(
        objective="dam",
        **KINDS[kind],
        penalty=5.0,
        sparsity_weight=0.0,
        final_temperature=1.0,
        temperature_steps=temperature_steps,
    )
    run = tables.layer_pair(config)
    x = tf.random.stateless_normal([1, 12, HIDDEN], [1, 2])
    with tf.GradientTape() as tape:
        y = run(x, context_of(12), training=True)
        loss = tf.reduce_sum(y * tf.random.stateless_normal(y.shape, [3, 4]))
    gradient = tape.gradient(loss, run.pattern.alpha).numpy()
    assert np.isfinite(gradient).all()
    assert (np.abs(gradient) > 0).mean() > 0.9


def test_importance_is_numerically_differentiable_and_shifts_scores(tables):
    run = tables.layer_pair(config_of(penalty=3.0))
    x = tf.random.stateless_normal([1, 12, HIDDEN], [1, 2])
    run(x, context_of(12))
    alpha = run.pattern.alpha
    alpha.assign(tf.random.stateless_normal(alpha.shape, [5, 6]))
    bias = run.pattern(context_of(12)).bias[0]
    np.testing.assert_allclose(bias, -3 * (1 - run.pattern.importance()), atol=1e-6)

    def loss():
        return tf.reduce_sum(tf.sin(run(x, context_of(12), training=True)))

    with tf.GradientTape() as tape:
        value = loss()
    gradient = tape.gradient(value, alpha)
    direction = tf.random.stateless_normal(alpha.shape, [7, 8])
    start = tf.identity(alpha)
    alpha.assign(start + 1e-2 * direction)
    above = loss()
    alpha.assign(start - 1e-2 * direction)
    expected = (above - loss()) / 2e-2
    np.testing.assert_allclose(tf.reduce_sum(gradient * direction), expected, rtol=2e-2)
    assert not run.pattern.losses


def test_pairs_at_the_ends_of_importance(tables):
    """P = 1 everywhere is full attention; a pair of P = 0 is out."""
    x = tf.random.stateless_normal([2, 12, HIDDEN], [1, 2])
    context = context_of(12, [12, 7])
    run, full = tables.layer_pair(config_of()), tables.layer_pair(AttentionConfig(name="full"))
    run(x, context)
    run.pattern.alpha.assign(tf.fill(run.pattern.alpha.shape, 50.0))
    real = context.input_mask.numpy() == 1
    np.testing.assert_allclose(run(x, context)[real], full(x, context)[real], atol=1e-5)
    alpha = run.pattern.alpha.numpy()
    alpha[:, 6 * 7 // 2 + 2] = -50.0
    run.pattern.alpha.assign(alpha)
    before = run(x, context).numpy()
    changed = x.numpy()
    changed[:, 6] += 1.0
    after = run(tf.constant(changed), context).numpy()
    np.testing.assert_array_equal(after[:, 2], before[:, 2])
    assert np.abs(after[:, 3] - before[:, 3]).max() > 1e-3


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("kind", ["structured", "symmetric", "pairs"])
def test_a_saved_mask_is_the_same_mask_elsewhere(tables, tmp_path, kind, diagonal):
    """Also for examples of several lengths, in buffers shorter than the mask and as long."""
    path = tmp_path / "mask.npz"
    run = tables.layer_pair(config_of(objective="dam", diagonal=diagonal, **KINDS[kind]))
    context = context_of(10, [10, 4])
    run(tf.zeros([2, 10, HIDDEN]), context)
    run.pattern.alpha.assign(tf.random.stateless_normal(run.pattern.alpha.shape, [5, 6]) - 0.5)
    run.pattern.save_mask(path)
    remembered = mask_files.made_by(path)
    assert remembered["attention"] == run.pattern.config.as_dict()
    assert remembered["step"] == 0
    assert mask_files.has_last_token(path) == (kind == "structured")
    for form in ("masked", "blocks"):
        config = AttentionConfig(name="static_mask", mask=str(path), form=form)
        static = tables.layer_pair(config)
        for seq, lengths in ((10, [10, 4]), (12, [1, 12, 7]), (12, [0, 2])):
            x = tf.random.stateless_normal([len(lengths), seq, HIDDEN], [1, seq])
            context = context_of(seq, lengths)
            np.testing.assert_allclose(static(x, context), run(x, context), atol=1e-5)
            expected = run.pattern.mask(context)
            np.testing.assert_array_equal(static.pattern.mask(context), expected)
        assert (static.pattern(context).blocks is None) == (form == "masked")
    with pytest.raises(InputError, match="a mask for 12 tokens, but the input is longer: 13"):
        static(tf.zeros([1, 13, HIDDEN]), context_of(13))


def test_a_saved_structured_mask_in_a_graph_of_any_length(tables, tmp_path):
    """Without a known length there are no blocks, which need the place of the last token."""
    path = tmp_path / "mask.npz"
    learned = pattern_of("random", objective="dam", structured=True)
    learned.save_mask(path)
    static = tables.layer_pair(AttentionConfig(name="static_mask", mask=str(path), form="blocks"))
    dynamic = tf.function(
        lambda *ids: static.pattern(TableContext(*ids)).mask,
        input_signature=[tf.TensorSpec([None, None], tf.int32)] * 4,
        autograph=False,
    )
    context = context_of(9, [9, 5])
    np.testing.assert_array_equal(dynamic(*context[:4]), learned.mask(context))


def test_masks_of_files_without_a_last_token_are_as_they_were(tables, tmp_path):
    """A file of an older version: the last row and column are those of position n - 1."""
    pattern = pattern_of(-1.0, objective="dam", structured=True)
    new, old = tmp_path / "new.npz", tmp_path / "old.npz"
    pattern.save_mask(new)
    stored = dict(np.load(new))
    del stored["of_last_token"]
    np.savez_compressed(old, **stored)
    context = context_of(12, [12, 5])
    for path, last in ((new, 4), (old, 11)):
        mask = tables.layer_pair(AttentionConfig(name="static_mask", mask=str(path))).pattern.mask(
            context
        )
        expected = np.zeros([12, 12], bool)
        expected[[0, last]] = expected[:, [0, last]] = True
        expected[5:] = expected[:, 5:] = False
        np.testing.assert_array_equal(mask[1, 0], expected)


def test_longer_inputs_are_refused():
    for objective in learned_mask.OBJECTIVES:
        pattern = pattern_of(objective=objective)
        for training in (False, True):
            with pytest.raises(InputError, match=r"learned_mask: a mask for 12 tokens.*: 13"):
                pattern(context_of(13), training=training)
        dynamic = tf.function(
            lambda *ids, pattern=pattern: pattern(TableContext(*ids)).bias,
            input_signature=[tf.TensorSpec([None, None], tf.int32)] * 4,
        )
        assert dynamic(*context_of(12)[:4]).shape[-1] == 12
        with pytest.raises(tf.errors.InvalidArgumentError, match="a mask for 12 tokens"):
            dynamic(*context_of(13)[:4])


def test_mask_is_learned_in_a_step_with_xla(tables):
    """Where only the price counts, one step of descent makes every pair less likely."""
    pattern = pattern_of(
        0.01, objective="dam", sparsity_weight=1.0, temperature_steps=0, final_temperature=1.0
    )
    context = context_of(12)

    @tf.function(jit_compile=True)
    def gradient():
        with tf.GradientTape() as tape:
            pattern(context, training=True)
            loss = tf.add_n(pattern.losses)
        return tape.gradient(loss, pattern.alpha)

    found = gradient().numpy()
    assert (found > 0).all()
    pattern.alpha.assign_sub(found / found.min())
    assert float(pattern.sparsity()) == 1


@given(st.floats(-5, 5), st.floats(0.001, 0.999), st.floats(0.05, 5))
def test_gumbel_sigmoid_by_its_definition(alpha, u, temperature):
    """The logistic noise at u is the difference G1 - G2 of two Gumbel variables at its quantile."""
    found = learned_mask.gumbel_sigmoid(
        *(tf.constant(x, tf.float64) for x in (alpha, u)), temperature
    )
    noise = np.log(u / (1 - u))
    assert found.numpy() == pytest.approx(
        1 / (1 + np.exp(-(alpha + noise) / temperature)), abs=1e-6
    )


def test_noise_is_distributed_as_the_difference_of_two_gumbel_variables():
    rng = np.random.default_rng(2)
    first, second = (-np.log(-np.log(rng.random(50_000))) for _ in range(2))
    logistic = learned_mask.gumbel_sigmoid(tf.zeros([50_000]), rng.random(50_000), 1.0).numpy()
    expected = 1 / (1 + np.exp(-(first - second)))
    shares = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(
        np.quantile(logistic, shares), np.quantile(expected, shares), atol=0.01
    )


def test_gumbel_sigmoid_in_its_limits():
    uniform = tf.constant(np.random.default_rng(3).random(20_000), tf.float32)
    alpha = 0.8
    cold = learned_mask.gumbel_sigmoid(alpha, uniform, 1e-4).numpy()
    assert np.mean((cold > 0.01) & (cold < 0.99)) < 0.001
    assert cold.mean() == pytest.approx(1 / (1 + np.exp(-alpha)), abs=0.01)
    np.testing.assert_array_equal(learned_mask.gumbel_sigmoid(100.0, uniform, 1.0), 1)
    np.testing.assert_allclose(learned_mask.gumbel_sigmoid(-100.0, uniform, 1.0), 0, atol=1e-30)
    ends = learned_mask.gumbel_sigmoid(0.0, tf.constant([0.0, 1.0]), 1.0).numpy()
    assert np.isfinite(ends).all()


def test_straight_through_has_the_soft_gradient():
    alpha = tf.constant([-1.0, 0.3, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(alpha)
        soft = learned_mask.gumbel_sigmoid(alpha, tf.constant([0.5, 0.5, 0.1]), 0.7)
        hard = learned_mask.straight_through(soft)
    np.testing.assert_array_equal(hard, [0, 1, 0])
    np.testing.assert_array_equal(tape.gradient(hard, alpha), tape.gradient(soft, alpha))


def test_parameters_are_one_set_a_head():
    pattern = pattern_of(initial_alpha=0.5)
    np.testing.assert_array_equal(pattern.alpha, np.full([HEADS, 78], 0.5))
    assert pattern.checkpoint_variables().keys() == {"alpha"}
    assert pattern_of(objective="dam").checkpoint_variables().keys() == {"alpha", "step"}


def test_temperature_falls_by_the_same_factor_each_batch_and_then_stays():
    options = {"temperature": 2.0, "final_temperature": 0.5, "temperature_steps": 4}
    pattern = pattern_of(objective="dam", **options)
    taus = []
    for _ in range(6):
        taus.append(float(pattern.temperature()))
        pattern.draw()
    np.testing.assert_allclose(taus, [2, 2**0.5, 1, 0.5**0.5, 0.5, 0.5], rtol=1e-6)
    assert int(pattern.step) == 6
    assert float(pattern_of(objective="dam", temperature_steps=0).temperature()) == pytest.approx(
        0.1
    )


@pytest.mark.parametrize("straight_through", [True, False])
def test_masks_are_hard_when_the_temperature_has_fallen(straight_through):
    options = {"temperature_steps": 1, "straight_through": straight_through}
    pattern = pattern_of(objective="dam", initial_alpha=0.0, temperature=1.0, **options)
    before, after = pattern.draw().numpy(), pattern.draw().numpy()
    assert ((before > 0) & (before < 1)).all()
    assert np.isin(after, (0, 1)).all() == straight_through
