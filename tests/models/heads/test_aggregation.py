"""Operations: expectations against enumeration, and each term of the loss by hand."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.heads import aggregation

PROBS = np.array([0.9, 0.5, 0.2, 0.7], np.float32)
NUMBERS = np.array([10.0, 20.0, -5.0, 1.0], np.float32)


def enumerated(probs, numbers):
    """Exact expectations of sum, average and count over all 2^n choices; of none, average 0."""
    results = np.zeros(3)
    for chosen in itertools.product((0, 1), repeat=len(probs)):
        chosen = np.array(chosen)
        weight = np.prod(np.where(chosen, probs, 1 - probs))
        total, count = (chosen * numbers).sum(), chosen.sum()
        results += weight * np.array([total, total / max(count, 1), count])
    return results


def expected(average, probs=PROBS, numbers=NUMBERS):
    return aggregation.expected_results(probs[np.newaxis], numbers[np.newaxis], average)[0].numpy()


def test_expectations():
    """Sum and count are exact; averages come closer the higher the order."""
    exact = enumerated(PROBS.astype(np.float64), NUMBERS)
    errors = []
    for average in ("first_order", "second_order"):
        result = expected(average)
        np.testing.assert_allclose(result[[0, 2]], exact[[0, 2]], rtol=1e-5)
        errors.append(abs(result[1] - exact[1]))
    assert errors[1] < errors[0]
    assert errors[1] < 0.05 * abs(exact[1])
    result = expected("ratio")
    np.testing.assert_allclose(result, [exact[0], exact[0] / exact[2], exact[2]], rtol=1e-5)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.booleans(), st.integers(-1000, 1000)), min_size=1, max_size=8))
def test_all_averages_are_exact_for_certain_cells(cells):
    chosen, numbers = np.transpose(cells).astype(np.float32)
    for average in aggregation.AVERAGES:
        want = enumerated(chosen, numbers)
        np.testing.assert_allclose(expected(average, chosen, numbers), want, rtol=1e-5, atol=1e-4)


def test_numbers_that_are_none():
    numbers = np.array([np.nan, 20.0, np.inf, 1.0], np.float32)
    for average in aggregation.AVERAGES:
        without = expected(average, numbers=np.array([0.0, 20.0, 0.0, 1.0], np.float32))
        np.testing.assert_array_equal(expected(average, numbers=numbers), without)


LOGITS = np.log(np.array([[0.4, 0.3, 0.2, 0.1]], np.float32))
WEAK = {"num_aggregation_labels": 4, "use_answer_as_supervision": True}
# expected: a sum of 3 * .5 + 4 * .25 = 2.5 in cells, half as much per token of two
SUM, COUNT = 2.5, 0.75
RESULT = (3 * SUM + 2 * SUM / COUNT + 1 * COUNT) / 6


def run(answer, labels=(0, 0, 0, 0, 0), **options):
    """A question token; a header; a cell of one token with 3; a cell of two with 4."""
    config = ClassifierConfig(**{**WEAK, **options})
    head = aggregation.aggregation_head(config)
    probs = np.array([[0.9, 0.9, 0.5, 0.25, 0.25]], np.float32)
    outputs = {
        "logits_aggregation": tf.constant(LOGITS),
        "probs": tf.constant(probs),
        "logits": tf.constant(np.log(probs / (1 - probs))),
    }
    features = {
        "row_ids": tf.constant([[0, 0, 1, 1, 1]]),
        "input_mask": tf.ones([1, 5], tf.int32),
        "label_ids": tf.constant([labels]),
        "numeric_values": tf.constant([[7.0, 7.0, 3.0, 4.0, 4.0]]),
        "numeric_values_scale": tf.constant([[1.0, 1.0, 1.0, 2.0, 2.0]]),
        "answer": tf.constant([[answer]], tf.float32),
        "aggregation_function_id": tf.constant([[2]]),
    }
    loss, parts = head.loss(outputs, cells=None, features=features)
    return float(loss[0]), {name: float(value[0]) for name, value in parts.items()}


def test_a_computed_answer():
    loss, parts = run(4.0)
    assert parts["aggregate_mask"] == 1
    assert parts["expected_result"] == pytest.approx(RESULT, rel=1e-5)
    assert parts["aggregation_loss_per_example"] == pytest.approx(-np.log(0.6), rel=1e-5)
    squared = 0.5 * (4 - RESULT) ** 2
    assert parts["answer_loss_per_example_scaled"] == pytest.approx(squared, rel=1e-5)
    assert loss == pytest.approx(squared - np.log(0.6), rel=1e-5)


def test_huber_and_normalized_loss():
    _, parts = run(100.0, huber_loss_delta=2.0, answer_loss_importance=0.5)
    want = 0.5 * (0.5 * 4 + 2 * (100 - RESULT - 2))
    assert parts["answer_loss_per_example_scaled"] == pytest.approx(want, rel=1e-5)
    _, parts = run(100.0, use_normalized_answer_loss=True)
    want = 0.5 * (1 - RESULT / 100) ** 2
    assert parts["answer_loss_per_example_scaled"] == pytest.approx(want, rel=1e-5)


def test_cutoff_takes_both_losses():
    """It compares the loss before it is scaled."""
    loss, parts = run(100.0, answer_loss_cutoff=100.0, answer_loss_importance=1e-3)
    assert parts["large_answer_loss_mask"] == 0
    assert loss == 0
    loss, parts = run(4.0, answer_loss_cutoff=100.0, answer_loss_importance=1e3)
    assert parts["large_answer_loss_mask"] == 1
    assert loss > 0


@pytest.mark.parametrize("answer", [np.nan, np.inf])
def test_an_answer_that_is_no_number(answer):
    loss, parts = run(answer, aggregation_loss_importance=2.0)
    assert parts["aggregate_mask"] == 0
    assert parts["answer_loss_per_example_scaled"] == 0
    assert loss == pytest.approx(-2 * np.log(0.4), rel=1e-5)


def test_a_number_that_stands_in_a_cell():
    """Computed only if some operation is probable enough: here .6."""
    labels = (0, 0, 1, 0, 0)
    assert run(3.0, labels, cell_select_pref=0.59)[1]["aggregate_mask"] == 1
    assert run(3.0, labels, cell_select_pref=0.61)[1]["aggregate_mask"] == 0
    assert run(3.0, cell_select_pref=0.61)[1]["aggregate_mask"] == 1


def test_operations_by_temperature():
    """At a low one only the most probable operation is expected: the sum."""
    assert run(4.0, agg_temperature=0.01)[1]["expected_result"] == pytest.approx(SUM, rel=1e-4)


def test_operations_from_labels():
    loss, parts = run(np.nan, use_answer_as_supervision=False, aggregation_loss_importance=3.0)
    assert loss == pytest.approx(-3 * np.log(0.2), rel=1e-5)
    assert parts.keys() == {"aggregation_loss_per_example"}


@pytest.mark.parametrize(
    ("options", "possible"),
    [
        # Each operation is certain in turn.
        ({"use_gumbel_for_agg": True, "agg_temperature": 1e-3}, [SUM, SUM / COUNT, COUNT]),
        # Each of three tokens is chosen or not, two of them count half.
        (
            {"use_gumbel_for_cells": True, "temperature": 1e-3, "agg_temperature": 1e-3},
            [0, 2, 3, 4, 5, 7],
        ),
    ],
)
def test_gumbel_noise_chooses(options, possible):
    """With a temperature near 0 what is drawn is one of the possible results."""
    tf.random.set_seed(0)
    results = {round(run(4.0, **options)[1]["expected_result"], 2) for _ in range(10)}
    assert len(results) > 1
    for result in results:
        assert min(abs(result - want) for want in possible) < 0.02
