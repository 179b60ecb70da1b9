"""Attention under a mask, written out, and the tensors that masks become."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import attention
from mate_tf.attention import AttentionConfig, TableContext
from mate_tf.attention.base import MASKED_SCORE
from mate_tf.attention.full import FullPattern, MaskTensors


def context_of(mask):
    zeros = tf.zeros(np.shape(mask), tf.int32)
    return TableContext(zeros, zeros, zeros, tf.constant(mask))


def test_a_query_without_keys_is_marked():
    mask = tf.constant([[[[True, False], [False, False]], [[True, True], [False, True]]]])
    found = MaskTensors.from_mask(mask, tf.float32)
    np.testing.assert_array_equal(found.bias, np.where(mask, 0, MASKED_SCORE))
    # [batch, queries, heads, 1]: the second query of the first head
    np.testing.assert_array_equal(found.any_key, [[[[1], [1]], [[0], [1]]]])


@pytest.mark.parametrize("diagonal", [True, False])
def test_every_real_token_is_attended_to(diagonal):
    pattern = FullPattern(AttentionConfig(name="full", diagonal=diagonal), num_heads=2)
    mask = pattern.mask(context_of([[1, 1, 0]])).numpy()
    expected = np.array([[1, 1, 0]] * 3, bool) & (diagonal | ~np.eye(3, dtype=bool))
    np.testing.assert_array_equal(np.broadcast_to(mask, [1, 1, 3, 3]), expected[None, None])


def test_values_are_weighted_by_the_softmax_of_the_scores():
    config = AttentionConfig(name="full")
    layer = attention.get("full").attention(config, num_heads=1, hidden_size=2)
    query, key, value = (
        np.array(rows, np.float32).reshape(1, 3, 1, 2)
        for rows in ([[1, 0], [0, 1], [9, 9]], [[2, 0], [0, 2], [5, 5]], [[1, 2], [3, 4], [7, 7]])
    )
    pattern = FullPattern(config, 1)(context_of([[1, 1, 0]]))
    found = layer.attend(query, key, value, pattern).numpy()[0, :2, 0]
    heavy = 1 / (1 + np.exp(-np.sqrt(2)))  # scores are 2 / sqrt(2) and 0
    expected = heavy * value[0, :2, 0] + (1 - heavy) * value[0, 1::-1, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
