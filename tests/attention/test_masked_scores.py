"""A softmax gives masked pairs nothing, and is finite where all pairs are masked."""

import numpy as np
import tensorflow as tf

from mate_tf.attention.mask_rows import mask_bias


def test_a_query_without_keys_in_float16():
    """-1e9 is -inf in float16, and the softmax of nothing else is NaN."""
    bias = mask_bias(tf.constant([[False, False], [True, False]]), tf.float16)
    np.testing.assert_array_equal(tf.nn.softmax(bias), [[0.5, 0.5], [1, 0]])
    shifted = tf.nn.softmax(bias - tf.constant(60.0, tf.float16))
    np.testing.assert_array_equal(shifted, [[0.5, 0.5], [1, 0]])
