"""Shapes of tensors and of layers: static sizes where they are known."""

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras


def shape_list(tensor: tf.Tensor) -> list:
    """Returns the shape of `tensor`, with a Python int wherever the size is static.

    XLA needs static sizes. The other sizes are <int32>[] tensors.
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
    """Checks that an input is not longer than what was made for `length` tokens.

    Args:
        n: length of the input, an int or an <int32>[].
        length: largest length.
        what: name of the thing with a fixed length, which begins the message.

    Returns:
        The operation that checks n when it runs if n is a tensor; None if it is an int.

    Raises:
        InputError: n is an int above `length`.
    """
    message = f"{what} for {length} tokens, but the input is longer"
    if not isinstance(n, int):
        return tf.debugging.assert_less_equal(n, length, message)
    if n > length:
        raise InputError(f"{message}: {n}")
    return None
