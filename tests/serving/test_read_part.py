"""Cells that a model reads, back in the table that they are from."""

import numpy as np

from mate_tf.data.converters.example_features import Conversion
from mate_tf.serving.read_part import ReadPart
from mate_tf.tables.linearize import Cut


def part(rows, columns, shape, *cuts):
    return ReadPart(Conversion({}, cuts, tuple(rows), tuple(columns)), shape)


def test_values_are_those_of_the_rows_and_columns_that_were_read():
    read = part([1, 3], [0, 2], (5, 3))
    grid = np.arange(1, 13, dtype=np.float32).reshape(3, 4)  # of a model with more cells
    expected = np.zeros([5, 3], np.float32)
    expected[1, 0], expected[1, 2], expected[3, 0], expected[3, 2] = 1, 2, 5, 6
    np.testing.assert_array_equal(read.of_table(grid), expected)
    found = read.outputs({"selected": grid > 4, "cell_probabilities": grid, "probability": 1.0})
    np.testing.assert_array_equal(found["selected"], expected > 4)
    np.testing.assert_array_equal(found["cell_probabilities"], expected)
    assert found["probability"] == 1.0
    with_header = read.with_header(np.array([[7.0, 8.0], [1.0, 2.0], [5.0, 6.0]]))
    assert with_header[0].tolist()[0::2] == [7.0, 8.0]
    assert with_header[2].tolist()[0::2] == [1.0, 2.0]
    assert np.isnan(with_header).sum() == 6 * 3 - 6


def test_tokens_have_their_cells():
    rows, columns = part([1, 3], [0, 2], (5, 3)).cells(
        np.array([0, 0, 1, 2]), np.array([0, 2, 1, 2])
    )
    assert rows.tolist() == [-1, -1, 1, 3]
    assert columns.tolist() == [-1, 2, 0, 2]


def test_notes_name_what_was_dropped():
    cuts = Cut("columns", 1), Cut("rows", 3), Cut("cells", 2)
    assert part([1, 3], [0, 2], (5, 3), *cuts).notes() == [
        "1 columns dropped: 2",
        "3 rows dropped: 1, 3, 5",
        "2 cells shortened",
    ]
    assert part([0, 4], [0], (9, 1), Cut("rows", 7)).notes() == ["7 rows dropped: 2 to 4, 6 to 9"]
    many = part(range(0, 20, 2), [0], (20, 1), Cut("rows", 10)).notes()
    assert many == ["10 rows dropped: 2, 4, 6, 8, 10 and 5 more ranges"]
    # The histogram is a row of the sequence only.
    assert part([0], [0], (1, 1), Cut("rows", 1)).notes() == ["1 rows dropped"]
