"""Converters of interactions to TF examples: for tables, windows of a text, and sequences."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
