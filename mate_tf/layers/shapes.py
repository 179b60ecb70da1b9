"""Helpers for the shapes of tensors and layers."""

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers.framework import keras


def shape_list(tensor: tf.Tensor) -> list:
    """Returns the shape of a tensor as a list. Static sizes are ints, others <int32>[] tensors.

    XLA needs static sizes.

    Args:
        tensor: tensor of any shape [...].
    """
    dynamic = tf.shape(tensor)
    return [dynamic[i] if size is None else size for i, size in enumerate(tensor.shape)]


def build_child(layer: keras.layers.Layer, input_shape) -> None:
    """Creates the variables of `layer` below the current name scope, before any call.

    Args:
        layer: the layer, an attribute of the layer that is being built.
        input_shape: shape of its input; None for the sizes that may vary.
    """
    with tf.name_scope(layer.name):
        layer.build(input_shape)


def check_length(n, length: int, what: str) -> tf.Operation | None:
    """Checks that an input has at most `length` tokens.

    Args:
        n: length of the input, an int or an <int32>[].
        length: largest length.
        what: object with the fixed length, for the beginning of the message.

    Returns:
        None for an int; for a tensor the operation that checks it at run time.

    Raises:
        InputError: if n is an int above `length`.
    """
    message = f"{what} for {length} tokens, but the input is longer"
    if not isinstance(n, int):
        return tf.debugging.assert_less_equal(n, length, message)
    if n > length:
        raise InputError(f"{message}: {n}")
    return None
