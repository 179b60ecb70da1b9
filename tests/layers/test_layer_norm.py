"""Equal to Keras' layer normalisation, in values and gradients."""

import numpy as np
import tensorflow as tf

from mate_tf.layers.framework import keras
from mate_tf.layers.layer_norm import LayerNorm


def test_equals_keras():
    x = tf.Variable(tf.random.stateless_normal([3, 5, 32], [1, 2]) * 3 + 7)
    weights = tf.random.stateless_normal(x.shape, [3, 4])
    results = []
    for layer in (LayerNorm(), keras.layers.LayerNormalization(epsilon=1e-12)):
        layer.build(x.shape)
        layer.gamma.assign(tf.linspace(0.5, 2.0, 32))
        layer.beta.assign(tf.linspace(-1.0, 1.0, 32))
        with tf.GradientTape() as tape:
            y = layer(x)
            loss = tf.reduce_sum(y * weights)
        results.append([y, *tape.gradient(loss, [x, layer.gamma, layer.beta])])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_bfloat16_takes_moments_in_float32():
    layer = LayerNorm(dtype="mixed_bfloat16")
    layer.build([None, 64])
    x = tf.random.stateless_normal([4, 64], [1, 2]) + 300
    y = layer(tf.cast(x, tf.bfloat16))
    assert y.dtype == tf.bfloat16
    np.testing.assert_allclose(tf.reduce_mean(tf.cast(y, tf.float32), -1), np.zeros(4), atol=5e-3)
