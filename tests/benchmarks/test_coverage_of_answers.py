"""The benchmark of gold cells that are read counts what is in the examples."""

import pytest

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.tables.table import Table

PIECES = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "who", "is", "red", "blue", "green"]


@pytest.fixture
def report(load_benchmark, tmp_path):
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("\n".join(PIECES), encoding="utf-8")
    rows = [["red", "is who is"] for _ in range(20)] + [["blue", "is red who"]]
    table = Table.from_rows(["who", "is"], rows)
    questions = [
        Question("t-0_0", "blue", [(20, 1)]),
        Question("t-0_1", "blue", [(0, 0)]),
        Question("t-0_2", "blue", [(0, 0), (20, 0)]),
        Question("t-0_3", "blue", is_valid=False),
    ]
    interaction = interaction_from_table(table, "t-0", questions)
    benchmark = load_benchmark("coverage_of_answers")
    return benchmark, benchmark.measure([interaction], str(vocab_file), [24, 128])


def test_shares(report, tmp_path):
    """24 tokens hold the first nine rows, or the last one whole and the first ones."""
    benchmark, found = report
    assert found["questions"] == 3
    assert found["too_long"] == {"24": 1.0, "128": 0.0}
    shares = {(row["length"], row["way"]): (row["read"], row["whole"]) for row in found["shares"]}
    assert shares[24, "last dropped"] == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert shares[24, "ranked"] == shares[24, "ranked and filled"] == (1, 1)
    assert {shares[128, way] for way in benchmark.WAYS} == {(1, 1)}
    text = benchmark.show("Made", found)
    assert "      24     100.0  last dropped            33.3    33.3" in text.splitlines()
    benchmark.plot({"Made": found, "Other": found}, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000
