"""The cheapest settings of MATE for a coverage."""

import numpy as np
import pytest

from mate_tf.analysis.attention import mate_settings
from mate_tf.attention import TableContext, coverage
from mate_tf.errors import InputError


def table(rows, columns, tokens, question=6, seq=512):
    """A table whose cells, those of the header too, have the same number of tokens."""
    cells = [(r, c) for r in range(rows + 1) for c in range(1, columns + 1) for _ in range(tokens)]
    parts = np.zeros([4, 1, seq], np.int32)
    stop = question + len(cells)
    parts[0, 0, question:stop] = 1
    parts[1:3, 0, question:stop] = np.array(cells).T
    parts[3, 0, :stop] = 1
    return TableContext(*parts)


@pytest.mark.parametrize("share", [0.8, 0.95, 1.0])
def test_reaches_the_share_and_no_smaller_radius_does(share):
    context = table(rows=30, columns=5, tokens=3)
    found = mate_settings.cheapest(context, share)
    for kind, radius in (("row", found.row_radius), ("column", found.column_radius)):

        def reach(radius, kind=kind):
            return coverage(context, found.global_length, radius, radius, head_type=kind)

        assert found.reached[kind] == reach(radius) >= share
        assert radius == mate_settings.MIN_RADIUS or reach(radius - 1) < share
    assert found.row_radius < found.column_radius
    assert 0 < found.compared < 1


def test_more_coverage_costs_more():
    context = table(rows=30, columns=5, tokens=3)
    costs = [mate_settings.cheapest(context, share).compared for share in (0.5, 0.9, 1.0)]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]


def test_compared_pairs():
    # 4 global queries see 20 keys, the 16 others 4 global ones and three buckets of 2
    assert mate_settings.compared_pairs(20, 4, 2) == 4 * 20 + 16 * 10
    assert mate_settings.compared_pairs(20, 4, 8) == 400
    assert mate_settings.compared_pairs(20, 30, 1) == 400


@pytest.mark.parametrize("share", [0, -0.1, 1.01])
def test_a_share_that_is_none(share):
    with pytest.raises(InputError, match="share must be above 0"):
        mate_settings.cheapest(table(2, 2, 1), share)
