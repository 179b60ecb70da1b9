"""coverage() counts what the masks say."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import coverage, masks


def by_masks(context, global_length, radii):
    reached = allowed = 0
    for ids, radius in zip((context.row_ids, context.column_ids), radii, strict=True):
        reached += tf.math.count_nonzero(masks.windowed(context, ids, global_length, radius))
        allowed += tf.math.count_nonzero(masks.visible(masks.head_tokens(context, ids)))
    return int(reached) / int(allowed)


@pytest.mark.parametrize("global_length", [0, 5, 16, 100])
@pytest.mark.parametrize("radii", [(1, 1), (3, 9), (40, 2)])
def test_counts_the_pairs_of_the_masks(tables, global_length, radii):
    context = tables.random_context(np.random.default_rng(8), 70, [5, 20, 0, 3], columns=5)
    expected = by_masks(context, global_length, radii)
    assert coverage(context, global_length, *radii) == pytest.approx(expected, abs=1e-12)
    assert coverage(context.tensors, global_length, *radii) == pytest.approx(expected, abs=1e-12)


def test_is_one_when_windows_hold_all_and_less_when_not(tables):
    context = tables.random_context(np.random.default_rng(9), 70, [5], columns=5)
    assert coverage(context, 16, 70) == 1
    assert coverage(context, 16, 4) < 1
    rows, columns = (coverage(context, 16, 20, 2, head_type=kind) for kind in ("row", "column"))
    assert rows == 1
    assert columns < 1
    assert coverage(tables.random_context(np.random.default_rng(9), 10, [0]), 4, 4) == 1
