"""Tables as plain data. No module here imports TensorFlow.

`table` has the class `Table` with its readers, `numbers` finds numbers and dates in cells and
questions, and `linearize` makes token sequences.
"""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
