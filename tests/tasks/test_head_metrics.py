"""Which heads have a metric, and its value for each example."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.models.classifier import ClassifierConfig
from mate_tf.tasks import head_metrics


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, {"label_ids": "answer_accuracy"}),
        ({"span_prediction": "span"}, {"label_ids": "span_accuracy"}),
        (
            {"num_aggregation_labels": 4},
            {"label_ids": "answer_accuracy", "aggregation_function_id": "aggregation_accuracy"},
        ),
        (
            {"num_aggregation_labels": 4, "use_answer_as_supervision": True},
            {"label_ids": "answer_accuracy"},  # the operation has no label
        ),
        (
            {"num_classification_labels": 3, "disable_per_token_loss": True},
            {"classification_class_index": "class_accuracy"},
        ),
        (
            {"num_classification_labels": 1, "disable_per_token_loss": True},
            {"answer": "squared_error"},
        ),
    ],
)
def test_heads_with_labels_have_a_metric(options, names):
    assert head_metrics.names(ClassifierConfig(options)) == names
    assert set(names.values()) <= head_metrics.VALUES.keys()


def value(name, labels, outputs):
    found = head_metrics.VALUES[name](
        {key: tf.constant(each) for key, each in labels.items()},
        {key: tf.constant(each) for key, each in outputs.items()},
    )
    return found.numpy().tolist()


def test_all_cells_and_only_these_must_be_selected():
    labels = {
        "label_ids": [[0, 1, 0], [0, 1, 0], [0, 1, 0]],
        "input_mask": [[1, 1, 1], [1, 1, 1], [1, 1, 0]],
    }
    outputs = {"selected_tokens": [[0, 1, 0], [0, 1, 1], [0, 1, 1]]}  # the last one is padding
    assert value("answer_accuracy", labels, outputs) == [True, False, True]


def test_a_span_is_right_from_end_to_end():
    labels = {"label_ids": [[0, 0, 1, 1, 0]] * 3}
    outputs = {"pred_span": [[2, 3], [2, 2], [1, 3]]}
    assert value("span_accuracy", labels, outputs) == [True, False, False]
    labels = {"label_ids": [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]]}
    outputs = {
        "pred_span": [[1, 1], [1, 1], [1, 1], [1, 1]],
        "span_log_prob": [-2.0, -1.0, -2.0, -1.0],
        "empty_span_log_prob": [-1.0, -2.0, -1.0, -2.0],
    }
    assert value("span_accuracy", labels, outputs) == [True, False, False, True]


def test_classes_operations_and_numbers():
    labels = {"classification_class_index": [[2], [0]], "aggregation_function_id": [[1], [3]]}
    assert value("class_accuracy", labels, {"pred_cls": [2, 1]}) == [True, False]
    assert value("aggregation_accuracy", labels, {"pred_aggr": [0, 3]}) == [False, True]
    answers = {"answer": np.array([[3.0], [5.0]], np.float32)}
    outputs = {"logits_cls": np.array([[2.5], [5.0]], np.float32)}
    assert value("squared_error", answers, outputs) == [0.25, 0]


def test_weights_of_examples_with_either_cells_or_a_class():
    """The last example is padding."""
    labels = {
        "label_ids": tf.constant([[0, 1], [0, 0], [0, 1], [0, 0]]),
        "input_mask": tf.ones([4, 2], tf.int32),
    }
    examples = tf.constant([True, True, True, False])
    mixed = ClassifierConfig(num_classification_labels=2, cells_or_class=True)
    for model, name, want in (
        (ClassifierConfig(), "answer_accuracy", [1, 1, 1, 0]),
        (mixed, "answer_accuracy", [1, 0, 1, 0]),
        (mixed, "aggregation_accuracy", [1, 0, 1, 0]),
        (mixed, "class_accuracy", [0, 1, 0, 0]),
    ):
        found = head_metrics.weights(model, name, labels, examples)
        np.testing.assert_array_equal(found, want, err_msg=name)


def test_the_number_of_an_operation_is_an_answer():
    """Cells alone must be the labelled ones; with an operation over cells its result counts."""
    labels = {
        "label_ids": [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]],
        "input_mask": [[1, 1, 1, 1]] * 5,
        "row_ids": [[0, 1, 1, 2]] * 5,
        # The cell of the first row has two tokens.
        "numeric_values": [[float("nan"), 28.0, 28.0, 3.0]] * 5,
        "numeric_values_scale": [[1.0, 2.0, 2.0, 1.0]] * 5,
        "answer": [[31.0], [30.0], [float("nan")], [float("nan")], [2.0]],
    }
    outputs = {
        "selected_tokens": [[0, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 1, 0], [0, 1, 1, 1]],
        "pred_aggr": [1, 1, 0, 1, 3],
    }
    assert value("answer_accuracy", labels, outputs) == [True, False, True, False, True]
