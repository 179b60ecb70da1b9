"""Temperature, calibration error and threshold, on answers of which the truth is known."""

import dataclasses
import json

import numpy as np
import pytest

from mate_tf.errors import InputError
from mate_tf.evaluation import calibration
from mate_tf.evaluation.calibration import Calibration

COUNT = 4000


def answers(temperature, bias, seed=0):
    """Probabilities of a model that is too sure, and the answers that are right."""
    random = np.random.default_rng(seed)
    odds = random.normal(1.0, 3.0, COUNT)
    true = 1 / (1 + np.exp(-(odds / temperature + bias)))
    return 1 / (1 + np.exp(-odds)), random.random(COUNT) < true


@pytest.mark.parametrize(("temperature", "bias"), [(3.0, -1.0), (0.5, 0.7), (1.0, 0.0)])
def test_fit_finds_what_made_the_answers(temperature, bias):
    found = calibration.fit(*answers(temperature, bias))
    assert found.temperature == pytest.approx(temperature, rel=0.1)
    assert found.bias == pytest.approx(bias, abs=0.1)


def test_temperature_alone():
    """It has no bias, and is the best of all temperatures."""
    probabilities, right = answers(3.0, 0.0)
    found = calibration.fit(probabilities, right, bias=False)
    assert found.bias == 0.0
    assert found.temperature == pytest.approx(3.0, rel=0.1)

    def likelihood(temperature):
        confidence = Calibration(temperature=temperature).confidence(probabilities)
        return np.mean(np.log(np.where(right, confidence, 1 - confidence)))

    others = [likelihood(found.temperature * factor) for factor in (0.5, 0.9, 1.1, 2.0)]
    assert likelihood(found.temperature) > max(others)


def test_it_lowers_the_calibration_error_of_other_answers():
    fitted = calibration.fit(*answers(3.0, -1.0))
    probabilities, right = answers(3.0, -1.0, seed=1)
    before = calibration.expected_calibration_error(probabilities, right)
    after = calibration.expected_calibration_error(fitted.confidence(probabilities), right)
    assert before > 0.2
    assert after < 0.03


def test_words_that_question_and_table_share():
    """Their weight is found, and a weight below 0 is none."""
    random = np.random.default_rng(5)
    shared = random.random(COUNT)
    odds = random.normal(0.0, 2.0, COUNT)
    draws = random.random(COUNT)
    for weight, expected in ((3.0, 3.0), (-3.0, 0.0)):
        true = 1 / (1 + np.exp(-(odds / 2 + weight * shared - 1)))
        probabilities = 1 / (1 + np.exp(-odds))
        found = calibration.fit(probabilities, draws < true, shared)
        assert found.overlap == pytest.approx(expected, abs=0.4)
        assert found.temperature == pytest.approx(2.0, rel=0.2)
    assert calibration.fit(probabilities, draws < true).overlap == 0
    fitted = Calibration(overlap=2.0)
    assert fitted.confidence(0.5, [0.0, 0.5, 1.0]) == pytest.approx(
        [0.5, 1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-2))]
    )


def test_confidence_keeps_the_order_and_takes_0_and_1():
    for found in (calibration.fit(*answers(3.0, -1.0)), calibration.fit([0.9, 0.1], [False, True])):
        confidence = found.confidence([0.0, 1e-9, 0.2, 0.5, 0.99, 1.0])
        assert np.all(np.diff(confidence) >= 0)
        assert np.all((confidence > 0) & (confidence < 1))
    assert Calibration().confidence(0.25) == pytest.approx(0.25)


@pytest.mark.parametrize("right", [True, False])
def test_all_alike(right):
    """The fit is finite, on the right side, and short of certain."""
    found = calibration.fit([0.6, 0.7, 0.9] * 5, [right] * 15)
    confidence = float(found.confidence(0.7))
    assert 0.001 < confidence < 0.999
    assert (confidence > 0.8) == right


def test_expected_calibration_error_by_hand():
    """Two bins: 0.9 against 1/2, twice; 0.1 against 0, once."""
    value = calibration.expected_calibration_error([0.9, 0.9, 0.1], [True, False, False], 2)
    assert value == pytest.approx((2 * 0.4 + 0.1) / 3)
    bins = calibration.reliability([0.9, 0.9, 0.1], [True, False, False], 2)
    assert [(each.accuracy, each.count) for each in bins] == [(0.0, 1), (0.5, 2)]
    assert calibration.reliability([1.0], [True])[0].count == 1
    assert calibration.expected_calibration_error([1.0, 0.0], [True, False]) == 0


