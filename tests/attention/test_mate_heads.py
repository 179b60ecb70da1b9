"""Types of heads: how many there are of each, and their radii."""

import pytest

from mate_tf.attention import AttentionConfig
from mate_tf.attention.mate_heads import HeadType, head_types


@pytest.mark.parametrize(
    ("ratio", "rows"), [(0.5, 6), (0.25, 3), (0.3, 3), (0.99, 11), (1 / 12, 1)]
)
def test_row_heads_come_first_and_their_number_is_rounded_down(ratio, rows):
    config = AttentionConfig(row_heads_ratio=ratio, radius=7, column_radius=9)
    row, column = head_types(config, 12)
    assert row == HeadType("row_ids", first=0, count=rows, radius=7)
    assert column == HeadType("column_ids", first=rows, count=12 - rows, radius=9)


def test_a_type_without_heads_is_left_out():
    only_rows = head_types(AttentionConfig(row_heads_ratio=1.0, row_radius=3), 4)
    assert only_rows == [HeadType("row_ids", 0, 4, 3)]
    only_columns = head_types(AttentionConfig(row_heads_ratio=0.2, radius=5), 4)
    assert only_columns == [HeadType("column_ids", 0, 4, 5)]
