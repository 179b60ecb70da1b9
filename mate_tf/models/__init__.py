"""Models: the table encoder, and models that add heads to it. Each has a config class.

Names are imported on first use: whoever needs one part does not load the others.
"""

import importlib

_EXPORTS = {
    "ClassifierConfig": "mate_tf.models.classifier_config",
    "EncoderConfig": "mate_tf.models.encoder_config",
    "PretrainerConfig": "mate_tf.models.pretrainer",
    "TableClassifier": "mate_tf.models.classifier",
    "TableEncoder": "mate_tf.models.encoder",
    "TablePretrainer": "mate_tf.models.pretrainer",
}

__all__ = [
    "ClassifierConfig",
    "EncoderConfig",
    "PretrainerConfig",
    "TableClassifier",
    "TableEncoder",
    "TablePretrainer",
]


def __getattr__(name):
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'mate_tf.models' has no attribute {name!r}")
