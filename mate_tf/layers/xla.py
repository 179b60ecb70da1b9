"""Detects compilation by XLA."""

import tensorflow as tf
from tensorflow.python.ops import control_flow_util


def within_xla() -> bool:
    """Returns whether XLA will compile what is being traced, as with jit_compile or on a TPU.

    XLA has no shapes that depend on values, so layers choose another way of computing the same.
    Only the graph at hand is looked at: it is not known whether a function that is traced now will
    be called by a compiled one later.
    """
    graph = tf.compat.v1.get_default_graph()
    return control_flow_util.GraphOrParentsInXlaContext(graph)
