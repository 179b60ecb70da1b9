"""Serving of trained models: `export` writes a SavedModel, `Predictor` answers with it."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
