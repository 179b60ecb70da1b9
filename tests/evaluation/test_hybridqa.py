"""The first stage's metrics: the reference's figures, and by hand."""

import itertools
import json

import pytest

from mate_tf.answers.hybridqa import answer_type
from mate_tf.data import records
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.evaluation import hybridqa, metrics, predictions
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table


@pytest.fixture(scope="module")
def recorded(recordings):
    return json.loads((recordings / "selection_metrics_and_e2e.json").read_text())


@pytest.fixture(scope="module")
def predicted(recordings):
    return metrics.by_question(predictions.read_tsv(recordings / "dev_cell_predictions.tsv"))


def test_metrics_are_the_references(recordings, recorded, predicted):
    interactions = list(records.read_interactions(recordings / "interactions" / "dev.tfrecord"))
    found = hybridqa.selection_metrics(interactions, predicted)
    assert found == recorded["metrics_by_answer_type"]
    assert found[hybridqa.ALL] == recorded["metrics_all"]
    interactions = list(records.read_interactions(recordings / "interactions" / "test.tfrecord"))
    assert interactions
    assert hybridqa.selection_metrics(interactions, predicted) == {}


def test_answer_types_are_the_references(recordings):
    examples = json.loads((recordings / "cell_selection.json").read_text())
    for split in ("train", "dev"):
        interactions = records.read_interactions(recordings / "interactions" / f"{split}.tfrecord")
        for interaction, example in zip(interactions, examples[split], strict=True):
            assert answer_type(interaction.questions[0]) == example["answer_type"]


def test_ranking_is_the_references(recorded, predicted):
    """Among cells of the same score any order will do."""
    for question_id, cells in recorded["best_cells_row_col"].items():
        ranked = hybridqa.ranked_cells(predicted[question_id])
        rest = iter(map(tuple, cells))
        for _, tied in itertools.groupby(ranked, key=lambda pair: pair[1]):
            same = {cell for cell, _ in tied}
            assert same == set(itertools.islice(rest, len(same)))
        assert not list(rest)
        assert predicted[question_id].ranked == tuple(cell for cell, _ in ranked[:5])


def _interaction(cells, in_table):
    table = Table.from_rows(["A", "B"], [["1", "2"], ["3", "4"]])
    interaction = interaction_from_table(table, "a-0", [Question("a-0_0", "?", cells)])
    alternative = interaction.questions[0].alternative_answers.add()
    for row, column in in_table:
        alternative.answer_coordinates.add(row_index=row, column_index=column)
    return interaction


@pytest.mark.parametrize(
    ("cells", "in_table", "expected"),
    [
        ([], [], "no_answer"),
        ([(0, 0)], [(0, 0)], "1_in_table"),
        ([(0, 0)], [], "1_in_text"),
        ([(0, 0), (1, 1)], [(0, 0), (1, 1)], "2+_in_table"),
        ([(0, 0), (1, 1)], [], "2+_in_text"),
        ([(0, 0), (1, 1)], [(1, 1)], "table_&_text"),
    ],
)
def test_answer_types(cells, in_table, expected):
    interaction = _interaction(cells, in_table)
    assert answer_type(interaction.questions[0]) == expected
    assert set(hybridqa.selection_metrics([interaction], {})) == {hybridqa.ALL, expected}


def test_metrics_by_hand():
    interactions = [_interaction([(0, 0), (1, 1)], []), _interaction([(0, 1)], [])]
    interactions[1].questions[0].id = "b-0_0"
    found = Prediction("a-0_0", ((0, 0), (0, 1), (1, 1)), ranked=((0, 1), (1, 0), (1, 1)))
    assert hybridqa.selection_metrics(interactions, {"a-0_0": found})[hybridqa.ALL] == {
        "recall": 0.5,
        "precision": pytest.approx(2 / 3),
        "non_empty": 0.5,
        "answer_len": 1.5,
        "coverage": 0.5,
        "recall_at_1": 0.0,
        "recall_at_3": 0.5,
        "recall_at_5": 0.5,
    }
    empty = hybridqa.selection_metrics(interactions, {"a-0_0": Prediction("a-0_0", ())})
    assert (empty[hybridqa.ALL]["precision"], empty[hybridqa.ALL]["recall"]) == (None, 0.0)
