"""Metrics of sequences against values computed by hand."""

import math

import pytest

from mate_tf.data.converters import sequences
from mate_tf.evaluation import sequence_metrics as metrics
from mate_tf.evaluation.predictions import Prediction


def asked(gold, field):
    return [
        sequences.interaction(str(index), ["x"], **{field: value})
        for index, value in enumerate(gold)
    ]


def predictions(values, field):
    ids = (f"{index}-0_0" for index in range(len(values)))
    return {
        name: Prediction(name, (), **{field: value})
        for name, value in zip(ids, values, strict=True)
        if value is not None
    }


def classified(gold, chosen, names=()):
    return metrics.classification_metrics(
        asked(gold, "class_index"), predictions(chosen, "class_index"), ("no", "yes"), names
    )


def test_f1_and_matthews_correlation():
    # 3 true positives, 1 false positive, 2 false negatives, 4 true negatives.
    gold, chosen = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    found = classified(gold, chosen, ("F1", "Matthews correlation"))
    assert found["accuracy"] == pytest.approx(0.7)
    assert found["F1"] == pytest.approx(2 * 3 / (2 * 3 + 1 + 2))
    assert found["Matthews correlation"] == pytest.approx(
        (3 * 4 - 1 * 2) / math.sqrt((3 + 1) * (3 + 2) * (4 + 1) * (4 + 2))
    )
    assert (found["questions"], found["unanswered"]) == (10, 0)
    assert found["yes"] == (pytest.approx(0.6), 5)
    assert "F1" not in classified(gold, chosen)


def test_a_question_without_prediction_is_wrong():
    found = classified([1, 1, 0, 0], [1, None, 0, None], ("F1", "Matthews correlation"))
    assert found["accuracy"] == 0.5
    assert found["F1"] == pytest.approx(2 / (2 + 1 + 1))
    assert found["Matthews correlation"] == 0
    assert found["unanswered"] == 2


def test_one_class_only():
    found = classified([0, 0], [0, 0], ("F1", "Matthews correlation"))
    assert (found["accuracy"], found["F1"], found["Matthews correlation"]) == (1, 0, 0)


def test_correlations():
    gold, values = [1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 10.0]
    found = metrics.regression_metrics(asked(gold, "value"), predictions(values, "value"))
    # Deviations -1.5 -0.5 0.5 1.5 and -3 -1 -2 6.
    pearson = (4.5 + 0.5 - 1 + 9) / math.sqrt(5 * 50)
    assert found["Pearson correlation"] == pytest.approx(pearson)
    # Two neighbouring ranks are exchanged: 1 - 6 * 2 / (4 * 15).
    assert found["Spearman correlation"] == pytest.approx(0.8)
    # Errors 0, 1, 1, 6.
    error = found["root of the mean squared error"]
    assert error == {"value": pytest.approx(math.sqrt(38 / 4)), "unit": ""}
    assert (found["questions"], found["unanswered"]) == (4, 0)


def test_numbers_that_do_not_correlate():
    found = metrics.regression_metrics(
        asked([1.0, 2.0, 3.0], "value"), predictions([2.0, 2.0, None], "value")
    )
    assert found["Pearson correlation"] == found["Spearman correlation"] == 0
    assert found["unanswered"] == 1
    found = metrics.regression_metrics(asked([1.0], "value"), {})
    assert found["root of the mean squared error"] is None


def test_without_gold_answers():
    unknown = [sequences.interaction(name, ["x"]) for name in "ab"]
    expected = {"questions without gold answer": 2}
    assert metrics.regression_metrics(unknown, {}) == expected
    assert metrics.classification_metrics(unknown, {}, ("no", "yes"), ("F1",)) == expected
