"""Config and features of an encoder-decoder that is small enough for any test."""

import numpy as np

from mate_tf.data.features import TOKEN_TYPES
from mate_tf.models.encoder_decoder_config import EncoderDecoderConfig
from tests.models import tiny_encoder

CLS, SEP = 1, 2
SOURCE, POSITIONS = 10, 8


def tiny(encoder=None, **fields) -> EncoderDecoderConfig:
    """Returns a config of one layer each of width 16, with other values for fields of the encoder
    and of the decoder."""
    sizes = {"vocab_size": 12, "hidden_size": 16, "num_hidden_layers": 1}
    text = {"disabled_features": list(TOKEN_TYPES), "attention": {"name": "full"}}
    # With a large standard deviation the tokens of a random model differ.
    own = sizes | text | {"initializer_range": 0.5} | (encoder or {})
    made = tiny_encoder.tiny(**own)
    defaults = {
        "encoder": made,
        "num_decoder_layers": 1,
        "max_target_positions": POSITIONS,
        "start_id": CLS,
        "end_id": SEP,
    }
    return EncoderDecoderConfig(**defaults | fields)


def features(seed=0) -> dict[str, np.ndarray]:
    """Returns three texts, the second and third with padding, and their targets."""
    rng = np.random.default_rng(seed)
    zeros = np.zeros([3, SOURCE], np.int32)
    mask = (np.arange(SOURCE) < np.array([[SOURCE], [7], [4]])).astype(np.int32)
    return {
        "input_ids": rng.integers(3, 12, [3, SOURCE]).astype(np.int32) * mask,
        "input_mask": mask,
        "segment_ids": zeros,
        "row_ids": zeros,
        "column_ids": zeros,
        "target_ids": np.array(
            [[CLS, 4, 5, SEP, 0], [CLS, 6, SEP, 0, 0], [CLS, 7, 8, 9, SEP]], np.int32
        ),
    }
