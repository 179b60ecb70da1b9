"""Examples of pruned tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data.converters.examples import ANSWER_NOT_FOUND, ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.tables.linearize import ConversionError, Cut
from mate_tf.tables.table import Table

WORDS = ["red", "blue", "green", "who", "is", "x", "y", "5", "7"]
VOCABULARY = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
ROWS = [["red", "5", "x"], ["blue", "7", "y"], ["green", "5", "x"]]
PRUNING = [(True, False), (False, True), (True, True)]


@pytest.fixture(scope="module")
def vocab_file(vocabulary_file):
    return vocabulary_file(VOCABULARY)


@pytest.fixture(scope="module")
def converters(vocab_file):
    """By (columns pruned, rows pruned), of 16 tokens."""
    return {
        pruned: ExampleConverter(
            vocab_file, 16, drop_rows_to_fit=True, prune_columns=pruned[0], prune_rows=pruned[1]
        )
        for pruned in [(False, False), *PRUNING]
    }


def ask(rows, text, coordinates=()):
    table = Table.from_rows(["who", "is", "x"][: len(rows[0])], rows, table_id="t")
    return interaction_from_table(table, "t-0", [Question("t-0_0", text, coordinates)])


def values(example, name):
    return np.array(example.features.feature[name].int64_list.value)


def pieces(example):
    ids = values(example, "input_ids")[: values(example, "input_mask").sum()]
    return " ".join(VOCABULARY[index] for index in ids)


def test_columns_of_the_question_stay(vocab_file):
    converter = ExampleConverter(vocab_file, 12, prune_columns=True)
    example, cuts = converter.conversion(ask(ROWS, "is 7", [(1, 1)]), 0)
    assert pieces(example) == "[CLS] is 7 [SEP] who is red 5 blue 7 green 5"
    assert cuts == (Cut("columns", 1),)
    # Row, column and rank are those of the whole table; the label is on its cell.
    assert values(example, "column_ids")[4:12].tolist() == [1, 2] * 4
    assert values(example, "row_ids")[4:12].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert np.flatnonzero(values(example, "label_ids")).tolist() == [9]
    example, _ = converter.conversion(ask(ROWS, "x"), 0)
    assert pieces(example) == "[CLS] x [SEP] who x red x blue y green x"
    assert values(example, "column_ids")[3:11].tolist() == [1, 3] * 4


def test_rows_of_the_question_stay(vocab_file):
    converter = ExampleConverter(vocab_file, 14, prune_rows=True)
    example, cuts = converter.conversion(ask(ROWS, "green 7 who", [(2, 2)]), 0)
    assert pieces(example) == "[CLS] green 7 who [SEP] who is x blue 7 y green 5 x"
    assert cuts == (Cut("rows", 1),)
    assert values(example, "row_ids")[5:].tolist() == [0, 0, 0, 2, 2, 2, 3, 3, 3]
    # 5 is less than 7 in the ranks of all rows.
    assert values(example, "column_ranks")[8:].tolist() == [0, 2, 0, 0, 1, 0]
    assert np.flatnonzero(values(example, "label_ids")).tolist() == [13]


def test_answers_that_were_pruned_are_errors(vocab_file):
    converter = ExampleConverter(vocab_file, 14, prune_rows=True)
    with pytest.raises(ConversionError) as error:
        converter.convert(ask(ROWS, "green 7 who", [(0, 0)]), 0)
    assert error.value.reason == ANSWER_NOT_FOUND


def test_what_cannot_be_pruned_away_is_too_long_or_dropped(vocab_file):
    with pytest.raises(ConversionError, match="the table needs 4 tokens with one word per cell, 3"):
        ExampleConverter(vocab_file, 6, prune_columns=True).convert(ask(ROWS, "is"), 0)
    converter = ExampleConverter(vocab_file, 6, prune_columns=True, drop_rows_to_fit=True)
    example, cuts = converter.conversion(ask(ROWS, "is"), 0)
    assert pieces(example) == "[CLS] is [SEP] is 5 7"
    assert cuts == (Cut("columns", 2), Cut("rows", 1))
    with pytest.raises(ConversionError, match="needs 3 tokens with one word per cell, 2 are left"):
        ExampleConverter(vocab_file, 5, prune_rows=True).convert(ask(ROWS, "is"), 0)
    converter = ExampleConverter(vocab_file, 6, prune_rows=True, drop_columns_to_fit=True)
    assert pieces(converter.convert(ask(ROWS, "is 7"), 0)) == "[CLS] is 7 [SEP] who blue"


def test_rows_beyond_the_largest_id_are_not_taken(vocab_file):
    converter = ExampleConverter(
        vocab_file, 10, max_row_id=3, max_column_id=3, prune_columns=True, prune_rows=True,
        drop_rows_to_fit=True, drop_columns_to_fit=True,
    )  # fmt: skip
    example, cuts = converter.conversion(ask(ROWS, "green x blue"), 0)
    assert pieces(example) == "[CLS] green x blue [SEP] who red blue"
    assert cuts == (Cut("columns", 2), Cut("rows", 1))


def test_numbers_of_what_is_read(vocab_file):
    """Any row and column may be read, and they are numbered as in a smaller table."""
    converter = ExampleConverter(
        vocab_file, 10, max_row_id=3, max_column_id=3, prune_columns=True, prune_rows=True,
        drop_rows_to_fit=True, drop_columns_to_fit=True, renumber_to_fit=True,
    )  # fmt: skip
    example, cuts = found = converter.conversion(ask(ROWS, "green x", [(2, 2)]), 0)
    assert pieces(example) == "[CLS] green x [SEP] who x red x green x"
    assert (found.rows, found.columns) == ((0, 2), (0, 2))
    assert values(example, "row_ids")[4:].tolist() == [0, 0, 1, 1, 2, 2]
    assert values(example, "column_ids")[4:].tolist() == [1, 2, 1, 2, 1, 2]
    assert np.flatnonzero(values(example, "label_ids")).tolist() == [9]
    assert cuts == (Cut("columns", 1), Cut("rows", 1))
    whole = ExampleConverter(vocab_file, 16).conversion(ask(ROWS, "x"), 0)
    assert (whole.rows, whole.columns) == ((0, 1, 2), (0, 1, 2))


def test_the_best_row_is_read_whole(vocab_file):
    """Before other rows are read at all, and as far as it fits a quarter of the tokens."""
    rows = [["red x", "5 x", "y y"] for _ in range(9)]
    rows[7] = ["blue 7", "5 x", "y"]
    converter = ExampleConverter(vocab_file, 32, prune_rows=True, drop_rows_to_fit=True)
    example, cuts = found = converter.conversion(ask(rows, "blue 7"), 0)
    assert found.rows == (0, 1, 2, 3, 4, 5, 7)
    assert (values(example, "row_ids") == 8).sum() == 5
    assert cuts[0] == Cut("rows", 2)
    rows[7][2] = "y " * 9
    example = converter.convert(ask(rows, "blue 7"), 0)
    assert (values(example, "row_ids") == 8).sum() == 3


cell = st.lists(st.sampled_from(WORDS), max_size=2).map(" ".join)


@st.composite
def tables(draw):
    row = st.lists(cell, min_size=(width := draw(st.integers(1, 3))), max_size=width)
    return draw(st.lists(row, min_size=1, max_size=6))


@given(
    tables(),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.sampled_from(PRUNING),
)
def test_pruned_examples(converters, rows, text, pruned):
    interaction = ask(rows, text)
    plain = converters[False, False].conversion(interaction, 0)
    found = converters[pruned].conversion(interaction, 0)
    assert found == converters[pruned].conversion(interaction, 0)
    dropped = {kind: count for kind, count in plain.cuts if kind in ("rows", "columns")}
    if not dropped:
        assert found == plain
        return
    dropped = {kind: count for kind, count in found.cuts if kind in ("rows", "columns")}
    assert dropped
    row_ids, column_ids = (values(found.example, f"{kind}_ids") for kind in ("row", "column"))
    cells = sorted(set(zip(row_ids.tolist(), column_ids.tolist(), strict=True)) - {(0, 0)})
    kept_rows, kept_columns = ({cell[axis] for cell in cells} for axis in (0, 1))
    # All cells of the columns and rows that are there, the header among them, in their order.
    assert cells == [(row, column) for row in sorted(kept_rows) for column in sorted(kept_columns)]
    assert 0 in kept_rows
    assert len(kept_rows) == 1 + len(rows) - dropped.get("rows", 0)
    assert len(kept_columns) == len(rows[0]) - dropped.get("columns", 0)
    assert pruned[0] or len(kept_columns) == len(rows[0])
    # Every cell that is there could be the answer, and no other one.
    for row in range(len(rows)):
        for column in range(len(rows[0])):
            asked = ask(rows, text, [(row, column)])
            if (row + 1, column + 1) in cells:
                labels = values(converters[pruned].convert(asked, 0), "label_ids") == 1
                assert set(zip(row_ids[labels], column_ids[labels], strict=True)) == {
                    (row + 1, column + 1)
                }
            else:
                with pytest.raises(ConversionError, match=ANSWER_NOT_FOUND):
                    converters[pruned].convert(asked, 0)
