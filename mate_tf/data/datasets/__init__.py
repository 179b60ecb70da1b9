"""Readers of data sets: official files to interactions."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
