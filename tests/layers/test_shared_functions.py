"""A computation that layers share: traced once, with the same results and gradients."""

import numpy as np
import tensorflow as tf

from mate_tf.layers.shared_functions import shared_function


def test_is_traced_once_a_graph_for_each_key():
    traced = []

    def layer(x, factor):
        def product(x, power):
            traced.append(factor)
            return factor * x**power

        return shared_function(factor, product)(x, 2.0)

    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(layer(layer(x, 2.0), 3.0), 2.0)
        return y, tape.gradient(y, x)

    y, dy = gradient(tf.constant(1.5))
    assert sorted(traced) == [2.0, 3.0]
    # 2 (3 (2 x^2)^2)^2 = 288 x^8
    np.testing.assert_allclose([y, dy], [288 * 1.5**8, 288 * 8 * 1.5**7], rtol=1e-5)


def test_is_the_function_itself_in_eager_mode():
    assert shared_function("name", abs) is abs
