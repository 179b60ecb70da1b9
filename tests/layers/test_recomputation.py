"""Functions that are computed again for their gradients."""

import numpy as np
import tensorflow as tf

from mate_tf.layers.recomputation import recomputed


def test_gradients_are_those_of_the_function():
    x, weight, scale = tf.constant([1.0, 2.0]), tf.constant([3.0, -1.0]), tf.constant(2.0)

    def function(x, weight, scale):
        return tf.reduce_sum(scale * weight * x**2)

    with tf.GradientTape() as tape:
        tape.watch([x, weight, scale])
        result = recomputed(function, (x, weight), (scale,))
    of_x, of_weight, of_scale = tape.gradient(result, [x, weight, scale])
    assert float(result) == float(function(x, weight, scale)) == -2.0
    np.testing.assert_allclose(of_x, [12.0, -8.0])
    np.testing.assert_allclose(of_weight, [2.0, 8.0])
    assert of_scale is None  # only what is to be differentiated by has gradients
