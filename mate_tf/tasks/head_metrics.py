"""Metrics of a classifier's heads during training and evaluation."""

import tensorflow as tf

from mate_tf.data import padding
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.heads.aggregation import expected_results
from mate_tf.models.heads.base import has_labels
from mate_tf.models.heads.classification import squared_error
from mate_tf.models.heads.reader import first_labelled
from mate_tf.models.heads.spans import NO_SPANS

LABEL = "label_ids"
CLASS = "classification_class_index"
AGGREGATION = "aggregation_function_id"
ANSWER = "answer"
ACCURACY = "answer_accuracy"
CLASS_ACCURACY = "class_accuracy"
AGGREGATION_ACCURACY = "aggregation_accuracy"
SPAN_ACCURACY = "span_accuracy"
SQUARED_ERROR = "squared_error"

NO_OPERATION = 0
"""Index of NONE among the operations."""

_ROUNDING = 1e-5
"""Relative error of a sum in float32."""


def names(model: ClassifierConfig) -> dict[str, str]:
    """Returns label -> name of the metric, for the heads that have a label in the examples."""
    result = {} if model.disable_per_token_loss else {LABEL: ACCURACY}
    if model.span_prediction != NO_SPANS:
        result[LABEL] = SPAN_ACCURACY
    if model.num_classification_labels == 1:
        result[ANSWER] = SQUARED_ERROR
    elif model.num_classification_labels:
        result[CLASS] = CLASS_ACCURACY
    if model.num_aggregation_labels and not model.use_answer_as_supervision:
        result[AGGREGATION] = AGGREGATION_ACCURACY
    return result


def weights(model: ClassifierConfig, name: str, labels, examples):
    """Returns the weights of a metric's values, <float32>[batch].

    Args:
        model: config of the model; see `ClassifierConfig.cells_or_class`.
        labels: features with labels; label_ids and input_mask may be read.
        examples: <bool>[batch], the example mask.
    """
    weights = tf.cast(examples, tf.float32)
    if not model.cells_or_class:
        return weights
    with_cells = has_labels(labels)
    return weights * (1.0 - with_cells if name == CLASS_ACCURACY else with_cells)


def _answer_right(labels, outputs):
    """Returns <bool>[batch], true if exactly the labelled tokens are selected.

    Where operations are learned from a number that is the answer, an operation over the selected
    cells is right if its result is this number. Without an operation the cells themselves count.
    """
    wrong = tf.not_equal(outputs["selected_tokens"], labels[LABEL])
    wrong &= padding.real_tokens(labels["input_mask"])
    right = ~tf.reduce_any(wrong, axis=1)
    if ANSWER not in labels or "pred_aggr" not in outputs:
        return right
    in_table = tf.cast(labels["row_ids"] > 0, tf.float32)
    shares = tf.cast(outputs["selected_tokens"], tf.float32) * in_table
    shares /= tf.cast(labels["numeric_values_scale"], tf.float32)  # tokens of the cell
    results = expected_results(shares, labels["numeric_values"])
    operation = outputs["pred_aggr"]
    result = tf.gather(results, tf.maximum(operation - 1, 0), axis=1, batch_dims=1)
    answer = tf.reshape(labels[ANSWER], [-1])
    computed = tf.abs(result - answer) <= _ROUNDING * tf.maximum(1.0, tf.abs(answer))
    return tf.where(operation == NO_OPERATION, right, computed)


def _span_right(labels, outputs):
    """Returns <bool>[batch], true if the predicted span is the gold span or both are empty."""
    gold = first_labelled(labels[LABEL])
    right = tf.reduce_all(outputs["pred_span"] == gold, axis=1)
    if "empty_span_log_prob" not in outputs:
        return right
    # The label of an empty answer is the first token.
    empty = outputs["empty_span_log_prob"] > outputs["span_log_prob"]
    return tf.where(empty, tf.reduce_all(gold == 0, axis=1), right)


VALUES = {
    ACCURACY: _answer_right,
    SPAN_ACCURACY: _span_right,
    CLASS_ACCURACY: lambda labels, outputs: _equal(outputs["pred_cls"], labels[CLASS]),
    AGGREGATION_ACCURACY: lambda labels, outputs: _equal(outputs["pred_aggr"], labels[AGGREGATION]),
    SQUARED_ERROR: lambda labels, outputs: squared_error(outputs["logits_cls"], labels[ANSWER]),
}
"""Name of a metric -> function of labels and outputs that returns its values, [batch]."""


def _equal(predicted, label):
    return tf.equal(predicted, tf.reshape(label, [-1]))
