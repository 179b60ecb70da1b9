"""The mask of SAT token by token."""

import numpy as np
import pytest

from mate_tf.attention import AttentionConfig
from mate_tf.attention.same_row_or_column import SameRowOrColumnPattern


@pytest.mark.parametrize("diagonal", [True, False])
def test_mask(tables, diagonal):
    context = tables.random_context(np.random.default_rng(2), 20, [4, 1])
    config = AttentionConfig(name="same_row_or_column", diagonal=diagonal)
    mask = SameRowOrColumnPattern(config, num_heads=2).mask(context).numpy()
    assert mask.shape == (2, 1, 20, 20)
    segment, row, column, real = (np.asarray(part) for part in context[:4])
    for b, q, k in np.ndindex(2, 20, 20):
        near = row[b, q] == row[b, k] or column[b, q] == column[b, k]
        allowed = real[b, k] and (near or segment[b, q] == 0 or segment[b, k] == 0)
        assert mask[b, 0, q, k] == (allowed and (diagonal or q != k))
