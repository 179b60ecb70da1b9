"""Loading weights: `load(model, path)` for TF1 checkpoints of BERT and TAPAS and for our own."""

from mate_tf.checkpoints.load import LoadReport, load
from mate_tf.checkpoints.names import reference_variables

__all__ = ["LoadReport", "load", "reference_variables"]
