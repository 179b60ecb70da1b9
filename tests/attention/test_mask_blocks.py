"""Plans by which a mask is computed in blocks."""

import numpy as np
import pytest

from mate_tf.attention import mask_blocks

from .conftest import banded, scattered


def test_the_form_is_decided_from_the_masks_own_numbers():
    band, diagonals = (mask[None] for mask in (banded(1024, 48), scattered(1024, 0.1)))
    assert 1 - band.mean() > 0.9
    assert mask_blocks.plan(band).is_cheaper()
    assert not mask_blocks.plan(diagonals).is_cheaper()
    assert "blocks would cost" in str(mask_blocks.plan(diagonals))


def test_a_permuted_band_is_found():
    order = np.random.default_rng(0).permutation(1024)
    i, j = np.indices([1024, 1024])
    band = (abs(i - j) <= 40)[None]
    permuted = band[:, order][:, :, order]
    assert mask_blocks.plan(permuted).cost == pytest.approx(mask_blocks.plan(band).cost, rel=0.2)


def test_a_plan_covers_each_pair_once():
    mask = np.stack([banded(200, 3), scattered(200, 0.05)])
    plan = mask_blocks.plan(mask)
    covered = np.zeros([2, 200, 200], int)
    for head in range(2):
        for queries, keys, seen in zip(
            plan.queries, plan.keys[head], plan.allowed[head], strict=True
        ):
            for a, b in np.argwhere(seen):
                covered[head, queries[a], keys[b]] += 1
        covered[head, plan.dense] += plan.dense_allowed[head]
    np.testing.assert_array_equal(covered, mask)
