"""Analyses of trained models: attention flow, learned masks, settings of MATE."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
