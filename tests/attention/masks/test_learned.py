"""Masks made of importance, and random ones."""

import numpy as np
import pytest

from mate_tf.attention import mask_pruning
from mate_tf.errors import InputError


def test_pruning_takes_the_least_important_pairs_of_each_head():
    importance = np.random.default_rng(4).random([3, 10, 10])
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        mask = mask_pruning.prune(importance, share)
        assert mask.sum(axis=(1, 2)).tolist() == [round(100 * (1 - share))] * 3
        for head, kept in zip(importance, mask, strict=True):
            assert not kept.any() or kept.all() or head[kept].min() > head[~kept].max()
        random = mask_pruning.random_mask(10, 3, share, seed=1)
        assert random.sum(axis=(1, 2)).tolist() == mask.sum(axis=(1, 2)).tolist()
        assert mask_pruning.sparsity(random) == pytest.approx(share)
        assert share in (0.0, 1.0) or (random[0] != random[1]).any()
    # 2.7 of 9 pairs are rounded to 3.
    assert mask_pruning.prune(importance[:, :3, :3], 0.3).sum(axis=(1, 2)).tolist() == [6] * 3
    with pytest.raises(InputError, match="between 0 and 1, not"):
        mask_pruning.prune(importance, 1.5)
    with pytest.raises(InputError, match=r"\[heads, n, n\], not \[10, 10\]"):
        mask_pruning.prune(importance[0], 0.5)


def test_normalised_importance():
    found = mask_pruning.normalised([[[2.0, 3.0], [3.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])
    np.testing.assert_allclose(found, [[[0, 0.5], [0.5, 1]], [[0, 0], [0, 0]]])
