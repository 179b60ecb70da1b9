"""Vocabularies that are learned from tables and questions."""

import pytest

from mate_tf.data.converters import learned_vocabulary
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.tables.table import Table

QUESTIONS = [f"Which crème is from {town}?" for town in ("Reykjavík", "Oslo", "Bergen") * 4]


@pytest.fixture(scope="module")
def interactions():
    table = Table.from_rows(["Crème", "Town"], [["brûlée", "Oslo"], ["日本", "Reykjavík"]])
    questions = [Question(f"a-0_{i}", text) for i, text in enumerate(QUESTIONS)]
    return [interaction_from_table(table, "a-0", questions)]


def test_texts_of_the_data_have_few_pieces(interactions, tmp_path):
    pieces = learned_vocabulary.learn(interactions, 1000)
    assert pieces[:6] == ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert {"which", "creme", "reykjavik", "日", "本"} <= set(pieces)
    assert pieces == learned_vocabulary.learn(interactions, 1000)
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    tokenizer = Tokenizer(tmp_path / "vocab.txt")
    assert tokenizer.tokenize(["Which Crème?"]) == [["which", "creme", "?"]]
    # Other texts have more, but none that is unknown, if they are in ASCII or in known characters.
    (unseen,) = tokenizer.tokenize(["ZEBRA-42 本日"])
    assert "".join(piece.removeprefix("##") for piece in unseen) == "zebra-42本日"


def test_no_more_pieces_than_allowed(interactions):
    smallest = learned_vocabulary.learn(interactions, 0)
    assert len(learned_vocabulary.learn(interactions, len(smallest) + 10)) <= len(smallest) + 10
    assert {"z", "##z", "7", "##7"} <= set(smallest)
    assert "which" not in smallest


def test_a_table_counts_once(interactions):
    """Otherwise a table with many questions would decide what is common."""
    (interaction,) = interactions
    alone = [interaction.__class__(table=interaction.table) for _ in range(5)]
    assert list(learned_vocabulary._texts(alone)) == list(learned_vocabulary._texts(alone[:1]))
