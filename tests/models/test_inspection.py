"""What an encoder says its layers compute with, against what it computes."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig, abilities
from mate_tf.models.encoder import TableEncoder

SMALL_ETC = {"name": "table_etc", "num_global": 4, "local_radius": 3, "max_distance": 2}


@pytest.mark.parametrize("attention", [[{"name": "tree_fine"}, {"name": "mate_exact"}], SMALL_ETC])
def test_layers_with_these_arguments_give_the_outputs(small_config, batch, attention):
    config = small_config().encoder
    config.override({"num_hidden_layers": 2})
    config.attention = attention
    encoder = TableEncoder(config)
    expected = encoder(batch, training=False)["encoder_outputs"]
    layers = encoder.inspect(batch)
    assert [layer.attention for layer in layers] == [block.attention for block in encoder.blocks]
    for layer, block, output in zip(layers, encoder.blocks, expected, strict=True):
        y = abilities.remove_tokens(layer.pattern, block(layer.x, layer.state, training=False))
        # before later layers, added tokens are made again
        if layer.x.shape[1] == layer.seq or block is encoder.blocks[0]:
            np.testing.assert_allclose(y, output, atol=1e-5)
        assert layer.seq == batch["input_ids"].shape[1]


def test_masks_of_content_are_told_from_those_of_ids(small_config, batch):
    config = small_config().encoder
    config.override({"num_hidden_layers": 2})
    config.attention = [{"name": "tree_fine"}, {"name": "full"}]
    by_content, by_ids = TableEncoder(config).inspect(batch)
    assert by_content.content_mask is not None
    assert by_ids.content_mask is None
    np.testing.assert_array_equal(by_content.mask, by_content.content_mask)
    assert bool(tf.reduce_all(by_ids.mask))
    assert by_content.pattern.config == AttentionConfig(name="tree_fine")
