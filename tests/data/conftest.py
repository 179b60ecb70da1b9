"""A small vocabulary, tables and their converter."""

import pytest

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.tables.table import Table

VOCABULARY = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "red", "blue", "who"]


def interaction(number, rows=2, is_valid=True):
    """Two questions; the second one's answer is in the last row."""
    table = Table.from_rows(["red"], [["blue red"]] * rows, table_id=f"table{number}")
    name = f"n{number}-0"
    questions = [
        Question(f"{name}_0", "who", is_valid=is_valid),
        Question(f"{name}_1", "who", coordinates=[(rows - 1, 0)], is_valid=is_valid),
    ]
    return interaction_from_table(table, name, questions)


@pytest.fixture(scope="session")
def vocabulary(vocabulary_file):
    return vocabulary_file(VOCABULARY)


@pytest.fixture(scope="module")
def converter(vocabulary):
    return ExampleConverter(vocabulary, 16, drop_rows_to_fit=True)


def values(example, name) -> list:
    """The values of one feature of an example."""
    feature = example.features.feature[name]
    return list(getattr(feature, feature.WhichOneof("kind")).value)
