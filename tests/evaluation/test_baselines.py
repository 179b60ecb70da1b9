"""Baselines on a table small enough to answer by hand, and on the real SQA."""

import itertools

import pytest

from mate_tf.data.datasets import sqa, wikitq
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.evaluation import baselines, metrics
from mate_tf.tables.table import Table


@pytest.fixture
def interaction():
    table = Table.from_rows(
        ["Name", "City", "Salary"],
        [
            ["Anna Keller", "Oslo", "300"],
            ["Anna Roth", "Rome", "400"],
            ["Igor Roth", "Rome", "500"],
        ],
    )
    texts = (
        "what is the salary of Anna Keller?",
        "and the one in Rome?",
        "who is it?",
        "list each Roth",
    )
    questions = [Question(f"a-0_{i}", text, [(0, 2)]) for i, text in enumerate(texts)]
    return interaction_from_table(table, "a-0", questions)


def _cells(interactions, name):
    predicted = baselines.predict(interactions, name)
    return {question_id: list(found.coordinates) for question_id, found in predicted.items()}


def test_random_cell(interaction):
    found = _cells([interaction], "random cell")
    assert found == _cells([interaction], "random cell")
    assert len({tuple(cells) for cells in found.values()}) > 1
    for ((row, column),) in found.values():
        assert 0 <= row < 3
        assert 0 <= column < 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lexical match", [[(0, 0)], [(1, 1), (2, 1)], [(0, 0)], [(1, 0), (2, 0)]]),
        (
            "row and column match",
            [[(0, 2)], [(1, 0), (2, 0)], [(0, 0), (1, 0), (2, 0)], [(1, 0), (2, 0)]],
        ),
        ("previous column", [[(0, 2)], *[[(1, 2), (2, 2)]] * 3]),
    ],
)
def test_by_hand(interaction, name, expected):
    assert _cells([interaction], name) == {f"a-0_{i}": cells for i, cells in enumerate(expected)}


@pytest.mark.parametrize("name", baselines.CELL_BASELINES)
def test_table_without_rows(name):
    table = Table(("A", "B"), ())
    interaction = interaction_from_table(table, "a-0", [Question("a-0_0", "what is A?")])
    assert _cells([interaction], name) == {"a-0_0": []}


def test_counted(interaction):
    """The same cells, and their number where the question asks for one."""
    interaction.questions[3].original_text = "How many are called Roth?"
    plain = baselines.predict([interaction], "row and column match")
    counted = baselines.predict([interaction], "row and column match, counted")
    assert [found.aggregation for found in counted.values()] == ["NONE"] * 3 + ["COUNT"]
    for question_id, found in counted.items():
        assert found.coordinates == plain[question_id].coordinates
        assert plain[question_id].aggregation == "NONE"


def test_on_official_questions(wikitq_dir):
    interactions = list(itertools.islice(wikitq.read(wikitq_dir, "dev"), 500))
    found = {
        name: metrics.denotation_metrics(interactions, baselines.predict(interactions, name))
        for name in ("lexical match", "row and column match", "row and column match, counted")
    }
    assert {name: each["denotation accuracy"] for name, each in found.items()} == pytest.approx(
        {
            "lexical match": 0.022,
            "row and column match": 0.088,
            "row and column match, counted": 0.164,
        }
    )


def _statements(classes):
    table = Table.from_rows(["A"], [["x"]])
    questions = [Question(f"a-0_{i}", "x?", class_index=c) for i, c in enumerate(classes)]
    return [interaction_from_table(table, "a-0", questions)]


def test_majority_class():
    asked = _statements([None, 0])
    found = baselines.predict(asked, "majority class", _statements([2, 0, 2, None]))
    assert list(found) == ["a-0_0", "a-0_1"]
    for prediction in found.values():
        assert prediction.class_index == 2
        assert prediction.class_probabilities == pytest.approx((1 / 3, 0, 2 / 3))
    found = baselines.predict(asked, "majority class", _statements([1, 0]))
    assert found["a-0_0"].class_index == 0


@pytest.mark.parametrize("name", baselines.LEARNED)
@pytest.mark.parametrize("classes", [[], [None]])
def test_nothing_to_learn(name, classes):
    with pytest.raises(InputError, match=name):
        baselines.fit(name, _statements(classes))


def test_unknown_baseline():
    with pytest.raises(InputError, match="'oracle' is not one of random cell, lexical match"):
        baselines.fit("oracle")


def test_on_the_official_test_set(sqa_dir):
    interactions = list(sqa.read(sqa_dir, "test"))
    found = {
        name: metrics.sqa_metrics(interactions, baselines.predict(interactions, name))["ALL"]
        for name in baselines.CELL_BASELINES
    }
    assert found == pytest.approx(
        {
            "random cell": 0.009,
            "lexical match": 0.021,
            "row and column match": 0.220,
            "previous column": 0.165,
        },
        abs=5e-4,
    )
