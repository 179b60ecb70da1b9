"""A seed gives the same draws again, although kernels stay."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.layers.framework import keras


def drawn(draw):
    """Two draws after a seed, and two after the same one."""
    found = []
    for _ in range(2):
        keras.utils.set_random_seed(7)
        found += [draw(), draw()]
    return np.stack(found)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: tf.random.normal([5]),
        lambda: tf.random.uniform([5], seed=3),
        lambda: keras.layers.Dropout(0.5)(tf.range(1.0, 30.0), training=True),
        lambda: keras.initializers.TruncatedNormal()([5]),
        lambda: next(iter(tf.data.Dataset.range(30).shuffle(30).batch(30))),
    ],
)
def test_equal_after_the_same_seed(draw):
    eager = drawn(draw)
    np.testing.assert_array_equal(eager[:2], eager[2:])
    in_graph = drawn(tf.function(lambda: tf.random.normal([5])))
    np.testing.assert_array_equal(in_graph[:2], in_graph[2:])
    assert (in_graph[0] != in_graph[1]).any()
    np.testing.assert_array_equal(drawn(draw), eager)
