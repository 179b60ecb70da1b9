"""Views of a projection and the way back."""

import numpy as np
import tensorflow as tf

from mate_tf.attention import sorted_views


def test_indices_are_of_tokens_and_heads():
    projection = tf.reshape(tf.range(2 * 3 * 4 * 2), [2, 3, 4, 2])  # batch, seq, heads, head_size
    tokens = tf.constant([[2, 0], [5, 3]])  # of the first and of the second example
    index = sorted_views.head_indices(tokens, first_head=1, num_heads=2, total_heads=4)
    found = sorted_views.gather_views(projection, long=index)
    assert found.full is found.global_ is found.window is None
    assert found.long.shape == [2, 2, 2, 2]
    for part, head, token in np.ndindex(2, 2, 2):
        expected = projection[part, tokens[part, token] % 3, 1 + head]
        np.testing.assert_array_equal(found.long[part, head, token], expected)


def test_outputs_are_numbered_through_and_the_number_behind_them_is_zero():
    first, second = tf.ones([2, 1, 3]), 2 * tf.ones([1, 3, 3])
    found = sorted_views.gather_back([first, second], tf.constant([[4, 0], [5, 2]]))
    np.testing.assert_array_equal(found[..., 0], [[2, 1], [0, 2]])


def test_the_way_back_has_a_dense_gradient():
    x = tf.Variable(tf.ones([4, 2]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(sorted_views.gather_back([x], tf.constant([0, 0, 3, 4])))
    gradient = tape.gradient(y, x)
    assert isinstance(gradient, tf.Tensor)
    np.testing.assert_array_equal(gradient, [[2, 2], [0, 0], [0, 0], [1, 1]])
