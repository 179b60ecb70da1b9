"""Answers on CPUs by OpenVINO: the encoder's graph, what it attends to, and the heads in NumPy.

Nothing here needs TensorFlow. What a model attends to is computed outside of the graph, once for
all layers, so that the graph has matmuls and gathers only.
"""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
