"""MATE and its relatives: sparse attention over tables in TensorFlow.

Names are imported on first use: TensorFlow takes seconds to load, and reading a table does not
need it.
"""

import importlib.util
import os
import platform
import sys
from typing import TYPE_CHECKING

from mate_tf.lazy import on_first_use

# TensorFlow reads these variables when it is imported.
# Keeps its start-up notices off the terminal, among them an error for each machine without a GPU.
# Errors are still raised as exceptions.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
# TensorFlow uses oneDNN by default only on x86 processors with AVX512-VNNI and the like. It is
# faster on those with AVX2 too (results/efficiency.md#onednn).
if platform.machine().lower() in ("x86_64", "amd64"):
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

# tf-models builds on Keras 2. With this variable `tf.keras` is Keras 2 too, and TensorFlow does not
# import Keras 3 next to it, which takes a quarter of the time of its import. TensorFlow 2.15 has
# Keras 2 without the package tf_keras.
if "tensorflow" not in sys.modules and importlib.util.find_spec("tf_keras"):
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mate_tf import (
        analysis,
        answers,
        attention,
        checkpoints,
        data,
        evaluation,
        layers,
        models,
        pointr,
        serving,
        tables,
        tasks,
        training,
    )
    from mate_tf.attention import AttentionConfig
    from mate_tf.data.converters.examples import ExampleConverter
    from mate_tf.errors import InputError
    from mate_tf.models.classifier import ClassifierConfig, TableClassifier
    from mate_tf.models.encoder import EncoderConfig, TableEncoder
    from mate_tf.pointr.predictor import PointrPredictor
    from mate_tf.serving.predictor import Predictor
    from mate_tf.tables.table import Table

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
    "PointrPredictor": "mate_tf.pointr.predictor",
}

__all__ = [
    "AttentionConfig",
    "ClassifierConfig",
    "EncoderConfig",
    "ExampleConverter",
    "InputError",
    "PointrPredictor",
    "Predictor",
    "Table",
    "TableClassifier",
    "TableEncoder",
    "analysis",
    "answers",
    "attention",
    "checkpoints",
    "data",
    "evaluation",
    "layers",
    "models",
    "pointr",
    "serving",
    "tables",
    "tasks",
    "training",
]


__getattr__, _ = on_first_use(__name__, _EXPORTS)


def __dir__():
    return sorted([*__all__, "__version__"])
