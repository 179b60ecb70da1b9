"""One vector for a whole sequence, from the vectors of its tokens."""

import tensorflow as tf

from mate_tf.attention import masks

FIRST, QUESTION, ALL, MAX = "first", "question", "all", "max"
POOLINGS = (FIRST, QUESTION, ALL, MAX)
"""The first token, as in BERT; the mean of the question's, or of all tokens; the largest values."""


def pool(x: tf.Tensor, context, pooling: str) -> tf.Tensor:
    """<float>[batch, hidden] from <float>[batch, seq, hidden]; padding counts for nothing.

    Examples that only fill up a batch have no tokens to take a mean or maximum of: they give zero.

    Args:
        x: the tokens' vectors.
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
