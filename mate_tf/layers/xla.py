"""What must be done otherwise where XLA compiles."""

import tensorflow as tf
from tensorflow.python.ops import control_flow_util


def within_xla() -> bool:
    """Whether what is being traced will be compiled by XLA, as with jit_compile or on a TPU."""
    graph = tf.compat.v1.get_default_graph()
    return control_flow_util.GraphOrParentsInXlaContext(graph)
