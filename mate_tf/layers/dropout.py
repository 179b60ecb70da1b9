"""Dropout with the seeds of the training step."""

import tensorflow as tf

from mate_tf.layers import step_seeds
from mate_tf.layers.keras_namespace import keras


class Dropout(keras.layers.Layer):
    """Dropout as in Keras, with random numbers that `step_seeds.of_step` determines.

    Args:
        rate: share of the values that are set to 0; the others are divided by 1 - rate.
    """

    def __init__(self, rate: float, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs, training=None):
        """Drops values of `inputs`, a <float> tensor of any shape, if `training` is true."""
        if not training or not self.rate:
            return inputs
        return tf.nn.experimental.stateless_dropout(inputs, self.rate, step_seeds.draw())

    def get_config(self):
        """Returns the constructor's arguments for Keras's serialization."""
        return super().get_config() | {"rate": self.rate}
