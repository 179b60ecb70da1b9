"""Long tables in windows of rows, each an example with the numbers of the whole table."""

import numpy as np
import pytest

from mate_tf.data.converters import table_windows
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.tables.conversion import ConversionConfig
from mate_tf.tables.table import Table

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EMPTY]", "who", "name", "points", "a", *"123456789")
ROWS = 40


@pytest.fixture(scope="module")
def converter(vocabulary_file):
    options = {"number_parser": "modern", "renumber_to_fit": True, "mark_matches": True}
    return ExampleConverter(vocabulary_file(PIECES), max_seq_length=32, **options)


@pytest.fixture(scope="module")
def interaction():
    rows = [["a", str(1 + number % 9)] for number in range(ROWS)]
    table = Table.from_rows(["name", "points"], rows)
    return interaction_from_table(table, "t", [Question("t_0", "who 3")])


def feature(conversion, name):
    stored = conversion.example.features.feature[name]
    return np.array(getattr(stored, stored.WhichOneof("kind")).value)


def test_every_row_is_in_one_window(converter, interaction):
    windows = converter.windows(interaction, 0)
    assert np.concatenate(windows.rows).tolist() == list(range(ROWS))
    assert len(windows.rows) == 4  # 4 of 32 tokens are the question's, 2 the header's, 2 a row's
    for rows in windows.rows:
        conversion = windows.convert(rows)
        assert conversion.rows == tuple(rows.tolist())
        assert conversion.cuts == ()


def test_features_of_a_window(converter, interaction):
    windows = converter.windows(interaction, 0)
    rows = windows.rows[1]
    conversion = windows.convert(rows)
    row_ids, columns = feature(conversion, "row_ids"), feature(conversion, "column_ids")
    points = (columns == 2) & (row_ids > 0)
    assert row_ids[points].tolist() == list(range(1, len(rows) + 1))
    values = np.array([1 + row % 9 for row in rows])
    assert feature(conversion, "numeric_values")[points].tolist() == values.tolist()
    # Ranks are those among the rows of the window, relations those to the question.
    expected = np.unique(values, return_inverse=True)[1] + 1
    assert feature(conversion, "column_ranks")[points].tolist() == expected.tolist()
    assert ((feature(conversion, "numeric_relations")[points] == 1) == (values == 3)).all()


def test_values_are_read_in_the_whole_table(converter):
    """One window alone would read 1.234 as a number of three decimals."""
    rows = [["a", "1.234"]] * 30 + [["a", "1.234,5"]]
    interaction = interaction_from_table(
        Table.from_rows(["name", "points"], rows), "t", [Question("t_0", "who")]
    )
    windows = converter.windows(interaction, 0)
    first = feature(windows.convert(windows.rows[0]), "numeric_values")
    assert set(first[~np.isnan(first)].tolist()) == {1234.0}


@pytest.mark.parametrize(("needed", "kept"), [(None, [0, 1, 2]), ([4], [0, 1, 4])])
def test_columns_are_left_out_before_windows_get_small(needed, kept):
    lengths = np.full((50, 6), 2)
    mask = None if needed is None else np.isin(np.arange(6), needed)
    columns, divide = table_windows.divide(lengths, np.arange(6), mask, 42, ConversionConfig())
    rows = divide(np.arange(49))
    assert columns.tolist() == kept
    assert {len(each) for each in rows[:-1]} == {table_windows.FEWEST_ROWS}


def test_a_row_that_is_too_long_has_a_window():
    lengths = np.array([[1], [100], [1], [1]])
    _, divide = table_windows.divide(lengths, np.arange(1), None, 10, ConversionConfig())
    assert [each.tolist() for each in divide(np.arange(3))] == [[0], [1, 2]]
    assert [each.tolist() for each in divide(np.array([1, 2]))] == [[1, 2]]


def test_long_cells_do_not_push_columns_out():
    lengths = np.array([[1, 1], [2000, 1], [1, 1]])
    columns, _ = table_windows.divide(lengths, np.arange(2), None, 120, ConversionConfig())
    assert columns.tolist() == [0, 1]


def test_descriptions_in_cells_are_not_shortened():
    lengths = np.array([[1], [80], [80], [80]])
    config = ConversionConfig(expand_entity_descriptions=True)
    _, divide = table_windows.divide(lengths, np.arange(1), None, 120, config)
    assert [each.tolist() for each in divide(np.arange(3))] == [[0], [1], [2]]


def test_row_ids_limit_a_window():
    lengths, config = np.ones((21, 1), int), ConversionConfig(max_row_id=8)
    _, divide = table_windows.divide(lengths, np.arange(1), None, 1000, config)
    assert [len(each) for each in divide(np.arange(20))] == [7, 7, 6]
