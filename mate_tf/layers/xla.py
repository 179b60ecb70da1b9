"""XLA: whether the graph that is being traced will be compiled by it."""

import tensorflow as tf
from tensorflow.python.ops import control_flow_util


def within_xla() -> bool:
    """Returns whether XLA will compile what is being traced, as with jit_compile or on a TPU."""
    graph = tf.compat.v1.get_default_graph()
    return control_flow_util.GraphOrParentsInXlaContext(graph)
