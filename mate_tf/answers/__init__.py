"""Gold answers, operations over cells, and the official rules that compare answers.

Used by the readers of data sets and by the metrics. No module here imports TensorFlow.
"""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
