"""Small vocabularies and tables."""

import pytest

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
def vocabulary_file(tmp_path_factory):
    """vocabulary_file(pieces): a file with these, one a line."""

    def write(pieces):
        path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
        path.write_text("\n".join(pieces), encoding="utf-8")
        return path

    return write
