"""Padding of sequences and batches: the padding mask, the example mask, padding examples."""

import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.data.interactions import PADDING_QUESTION_ID


def real_tokens(input_mask):
    """Returns the padding mask, true for tokens that are not padding.

    Args:
        input_mask: <int>[batch, seq], a tensor or an array; 0 for padding.

    Returns:
        <bool>[batch, seq], a tensor or an array.
    """
    return input_mask > 0


def example_mask(features: dict) -> tf.Tensor:
    """Returns the example mask of sequences, <bool>[batch], false for padding examples.

    A padding example has one token (see `fill`); all others have [CLS] and at least one more token.

    Args:
        features: dict with `input_mask` <int32>[batch, seq].
    """
    return tf.reduce_sum(features["input_mask"], axis=1) > 1


def table_example_mask(features: dict) -> tf.Tensor:
    """Returns the example mask of tables, <bool>[batch], false for padding examples.

    The padding examples of table converters have a question, as in google-research/tapas, but no
    table. So the number of tokens does not distinguish them.

    Args:
        features: dict with `column_ids` <int32>[batch, seq].
    """
    return tf.reduce_any(features["column_ids"] > 0, axis=1)


def fill_to_multiple(batch: dict, number: int) -> dict[str, tf.Tensor]:
    """Adds padding examples to a batch up to a multiple of `number`.

    Args:
        batch: name -> <dtype>[batch, ...], with all features of `features.ALL`.
        number: divisor of the new batch size.

    Returns:
        name -> <dtype>[new batch size, ...].
    """
    size = tf.shape(batch["input_ids"])[0]
    return fill(batch, size + -size % number)


def fill(batch: dict, batch_size) -> dict[str, tf.Tensor]:
    """Adds padding examples to a batch up to `batch_size` examples.

    Args:
        batch: name -> <dtype>[batch, ...], with all features of `features.ALL`.
        batch_size: int or <int32>[], the new batch size.

    Returns:
        name -> <dtype>[batch_size, ...].
    """
    missing = batch_size - tf.shape(batch["input_ids"])[0]
    question_id = [ord(char) + 1 for char in PADDING_QUESTION_ID]
    filled = {}
    for feature in (*feature_names.ALL, feature_names.TARGET):
        if feature is feature_names.TARGET and feature.name not in batch:
            continue
        value = batch[feature.name]
        shape = tf.concat([[missing], tf.shape(value)[1:]], axis=0)
        if feature.name == "question_id":
            added = tf.fill(shape, PADDING_QUESTION_ID)
        elif feature.dtype == "string":
            added = tf.fill(shape, "")
        elif feature.name == "question_id_ints":
            row = question_id + [0] * (feature.size - len(question_id))
            added = tf.tile([row], [missing, 1])
        elif feature.name == "input_mask":
            # One token, so that no mean is over zero tokens.
            added = tf.one_hot(tf.zeros([missing], tf.int32), shape[1], dtype=value.dtype)
        else:
            padding = float("nan") if feature.name == "answer" else feature.padding
            added = tf.fill(shape, tf.cast(padding, value.dtype))
        result = tf.concat([value, added], axis=0)
        result.set_shape([tf.get_static_value(batch_size), *value.shape[1:]])
        filled[feature.name] = result
    return filled
