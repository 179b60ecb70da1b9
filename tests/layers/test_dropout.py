"""Seeds of training steps: determined by seed, batch, draw and replica, and by nothing else."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.layers import step_seeds
from mate_tf.layers.step_seeds import Dropout


def drawn(seed, number, draws=3):
    with step_seeds.seeded_step(seed, tf.constant(number, tf.int64)):
        return [tuple(step_seeds.draw().numpy()) for _ in range(draws)]


def test_seeds_of_a_step():
    assert drawn(3, 5) == drawn(3, 5)
    all_seeds = [
        *drawn(3, 5, draws=40),
        *drawn(3, 6, draws=40),
        *drawn(4, 5, draws=40),
        *drawn(2**63 - 1, 5, draws=40),
    ]
    assert len(set(all_seeds)) == 160


@pytest.mark.parametrize("within", [True, False])
def test_without_a_seed_each_draw_is_new(within):
    if within:
        assert not set(drawn(None, 5)) & set(drawn(None, 5))
    else:
        assert len({tuple(step_seeds.draw().numpy()) for _ in range(3)}) == 3


def test_dropout():
    layer, ones = Dropout(0.25), tf.ones([200, 500])
    np.testing.assert_array_equal(layer(ones), ones)
    np.testing.assert_array_equal(Dropout(0.0)(ones, training=True), ones)

    def dropped(number):
        with step_seeds.seeded_step(1, number):
            return layer(ones, training=True).numpy()

    first = dropped(0)
    np.testing.assert_array_equal(first, dropped(0))
    assert set(np.unique(first)) == {0, np.float32(1 / 0.75)}
    assert np.mean(first == 0) == pytest.approx(0.25, abs=0.01)
    assert np.mean(first != dropped(1)) == pytest.approx(2 * 0.25 * 0.75, abs=0.01)
    assert Dropout.from_config(layer.get_config()).rate == 0.25
