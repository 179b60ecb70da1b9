"""Analyses of attention (`attention`) and of its cost (`cost`), and their figures (`plots`)."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
