"""Evaluation of models: predictions and their files, metrics, baselines."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
