"""A small table with a question, and an encoder that looks at all it sees alike."""

import numpy as np
import pytest

from mate_tf.attention import AttentionConfig
from mate_tf.data import features as feature_names
from mate_tf.layers.framework import keras
from mate_tf.models.encoder import TableEncoder

from ..models.tiny_encoder import tiny
from ..parsed_html import HOSTILE

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EMPTY]", "who", "year", "ann", "##ika", "30")
SMALL = {"global_length": 6, "radius": 3, "tree_height": 1, "length": 16, "num_global": 4}


@pytest.fixture(scope="session")
def pieces():
    """The vocabulary; its last piece must not become markup."""
    return (*PIECES, HOSTILE)


@pytest.fixture
def small_example():
    """[CLS] who [SEP], a header of two columns and two rows; the last cell has two tokens."""
    values = {
        "input_ids": [2, 5, 3, 5, 6, 10, 4, 9, 7, 8],
        "segment_ids": [0, 0, 0, 1, 1, 1, 1, 1, 1, 1],
        "row_ids": [0, 0, 0, 0, 0, 1, 1, 2, 2, 2],
        "column_ids": [0, 0, 0, 1, 2, 1, 2, 1, 2, 2],
        "input_mask": [1] * 10,
    }
    zeros = dict.fromkeys(feature_names.names(feature_names.MODEL_INPUTS), [0] * 10)
    return {name: np.array([ids], np.int32) for name, ids in (zeros | values).items()}


@pytest.fixture
def looking_alike():
    """looking_alike(name, layers): an encoder with that attention, whose queries are zero."""

    def make(name, layers=2):
        keras.utils.set_random_seed(3)
        config = AttentionConfig(name=name)
        config.override({key: value for key, value in SMALL.items() if key in config})
        encoder = TableEncoder(
            tiny(
                vocab_size=len(PIECES) + 1,
                num_hidden_layers=layers,
                initializer_range=0.4,
                attention=config,
            )
        )
        for block in encoder.blocks:
            for variable in block.attention.query.variables:
                variable.assign(0 * variable)
        return encoder

    return make
