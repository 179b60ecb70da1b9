"""Shapes of tensors and of layers: static sizes where they are known."""

import tensorflow as tf

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
