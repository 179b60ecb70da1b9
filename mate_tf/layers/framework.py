"""The Keras that tf-models builds on: `tf_keras` from TensorFlow 2.16 on, `tf.keras` before.

Everything in mate-tf imports `keras` from here; a Keras 3 layer in the same model raises TypeError.
"""

from typing import TYPE_CHECKING

import tensorflow as tf
from tensorflow.python.ops import control_flow_util

_MAJOR, _MINOR = (int(part) for part in tf.__version__.split(".")[:2])

if TYPE_CHECKING or (_MAJOR, _MINOR) >= (2, 16):
    import tf_keras as keras
else:
    keras = tf.keras

__all__ = ["keras"]


def within_xla() -> bool:
    """Returns whether XLA will compile what is being traced, as with jit_compile or on a TPU.

    XLA has no shapes that depend on values, so layers choose another way of computing the same.
    Only the graph at hand is looked at: it is not known whether a function that is traced now will
    be called by a compiled one later.
    """
    graph = tf.compat.v1.get_default_graph()
    return control_flow_util.GraphOrParentsInXlaContext(graph)
