"""The Keras that tf-models builds on: `tf_keras` from TensorFlow 2.16 on, `tf.keras` before.

Everything in mate-tf imports `keras` from here; a Keras 3 layer in the same model raises TypeError.
"""

import tensorflow as tf

_MAJOR, _MINOR = (int(part) for part in tf.__version__.split(".")[:2])

if (_MAJOR, _MINOR) >= (2, 16):
    import tf_keras as keras
else:
    keras = tf.keras

__all__ = ["keras"]
