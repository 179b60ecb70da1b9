"""Pooling: computes one vector per sequence from the vectors of its tokens."""

import tensorflow as tf

from mate_tf.attention import masks

FIRST, QUESTION, ALL, MAX = "first", "question", "all", "max"
POOLINGS = (FIRST, QUESTION, ALL, MAX)
"""First token, as in BERT; mean of the question tokens or of all tokens; maximum of all tokens."""


def pool(x: tf.Tensor, context, pooling: str) -> tf.Tensor:
    """Pools the real tokens of each sequence.

    Padding examples have no real tokens; their mean and maximum are 0.

    Args:
        x: <float>[batch, seq, hidden], vectors of the tokens.
        context: the TableContext of these tokens.
        pooling: one of POOLINGS.

    Returns:
        <float>[batch, hidden].
    """
    if pooling == FIRST:
        return x[:, 0]
    tokens = masks.question_tokens(context) if pooling == QUESTION else masks.real_tokens(context)
    # [batch, seq] -> [batch, seq, 1]
    tokens = tokens[:, :, None]
    if pooling == MAX:
        # [batch, seq, hidden] -> [batch, hidden]
        largest = tf.reduce_max(tf.where(tokens, x, x.dtype.min), axis=1)
        return tf.where(tf.reduce_any(tokens, axis=1), largest, 0)
    tokens = tf.cast(tokens, x.dtype)
    # [batch, seq, hidden] -> [batch, hidden]
    return tf.math.divide_no_nan(tf.reduce_sum(x * tokens, 1), tf.reduce_sum(tokens, 1))
