"""Masks of positions, against the paper and by hand."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import static_masks
from mate_tf.errors import InputError

# Tables 3 and 4 of the paper at n = 128: with and without the diagonal, and by how much a random
# draw may miss them.
SPARSITIES = {
    "strided": (70.4, 71.2, 0.1),
    "fixed": (72.7, 73.4, 0.1),
    "longformer": (88.7, 89.5, 0.3),
    "logsparse": (89.8, 90.6, 0.1),
    "bigbird": (93.2, 93.9, 0.3),
    "star": (96.1, 96.9, 0.1),
}


@pytest.mark.parametrize("name", SPARSITIES)
def test_sparsities_of_the_paper(name):
    mask = static_masks.MASKS[name]
    *expected, tolerance = SPARSITIES[name]
    for diagonal, sparsity in zip((True, False), expected, strict=True):
        found = mask(128, diagonal=diagonal)
        assert found.dtype == bool
        assert found.shape == (128, 128)
        assert abs(100 * (1 - found.mean()) - sparsity) <= tolerance
        assert (found.diagonal() == diagonal).all()


@pytest.mark.parametrize("seed", range(5))
def test_random_masks_have_the_sparsity_with_any_seed(seed):
    for name in ("longformer", "bigbird"):
        expected, _, tolerance = SPARSITIES[name]
        found = static_masks.MASKS[name](128, seed=seed)
        assert abs(100 * (1 - found.mean()) - expected) <= tolerance
        np.testing.assert_array_equal(found, static_masks.MASKS[name](128, seed=seed))
        assert (found != static_masks.MASKS[name](128, seed=seed + 1)).any()


def test_masks_by_hand():
    def rows(mask):
        return ["".join(".x"[int(seen)] for seen in row) for row in mask]

    assert rows(static_masks.star(5)) == ["xxxxx", "xxx..", "xxxx.", "x.xxx", "x..xx"]
    assert rows(static_masks.logsparse(6)) == [
        "xxx.x.",
        "xxxx.x",
        "xxxxx.",
        ".xxxxx",
        "x.xxxx",
        ".x.xxx",
    ]
    assert rows(static_masks.strided(6, stride=3))[0] == "xxxx.."
    assert rows(static_masks.strided(6, stride=3))[3] == "xxxxxx"
    assert rows(static_masks.fixed(7, stride=3))[1] == "xxx..x."
    assert rows(static_masks.fixed(7, stride=3))[6] == "..x..xx"
    assert rows(static_masks.bigbird(5, num_random=0))[2] == "xxxxx"
    assert rows(static_masks.bigbird(6, num_random=0))[2] == "xxxx.x"
    assert rows(static_masks.longformer(5, window=1, num_global=0)) == [
        "xx...",
        "xxx..",
        ".xxx.",
        "..xxx",
        "...xx",
    ]


def test_random_tokens():
    beyond_the_band = static_masks.longformer(128, window=0, diagonal=False)
    assert np.sort(beyond_the_band.sum(0))[-3:].tolist() == [2, 127, 127]
    drawn = static_masks.bigbird(400, window=0, num_random=4, seed=3)[1:-1, 1:-1]
    others = drawn.sum(1) - 1  # without the token itself
    assert others.max() == 4
    assert others.mean() > 3.9
    # spread over the keys as independent draws would be: Poisson with mean 4
    assert 0.7 < np.var(drawn.sum(0)) / 4 < 1.3


@pytest.mark.parametrize("name", static_masks.MASKS)
@pytest.mark.parametrize("n", [1, 2, 5, 64, 131])
def test_tensors_and_arrays_agree(name, n):
    mask = static_masks.MASKS[name]
    np.testing.assert_array_equal(mask(tf.constant(n)), mask(n))


def test_options_out_of_range():
    with pytest.raises(InputError, match="stride must be 1 or more, not 0"):
        static_masks.strided(8, stride=0)
    with pytest.raises(InputError, match="window must be 0 or more"):
        static_masks.longformer(8, window=-1)
