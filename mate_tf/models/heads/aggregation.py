"""Heads that predict the operation over the selected cells (TAPAS, Herzig et al., 2020).

Operations are NONE (the cells are the answer), SUM, AVERAGE and COUNT, in this order. They are
learned from labels, or from the resulting number only.
"""

import tensorflow as tf

from mate_tf.data import padding
from mate_tf.errors import InputError
from mate_tf.layers import step_seeds
from mate_tf.models.heads.base import PooledHead, has_labels

RATIO, FIRST_ORDER, SECOND_ORDER = "ratio", "first_order", "second_order"
AVERAGES = (RATIO, FIRST_ORDER, SECOND_ORDER)
NUM_OPERATIONS = 4

_EPSILON = 1e-10
# Products of larger numbers would overflow float32 in gradients and become NaN.
_LARGEST_NUMBER = 1e18


def aggregation_head(config):
    """Returns the aggregation head of a ClassifierConfig.

    Raises:
        InputError: if the options contradict each other.
    """
    if config.use_answer_as_supervision:
        return AnswerSupervisedAggregationHead(config)
    return AggregationHead(config)


class AggregationHead(PooledHead):
    """Predicts an operation. The loss is the cross entropy of the label.

    Raises:
        InputError: for fewer than two operations.
    """

    labels = ("aggregation_function_id",)

    def __init__(self, config, name="aggregation", **kwargs):
        super().__init__(config, config.num_aggregation_labels, "agg", name=name, **kwargs)

    def call(self, x, *, cells, features):
        """Returns logits_aggregation <float32>[batch, operations] and pred_aggr <int32>[batch]."""
        logits = self._logits(x)
        return {
            "logits_aggregation": logits,
            "pred_aggr": tf.argmax(logits, axis=1, output_type=tf.int32),
        }

    def loss(self, outputs, *, cells, features):
        """Computes the cross entropy times `aggregation_loss_importance`, <float32>[batch]."""
        per_example = self._config.aggregation_loss_importance * (
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.reshape(features["aggregation_function_id"], [-1]),
                logits=outputs["logits_aggregation"],
            )
        )
        return per_example, {"aggregation_loss_per_example": per_example}


