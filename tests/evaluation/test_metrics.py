"""Accuracy by question, sequence, position and group."""

import pytest

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.evaluation import metrics
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table


def _interaction(name, answers, rows=3):
    table = Table.from_rows(["A", "B"], [[str(row), "x"] for row in range(rows)])
    questions = [Question(f"{name}_{i}", "what?", cells) for i, cells in enumerate(answers)]
    return interaction_from_table(table, name, questions)


@pytest.fixture
def interactions():
    return [
        _interaction("a-0", [[(0, 0)], [(0, 0), (1, 0)], [(2, 1)], [(2, 0)]]),
        _interaction("b-0", [[(1, 1)], [(0, 1)]], rows=7),
    ]


CELLS = {
    "a-0_0": [(0, 0), (0, 0)],  # right: sets
    "a-0_1": [(1, 0), (0, 0)],  # right: any order
    "a-0_2": [(2, 1), (2, 0)],  # one too many
    "b-0_0": [(1, 1)],
    "b-0_1": [(0, 1)],
    "c-0_0": [(0, 0)],  # no such question
}
PREDICTED = {name: Prediction(name, tuple(cells)) for name, cells in CELLS.items()}


def test_sqa_metrics(interactions):
    assert metrics.sqa_metrics(interactions, PREDICTED) == {
        "ALL": pytest.approx(4 / 6),
        "SEQ": pytest.approx(1 / 2),
        "POS1": 1.0,
        "POS2": 1.0,
        "POS3": 0.0,
        "questions": 6,
        "unanswered": 1,
    }


def test_a_question_without_prediction_is_wrong_even_if_it_has_no_answer():
    interactions = [_interaction("a-0", [[]])]
    assert metrics.sqa_metrics(interactions, {})["ALL"] == 0.0
    assert metrics.sqa_metrics(interactions, {"a-0_0": Prediction("a-0_0", ())})["ALL"] == 1.0
    assert metrics.sqa_metrics([], {})["ALL"] == 0.0


def test_breakdown(interactions):
    graded = metrics.grade(interactions, PREDICTED)
    assert metrics.breakdown(graded, metrics.table_size) == {5: (0.5, 4), 10: (1.0, 2)}
    assert metrics.breakdown(graded, lambda item: item.position)[3] == (0.0, 1)
    assert metrics.accuracy(graded) == pytest.approx(4 / 6)


@pytest.mark.parametrize(("rows", "size"), [(5, 5), (6, 10), (200, 200), (201, 201)])
def test_table_sizes(rows, size):
    (item,) = metrics.grade([_interaction("a-0", [[]], rows)], {})
    assert metrics.table_size(item) == size


def test_denotation_accuracy(reference):
    interactions, predicted, recorded = reference
    found = metrics.denotation_metrics(interactions, predicted)
    assert found == {
        "denotation accuracy": 0.5,
        "as the reference": recorded["overall"]["denotation_accuracy"],
        "answered by NONE": (pytest.approx(12 / 27), 27),
        "answered by SUM": (0.75, 8),
        "answered by AVERAGE": (pytest.approx(7 / 12), 12),
        "answered by COUNT": (pytest.approx(2 / 7), 7),
        "questions": 54,
        "unanswered": 0,
    }


def test_no_answer_is_no_right_answer(reference):
    interactions, predicted, _ = reference
    found = metrics.denotation_metrics(interactions, {"ex-5-0_0": predicted["ex-5-0_0"]})
    assert found == {
        "denotation accuracy": pytest.approx(1 / 54),
        "as the reference": pytest.approx(1 / 54),
        "answered by NONE": (1.0, 1),
        "questions": 54,
        "unanswered": 53,
    }


def test_classes(reference):
    interactions, predicted, recorded = reference
    assert metrics.classification_metrics(interactions, predicted, ["refuted", "entailed"]) == {
        "accuracy": recorded["overall"]["classification_accuracy"],
        "95 % from": pytest.approx(0.1038, abs=1e-4),
        "95 % to": pytest.approx(0.3084, abs=1e-4),
        "refuted": (pytest.approx(5 / 11), 11),
        "entailed": (pytest.approx(5 / 13), 13),
        "questions": 54,
        "unanswered": 0,
    }
    nothing = metrics.classification_metrics(interactions, {})
    assert (nothing["accuracy"], nothing["unanswered"]) == (0.0, 54)


@pytest.mark.parametrize(
    ("right", "total", "low", "high"),
    [(0, 0, 0.0, 1.0), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962)],
)
def test_confidence_interval(right, total, low, high):
    assert metrics.confidence_interval(right, total) == pytest.approx((low, high), abs=1e-4)


def test_comparison_is_aligned():
    text = metrics.comparison(
        {"random cell": {"ALL": 0.009, "questions": 6}, "model": {"ALL": (0.5, 12), "SEQ": 1.0}},
        title="metric",
    )
    # A `Quantity` is not a share.
    quantity = metrics.Quantity(value=1.25, unit="words")
    assert "1.25 words" in metrics.comparison({"model": {"length": quantity}})
    assert text.split("\n") == [
        "metric     random cell         model",
        "ALL              0.9 %  50.0 % of 12",
        "questions            6             -",
        "SEQ                  -       100.0 %",
    ]
