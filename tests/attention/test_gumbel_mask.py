"""Gumbel-sigmoid, its noise, and the options of variants that learn a mask."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.attention import AttentionConfig, gumbel_mask
from mate_tf.errors import InputError


@given(st.floats(-5, 5), st.floats(0.001, 0.999), st.floats(0.05, 5))
def test_gumbel_sigmoid_by_its_definition(alpha, u, temperature):
    """The logistic noise at u is the difference G1 - G2 of two Gumbel variables at its quantile."""
    found = gumbel_mask.gumbel_sigmoid(
        *(tf.constant(x, tf.float64) for x in (alpha, u)), temperature
    )
    noise = np.log(u / (1 - u))
    assert found.numpy() == pytest.approx(
        1 / (1 + np.exp(-(alpha + noise) / temperature)), abs=1e-6
    )


def test_noise_is_distributed_as_the_difference_of_two_gumbel_variables():
    rng = np.random.default_rng(2)
    first, second = (-np.log(-np.log(rng.random(50_000))) for _ in range(2))
    logistic = gumbel_mask.gumbel_sigmoid(tf.zeros([50_000]), rng.random(50_000), 1.0).numpy()
    expected = 1 / (1 + np.exp(-(first - second)))
    shares = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(
        np.quantile(logistic, shares), np.quantile(expected, shares), atol=0.01
    )


def test_gumbel_sigmoid_in_its_limits():
    uniform = tf.constant(np.random.default_rng(3).random(20_000), tf.float32)
    alpha = 0.8
    cold = gumbel_mask.gumbel_sigmoid(alpha, uniform, 1e-4).numpy()
    assert np.mean((cold > 0.01) & (cold < 0.99)) < 0.001
    assert cold.mean() == pytest.approx(1 / (1 + np.exp(-alpha)), abs=0.01)
    np.testing.assert_array_equal(gumbel_mask.gumbel_sigmoid(100.0, uniform, 1.0), 1)
    np.testing.assert_allclose(gumbel_mask.gumbel_sigmoid(-100.0, uniform, 1.0), 0, atol=1e-30)
    ends = gumbel_mask.gumbel_sigmoid(0.0, tf.constant([0.0, 1.0]), 1.0).numpy()
    assert np.isfinite(ends).all()


def test_straight_through_has_the_soft_gradient():
    alpha = tf.constant([-1.0, 0.3, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(alpha)
        soft = gumbel_mask.gumbel_sigmoid(alpha, tf.constant([0.5, 0.5, 0.1]), 0.7)
        hard = gumbel_mask.straight_through(soft)
    np.testing.assert_array_equal(hard, [0, 1, 0])
    np.testing.assert_array_equal(tape.gradient(hard, alpha), tape.gradient(soft, alpha))


def pattern_of(**options):
    """The smallest one: four parameters a head, one for each pair of two tokens."""

    class FourPairs(gumbel_mask.GumbelMaskPattern):
        num_parameters = 4

        def sparsity(self):
            return tf.reduce_mean(tf.cast(self.alpha < 0, tf.float32))

    config = AttentionConfig(name="learned_mask", length=2, **options)
    pattern = FourPairs(config, num_heads=3)
    pattern.build()
    return pattern


def test_parameters_are_one_set_a_head():
    pattern = pattern_of(initial_alpha=0.5)
    np.testing.assert_array_equal(pattern.alpha, np.full([3, 4], 0.5))
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


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "masks"},
        {"temperature": 0.0},
        {"final_temperature": -0.1},
        {"penalty": 0.0},
        {"sparsity_weight": -1.0},
        {"temperature_steps": -1},
    ],
)
def test_options_out_of_range(options):
    with pytest.raises(InputError, match=next(iter(options))):
        pattern_of(**options)
