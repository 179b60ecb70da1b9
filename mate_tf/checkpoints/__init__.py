"""Loading weights, `load(model, path)`, of TF1, tf-models, Hugging Face and our own; and
`save_huggingface(model, folder)`."""

from mate_tf.checkpoints.huggingface_export import save_huggingface
from mate_tf.checkpoints.load import LoadReport, load
from mate_tf.checkpoints.names import matching_variables, reference_variables

__all__ = [
    "LoadReport",
    "load",
    "matching_variables",
    "reference_variables",
    "save_huggingface",
]
