"""Gumbel-sigmoid, its noise, and the options of variants that learn a mask."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.attention import (
    gumbel_mask,
)


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
