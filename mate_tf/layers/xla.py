"""Detects compilation by XLA."""

import tensorflow as tf
from tensorflow.python.ops import control_flow_util


def within_xla() -> bool:
    """Returns whether XLA will compile the graph that is being traced (jit_compile, TPU)."""
    graph = tf.compat.v1.get_default_graph()
    return control_flow_util.GraphOrParentsInXlaContext(graph)
