"""Scores of pairs of tokens that must not attend."""

import tensorflow as tf

MASKED_SCORE = -1e9
"""Added to the score of a pair that must not attend; exp() of it is exactly zero."""


def masked_score(dtype) -> tf.Tensor:
    """Returns MASKED_SCORE as a scalar of `dtype`; in float16, half of its lowest number.

    MASKED_SCORE is -inf in float16, and the softmax over a row of -inf is NaN.
    """
    return tf.constant(max(MASKED_SCORE, float(tf.as_dtype(dtype).min) / 2), dtype)


def mask_bias(mask: tf.Tensor, dtype) -> tf.Tensor:
    """Returns the additive form of a mask: 0 for allowed pairs, `masked_score` elsewhere.

    Args:
        mask: <bool>[...].
        dtype: dtype of the result, which has the shape of `mask`.
    """
    return tf.where(mask, tf.zeros([], dtype), masked_score(dtype))
