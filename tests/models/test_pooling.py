"""Tests of the one vector for a whole sequence."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import TableContext
from mate_tf.models.pooling import POOLINGS, pool


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_pool(pooling, dtype):
    """Three tokens of the question, two of the table, padding; then an example of padding alone."""
    x = np.arange(24, dtype=np.float32).reshape(2, 6, 2) - 30  # the largest is padding's
    segment_ids = tf.constant([[0, 0, 0, 1, 1, 0], [0] * 6])
    context = TableContext(
        segment_ids,
        row_ids=tf.zeros_like(segment_ids),
        column_ids=tf.zeros_like(segment_ids),
        input_mask=tf.constant([[1, 1, 1, 1, 1, 0], [0] * 6]),
    )
    expected = {
        "first": [x[0, 0], x[1, 0]],
        "question": [x[0, :3].mean(0), [0, 0]],
        "all": [x[0, :5].mean(0), [0, 0]],
        "max": [x[0, :5].max(0), [0, 0]],
    }
    pooled = pool(tf.cast(x, dtype), context, pooling)
    assert pooled.dtype == dtype
    np.testing.assert_allclose(tf.cast(pooled, tf.float32), expected[pooling])
