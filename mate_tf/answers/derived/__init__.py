"""Answers that compare several sets of rows: groups, differences, shares, places, yes and no.

Each of them is found by its words alone, and only if every word of the question has a part in it.
Does not import TensorFlow.
"""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
