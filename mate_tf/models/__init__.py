"""Models: the table encoder, and models that add heads to it. Each has a config class."""

from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer

__all__ = [
    "ClassifierConfig",
    "EncoderConfig",
    "PretrainerConfig",
    "TableClassifier",
    "TableEncoder",
    "TablePretrainer",
]