class AnswerSupervisedAggregationHead(AggregationHead):
    """Predicts an operation, learned from the number that is the answer (weak supervision).

    An answer counts as computed if it is a number, except if a cell contains it and the model
    predicts NONE with a high probability (`cell_select_pref`). The loss of a computed answer is
    -log(1 - P(NONE)) plus the Huber loss of the expected result. The expected result is the mean
    over SUM, AVERAGE and COUNT, weighted by their probabilities, of the operation's expectation
    over cells that are selected independently with their probabilities. The loss of other answers
    is -log P(NONE); their cells are learned from label_ids (`heads.cell_selection`).

    The expectation of an average has no closed form. "ratio" divides the expected sum by the
    expected count. "first_order" and "second_order" are Taylor expansions of E[1 / count], given
    that a cell is selected, around the expected number of the other selected cells.

    Raises:
        InputError: if options of the config contradict each other.
    """

    labels = ("label_ids", "answer", "numeric_values", "numeric_values_scale")

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        if self.num_labels != NUM_OPERATIONS:
            raise InputError(
                f"num_aggregation_labels: {self.num_labels}; use_answer_as_supervision needs "
                f"{NUM_OPERATIONS}: NONE, SUM, AVERAGE and COUNT"
            )
        if config.average_approximation_function not in AVERAGES:
            raise InputError(
                f"average_approximation_function: {config.average_approximation_function!r} is "
                f"not one of {', '.join(AVERAGES)}"
            )
        if config.cell_cross_entropy:
            raise InputError(
                "cell_cross_entropy and use_answer_as_supervision exclude each other: the cells "
                "share one distribution, so the expected number of selected cells is always 1"
            )

    def loss(self, outputs, *, cells, features):
        """Computes the loss of the operation and of the result.

        Besides labels and ids it reads answer <float32>[batch, 1], NaN if it is not a number;
        numeric_values <float32>[batch, seq], NaN for cells without a number; numeric_values_scale
        <float32>[batch, seq], number of tokens of the cell.

        Returns:
            <float32>[batch], and a dict of <float32>[batch]:
            aggregate_mask: 1 if the answer counts as computed.
            expected_result: expected result of the operations.
            aggregation_loss_per_example, answer_loss_per_example_scaled: the two losses, times
                their importance.
            large_answer_loss_mask: 0 if the loss of the result is above `answer_loss_cutoff`.
                Such an example adds neither loss.
        """
        config, logits = self._config, outputs["logits_aggregation"]
        answer = tf.reshape(tf.cast(features["answer"], tf.float32), [-1])
        mask = self._aggregate_mask(logits, answer, features)
        operation_loss = config.aggregation_loss_importance * tf.where(
            mask > 0,
            _minus_log_share(logits[:, 1:], logits),
            _minus_log_share(logits[:, :1], logits),
        )
        expected = self._expected_result(logits, outputs, features)
        error = _finite_or_zero(answer) - expected
        if config.use_normalized_answer_loss:
            larger = tf.maximum(tf.abs(_finite_or_zero(answer)), tf.abs(expected))
            error /= tf.stop_gradient(larger + _EPSILON)
        answer_loss = _huber(error * mask, config.huber_loss_delta)
        if config.answer_loss_cutoff is None:
            kept = tf.ones_like(answer_loss)
        else:
            kept = tf.cast(answer_loss <= config.answer_loss_cutoff, tf.float32)
        answer_loss *= config.answer_loss_importance
        return (operation_loss + answer_loss) * kept, {
            "aggregate_mask": mask,
            "expected_result": expected,
            "aggregation_loss_per_example": operation_loss,
            "answer_loss_per_example_scaled": answer_loss,
            "large_answer_loss_mask": kept,
        }

    def _aggregate_mask(self, logits, answer, features):
        is_number = tf.math.is_finite(answer)
        any_operation = tf.reduce_sum(tf.nn.softmax(logits)[:, 1:], axis=1)
        in_cells = has_labels(features) > 0
        selects = in_cells & (any_operation <= self._config.cell_select_pref)
        return tf.cast(is_number & ~selects, tf.float32)

    def _expected_result(self, logits, outputs, features):
        config = self._config
        results = expected_results(
            self._chosen(outputs, features),
            features["numeric_values"],
            config.average_approximation_function,
        )
        operations = logits[:, 1:]
        if config.use_gumbel_for_agg:
            operations -= tf.math.log(-tf.math.log(_uniform(operations)))
        weights = tf.nn.softmax(operations / config.agg_temperature)
        return tf.reduce_sum(results * weights, axis=1)

    def _chosen(self, outputs, features):
        """Returns P(token) divided by the tokens of its cell, <float32>[batch, seq]; P(cell) is the
        sum.
        """
        probs = outputs["probs"]
        if self._config.use_gumbel_for_cells:
            # The head has already divided the logits by the temperature.
            uniform = _uniform(probs)
            noise = tf.math.log(uniform) - tf.math.log1p(-uniform)
            probs = tf.sigmoid(outputs["logits"] + noise / self._config.temperature)
        in_table = (features["row_ids"] > 0) & padding.real_tokens(features["input_mask"])
        scale = tf.cast(features["numeric_values_scale"], tf.float32)
        return tf.math.divide_no_nan(probs, scale) * tf.cast(in_table, tf.float32)


def expected_results(probs, numbers, average=RATIO):
    """Computes the expected sum, average and count over independently selected items.

    Args:
        probs: <float32>[batch, items], probabilities of selection.
        numbers: <float32>[batch, items]. Numbers that are not finite count as 0.
        average: one of AVERAGES.

    Returns:
        <float32>[batch, 3].
    """
    numbers = _finite_or_zero(numbers)
    count = tf.reduce_sum(probs, axis=1)
    total = tf.reduce_sum(probs * numbers, axis=1)
    if average == RATIO:
        return tf.stack([total, total / (count + _EPSILON), count], axis=1)
    # Expected count given that the item is selected: 1 plus the expected number of others.
    count_if_chosen = 1.0 + count[:, tf.newaxis] - probs
    inverse = 1.0 / count_if_chosen
    if average == SECOND_ORDER:
        variance = probs * (1.0 - probs)
        variance_of_others = tf.reduce_sum(variance, axis=1, keepdims=True) - variance
        inverse *= 1.0 + variance_of_others * tf.square(inverse)
    mean = tf.reduce_sum(probs * numbers * inverse, axis=1)
    return tf.stack([total, mean, count], axis=1)


def _minus_log_share(part, logits):
    """Returns -log P of the classes `part` among all, from logits: <float32>[batch]."""
    return tf.reduce_logsumexp(logits, axis=1) - tf.reduce_logsumexp(part, axis=1)


def _huber(error, delta):
    quadratic = tf.minimum(tf.abs(error), delta)
    return 0.5 * tf.square(quadratic) + delta * (tf.abs(error) - quadratic)


def _finite_or_zero(numbers):
    numbers = tf.cast(numbers, tf.float32)
    numbers = tf.where(tf.math.is_finite(numbers), numbers, 0.0)
    return tf.clip_by_value(numbers, -_LARGEST_NUMBER, _LARGEST_NUMBER)


def _uniform(like):
    """Returns uniform random numbers in the open interval from 0 to 1, with the shape of `like`."""
    return tf.random.stateless_uniform(tf.shape(like), step_seeds.draw(), minval=1e-7)
