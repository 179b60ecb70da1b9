"""Checkpoints: `load(model, path)` reads weights of TF1, tf-models, Hugging Face and mate-tf.

`save_huggingface(model, folder)` writes Hugging Face's format. `pattern_variables(path)` reads the
variables of attention patterns.
"""

from mate_tf.checkpoints.load import LoadReport, load
from mate_tf.checkpoints.names import (
    checkpoint_variables,
    matching_variables,
)
from mate_tf.lazy import on_first_use

_EXPORTS = {
    "pattern_variables": "mate_tf.checkpoints.patterns",
    "save_huggingface": "mate_tf.checkpoints.huggingface_export",
}

__all__ = [
    "LoadReport",
    "checkpoint_variables",
    "load",
    "matching_variables",
    "pattern_variables",
    "save_huggingface",
]

__getattr__, __dir__ = on_first_use(__name__, _EXPORTS)
