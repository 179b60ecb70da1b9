"""MATE and its relatives: sparse attention over tables in TensorFlow.

Names are imported on first use: TensorFlow takes seconds to load, and reading a table does not
need it.
"""

import importlib
import os

# Keeps TensorFlow's start-up notices off the terminal, among them an error for each machine without
# a GPU. It must be set before TensorFlow is imported. Errors are still raised as exceptions.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

__version__ = "0.1.0"

_EXPORTS = {
    "Table": "mate_tf.tables.table",
    "InputError": "mate_tf.errors",
    "AttentionConfig": "mate_tf.attention",
    "EncoderConfig": "mate_tf.models.encoder",
    "TableEncoder": "mate_tf.models.encoder",
    "ClassifierConfig": "mate_tf.models.classifier",
    "TableClassifier": "mate_tf.models.classifier",
    "ExampleConverter": "mate_tf.data.converters.examples",
    "Predictor": "mate_tf.serving.predictor",
    "PointrPredictor": "mate_tf.pointr",
}
_MODULES = ("attention", "checkpoints", "tables", "data", "models", "tasks", "evaluation")

__all__ = [*_EXPORTS, *_MODULES]


def __getattr__(name):
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"mate_tf.{name}")
    raise AttributeError(f"module 'mate_tf' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