def test_auroc_by_hand():
    """Of six pairs four are in order and one is equal."""
    assert calibration.auroc([0.9, 0.5, 0.2], [0.5, 0.1]) == pytest.approx(4.5 / 6)


def test_threshold_is_the_best_of_all():
    random = np.random.default_rng(3)
    answerable, unanswerable = random.normal(0.6, 0.2, 200), random.normal(0.4, 0.2, 200)

    def balanced(threshold):
        return np.mean(answerable >= threshold) + np.mean(unanswerable < threshold)

    chosen = calibration.choose_threshold(answerable, unanswerable)
    best = max(balanced(each) for each in np.linspace(-1, 2, 3001))
    assert balanced(chosen) >= best


def test_threshold_refuses_no_more_than_it_must():
    assert calibration.choose_threshold([0.8, 0.9], [0.1, 0.2]) == pytest.approx(0.5)
    # No better than chance: nothing is refused.
    assert calibration.choose_threshold([0.1, 0.2], [0.8, 0.9]) == 0
    assert calibration.choose_threshold([0.3, 0.3], [0.3]) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: calibration.fit([], []),
        lambda: calibration.fit([0.5], [True, False]),
        lambda: calibration.fit([0.5], [True], shared=[0.1, 0.2]),
        lambda: calibration.reliability([], []),
        lambda: calibration.auroc([0.5], []),
        lambda: calibration.choose_threshold([], [0.5]),
    ],
)
def test_what_cannot_be_computed(call):
    with pytest.raises(InputError):
        call()


VALUES = {"temperature": 2.5, "bias": -0.5, "overlap": 1.5, "threshold": 0.3, "weights": "ckpt-7"}


def test_file(tmp_path):
    path = tmp_path / calibration.FILE
    path.write_text(json.dumps(VALUES | {"measured": {"AUROC": 0.7}}))
    assert calibration.read(path) == Calibration(2.5, -0.5, 1.5, 0.3, "ckpt-7")
    of_table = {"table_temperature": 1.5, "table_bias": -2, "table_overlap": 4.0}
    path.write_text(json.dumps(VALUES | of_table))
    of_both = Calibration(2.5, -0.5, 1.5, 0.3, "ckpt-7", 1.5, -2, 4.0)
    assert calibration.read(path) == of_both
    words = {"earn": ["salary", "wage"]}
    path.write_text(json.dumps(VALUES | of_table | {"associations": words}))
    assert calibration.read(path) == dataclasses.replace(of_both, associations=words)
    path.write_text(json.dumps({"temperature": 1}))
    with pytest.raises(InputError, match=f"^{path}: has no 'bias'"):
        calibration.read(path)


def test_whether_a_table_has_an_answer():
    """The confidence itself, unless it has values of its own."""
    fitted = Calibration(temperature=2.0, bias=-1.0, overlap=1.5)
    assert fitted.has_answer(0.7, 0.5) == fitted.confidence(0.7, 0.5)
    other = fitted.with_table(Calibration(temperature=0.5, bias=0.3, overlap=4.0), 0.6)
    assert other.threshold == 0.6
    assert other.confidence(0.7, 0.5) == fitted.confidence(0.7, 0.5)
    odds = 2 * np.log(0.7 / 0.3) + 4 * 0.5 + 0.3
    assert other.has_answer(0.7, 0.5) == pytest.approx(1 / (1 + np.exp(-odds)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"temperature": 0}, "temperature 0 is not above 0"),
        ({"bias": "x"}, "must be numbers"),
        ({"overlap": []}, "must be numbers"),
        ({"threshold": float("nan")}, "NaN is not JSON"),
        ({"threshold": None}, "must be numbers"),
        ({"weights": 7}, "weights 7 is not a name of a checkpoint"),
        ({"table_bias": 1.0}, "must be numbers"),
        *(
            ({"associations": value}, "associations must be an object with a list of words")
            for value in (None, ["earn"], {"earn": "salary"}, {"earn": [7]})
        ),
        ({"table_temperature": -1, "table_bias": 1, "table_overlap": 1}, "-1 is not above 0"),
    ],
)
def test_file_with_other_values(tmp_path, change, words):
    path = tmp_path / calibration.FILE
    path.write_text(json.dumps(VALUES | change))
    with pytest.raises(InputError, match=f"^{path}: .*{words}"):
        calibration.read(path)


def test_imports_no_tensorflow(run_python):
    heavy = "{'tensorflow', 'scipy', 'sklearn'}"
    run_python(f"import sys, mate_tf.evaluation.calibration; assert not {heavy} & set(sys.modules)")
