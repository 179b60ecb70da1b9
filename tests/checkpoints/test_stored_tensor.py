"""Tensors of a file, which are read when their values are needed."""

import numpy as np
import tensorflow as tf

from mate_tf.checkpoints.stored_tensor import StoredTensor

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_nothing_is_read_before_its_values_are_needed():
    calls = []

    def read():
        calls.append(1)
        return VALUES

    stored = StoredTensor("a", (2, 3), read)
    changed = stored.transposed().reshaped(2, 3).scaled(2)
    assert (changed.shape, calls) == ((2, 3), [])
    np.testing.assert_array_equal(changed.read(), 2 * VALUES.T.reshape(2, 3))
    converted = stored.converted((3,), lambda values: values.sum(0))
    np.testing.assert_array_equal(converted.read(), [3, 5, 7])


def test_the_rest_of_a_longer_variable_stays():
    stored = StoredTensor("a", (2, 3), lambda: VALUES)
    longer = tf.Variable(-tf.ones([4, 3]))
    np.testing.assert_array_equal(
        stored.padded(longer, 0).read(), np.concatenate([VALUES, -np.ones([2, 3])])
    )
    for shape, axis in (((2, 3), 0), ((4, 5), 0)):
        assert stored.padded(tf.Variable(tf.zeros(shape)), axis) is stored
