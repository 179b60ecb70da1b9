"""BigBird's random blocks, and lengths beyond what the contract test has."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import AttentionConfig, masks
from mate_tf.attention.bigbird import BLOCKS_WITH_RANDOM, random_blocks
from mate_tf.attention.full import MaskTensors


def config(**options):
    small = {"block_size": 2, "num_random": 3, "random_within": 24}
    return AttentionConfig(name="bigbird", **small | options)


def test_random_blocks_are_others_than_those_seen_anyway():
    state = np.random.get_state()[1].copy()
    chosen = random_blocks(config(), num_heads=4)
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    assert chosen.shape == (4, 24 // 2 + BLOCKS_WITH_RANDOM - 2, 3)
    for row in range(chosen.shape[1]):
        for blocks in chosen[:, row]:
            own = row + 1
            assert len(set(blocks)) == 3
            assert not {0, own - 1, own, own + 1} & set(blocks)
            assert max(blocks) < 12
    assert any((chosen[0] != chosen[head]).any() for head in (1, 2, 3))
    np.testing.assert_array_equal(chosen, random_blocks(config(), num_heads=4))
    assert (chosen != random_blocks(config(seed=1), num_heads=4)).any()


def test_default_options_are_those_of_tf_models():
    chosen = random_blocks(AttentionConfig(name="bigbird"), num_heads=2)
    assert chosen.shape[-1] == 3
    assert chosen.max() == 1024 // 64 - 1


@pytest.mark.parametrize("seq", [2, 30, 560])
def test_equals_its_mask(tables, seq):
    """From three blocks to more than have random ones of their own."""
    run = tables.layer_pair(config())
    context = tables.random_context(np.random.default_rng(1), seq, [2, 1], max_cell_length=9)
    x = tf.random.stateless_normal([2, seq, 16], [1, 1])
    mask = run.pattern.mask(context)
    if seq > 24:
        by_block = masks.bigbird(context, np.zeros([4, 1, 1], np.int32), 2)
        assert np.sum(mask & ~by_block) > 0
    dense = tables.layer_pair(AttentionConfig(name="full"))
    expected = dense.layer(x, MaskTensors.from_mask(mask, tf.float32))
    np.testing.assert_allclose(run(x, context), expected, atol=1e-5)


def test_the_least_number_of_blocks_with_random_ones(tables):
    tables.layer_pair(config(random_within=14))
