"""Cost of attention: time, FLOPs and memory. Imports nothing by itself."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
