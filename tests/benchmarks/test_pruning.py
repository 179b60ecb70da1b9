"""The benchmark of pruning counts the questions that give an example."""

import pytest

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.tables.table import Table

PIECES = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "who", "is", "red", "blue", "green"]


def test_share_of_questions_with_their_answer(load_benchmark, tmp_path):
    """10 tokens hold the question, the header and one row: the first one, or the one like it."""
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("\n".join(PIECES), encoding="utf-8")
    table = Table.from_rows(["who", "is", "red"], [["red", "is", "who"], ["blue", "is", "green"]])
    text = "blue green"
    questions = [
        Question("t-0_0", text, [(1, 0)]),
        Question("t-0_1", text, [(1, 2)]),
        Question("t-0_2", text, is_valid=False),
    ]
    interaction = interaction_from_table(table, "t-0", questions)
    found = load_benchmark("pruning").measure([interaction], vocab_file, 10)
    assert (found["length"], found["questions"]) == (10, 3)
    assert found["kept"]["without"] == 0
    assert found["kept"]["rows"] == pytest.approx(2 / 3)
    assert found["kept"].keys() == {"without", "columns", "rows", "both"}
