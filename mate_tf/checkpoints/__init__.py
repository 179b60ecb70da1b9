"""Loading weights: `load(model, path)` for BERT and TAPAS, of TF1 and Hugging Face, and our own."""

from mate_tf.checkpoints.load import LoadReport, load
from mate_tf.checkpoints.names import reference_variables

__all__ = ["LoadReport", "load", "reference_variables"]
