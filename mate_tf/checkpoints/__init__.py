"""Checkpoints: `load(model, path)` reads weights of TF1, tf-models, Hugging Face and mate-tf.

`save_huggingface(model, folder)` writes Hugging Face's format. `pattern_variables(path)` reads the
variables of attention patterns.

Names are imported on first use, since `latest` does not need TensorFlow.
"""

from typing import TYPE_CHECKING

from mate_tf.lazy import on_first_use

if TYPE_CHECKING:
    from mate_tf.checkpoints.huggingface_export import save_huggingface
    from mate_tf.checkpoints.loading import LoadReport, load
    from mate_tf.checkpoints.names import checkpoint_variables, matching_variables
    from mate_tf.checkpoints.patterns import pattern_variables

_EXPORTS = {
    "LoadReport": "mate_tf.checkpoints.loading",
    "checkpoint_variables": "mate_tf.checkpoints.names",
    "load": "mate_tf.checkpoints.loading",
    "matching_variables": "mate_tf.checkpoints.names",
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
