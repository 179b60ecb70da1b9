"""Static and dynamic sizes, names of variables, and lengths that are too long."""

import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers import shapes
from mate_tf.layers.framework import keras


def test_sizes_are_numbers_where_they_are_known():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])], autograph=False)
    def traced(x):
        seen.append(shapes.shape_list(x))
        return seen[-1][0]

    assert int(traced(tf.zeros([5, 3]))) == 5
    ((batch, seq),) = seen
    assert seq == 3
    assert isinstance(batch, tf.Tensor)


def test_children_are_named_below_the_scope():
    dense = keras.layers.Dense(2, name="query")
    with tf.name_scope("attention"):
        shapes.build_child(dense, [None, 4])
    assert dense.kernel.name == "attention/query/kernel:0"


def test_longer_inputs_are_refused_when_built_or_when_run():
    assert shapes.check_length(4, 4, "a mask") is None
    message = "a mask for 4 tokens, but the input is longer"
    with pytest.raises(InputError, match=f"{message}: 5"):
        shapes.check_length(5, 4, "a mask")

    @tf.function(autograph=False)
    def traced(n):
        with tf.control_dependencies([shapes.check_length(n, 4, "a mask")]):
            return tf.identity(n)

    assert int(traced(tf.constant(4))) == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        traced(tf.constant(5))
