"""Pooling: one vector for a sequence, from the vectors of its tokens."""

import tensorflow as tf

from mate_tf.attention import masks

FIRST, QUESTION, ALL, MAX = "first", "question", "all", "max"
POOLINGS = (FIRST, QUESTION, ALL, MAX)
"""First token, as in BERT; mean of the question tokens or of all tokens; maximum of all tokens."""


def pool(x: tf.Tensor, context, pooling: str) -> tf.Tensor:
    """Pools the real tokens of each sequence: returns <float>[batch, hidden].

    Examples without real tokens, which only fill up a batch, have the mean and maximum zero.

    Args:
        x: <float>[batch, seq, hidden], vectors of the tokens.
        context: the TableContext of these tokens.
        pooling: one of POOLINGS.
    """
    if pooling == FIRST:
        return x[:, 0]
    tokens = masks.question_tokens(context) if pooling == QUESTION else masks.real_tokens(context)
    tokens = tokens[:, :, None]
    if pooling == MAX:
        largest = tf.reduce_max(tf.where(tokens, x, x.dtype.min), axis=1)
        return tf.where(tf.reduce_any(tokens, axis=1), largest, 0)
    tokens = tf.cast(tokens, x.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(x * tokens, 1), tf.reduce_sum(tokens, 1))
