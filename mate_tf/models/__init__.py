"""Models: the table encoder, and models that add heads to it. Each has a config class.

Names are imported on first use: whoever needs one part does not load the others.
"""

from typing import TYPE_CHECKING

from mate_tf.lazy import on_first_use

if TYPE_CHECKING:
    from mate_tf.models.classifier import TableClassifier
    from mate_tf.models.classifier_config import ClassifierConfig
    from mate_tf.models.encoder import TableEncoder
    from mate_tf.models.encoder_config import EncoderConfig
    from mate_tf.models.encoder_decoder import EncoderDecoder
    from mate_tf.models.encoder_decoder_config import EncoderDecoderConfig
    from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer

_EXPORTS = {
    "ClassifierConfig": "mate_tf.models.classifier_config",
    "EncoderConfig": "mate_tf.models.encoder_config",
    "EncoderDecoder": "mate_tf.models.encoder_decoder",
    "EncoderDecoderConfig": "mate_tf.models.encoder_decoder_config",
    "PretrainerConfig": "mate_tf.models.pretrainer",
    "TableClassifier": "mate_tf.models.classifier",
    "TableEncoder": "mate_tf.models.encoder",
    "TablePretrainer": "mate_tf.models.pretrainer",
}

__all__ = [
    "ClassifierConfig",
    "EncoderConfig",
    "EncoderDecoder",
    "EncoderDecoderConfig",
    "PretrainerConfig",
    "TableClassifier",
    "TableEncoder",
    "TablePretrainer",
]

__getattr__, __dir__ = on_first_use(__name__, _EXPORTS)
