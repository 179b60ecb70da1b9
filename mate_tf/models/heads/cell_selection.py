"""Heads that select cells: one class for each way of scoring a selection."""

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.models.heads.base import LOG_ZERO, Head, has_labels
from mate_tf.models.heads.spans import NO_SPANS

SOFT_EM, HARD_EM, UNIFORM = "soft_em", "hard_em", "uniform"
CELL_TARGETS = (SOFT_EM, HARD_EM, UNIFORM)


def cell_selection_head(config, **kwargs):
    """The head that a ClassifierConfig asks for.

    Raises:
        InputError: if the options contradict each other.
    """
    if config.cell_cross_entropy_target not in CELL_TARGETS:
        raise InputError(
            f"cell_cross_entropy_target: {config.cell_cross_entropy_target!r} is none of "
            f"{', '.join(CELL_TARGETS)}"
        )
    if config.cell_cross_entropy and config.select_one_column:
        raise InputError("cell_cross_entropy and select_one_column exclude each other")
    if config.cell_cross_entropy:
        return CellSoftmaxHead(config, **kwargs)
    if config.select_one_column:
        return ColumnAndCellHead(config, **kwargs)
    return TokenHead(config, **kwargs)


class _SelectionHead(Head):
    """Scores tokens by one linear layer and chooses cells by a threshold.

    Its loss leaves out examples that something else is learnt from: those whose answer is computed
    (`aggregate_mask`), or those without a labelled token if `mask_examples_without_labels`.

    Args:
        config: a ClassifierConfig.
    """

    def __init__(self, config, name="cell_selection", **kwargs):
        super().__init__(config, name=name, **kwargs)
        if config.span_prediction == NO_SPANS and not config.disable_per_token_loss:
            self.labels = ("label_ids",)

    def checkpoint_variables(self):
        return {name: getattr(self, name) for name in self._scorer_names()}

    def _scorer_names(self):
        return ["output_weights", "output_bias"]

    def build(self, input_shape):
        self.output_weights, self.output_bias = self._scorer("output", input_shape[-1])
        super().build(input_shape)

    def _scorer(self, name, hidden_size):
        zeros = self._config.init_cell_selection_weights_to_zero
        return self._linear(name, [hidden_size], zeros=zeros)

    def _token_logits(self, x):
        logits = tf.linalg.matvec(x, self.output_weights) + self.output_bias
        return logits / self._config.temperature

    def _bernoulli_outputs(self, token_logits, logits, cells, features):
        """Probabilities of independent tokens, and the cells whose mean passes the threshold."""
        probs = tf.sigmoid(logits) * tf.cast(features["input_mask"], tf.float32)
        means = cells.mean(probs)
        chosen = means > self._config.cell_classification_threshold
        if self._config.always_select_cell:
            data = means * cells.in_table
            best = tf.reduce_max(data, axis=[1, 2], keepdims=True)
            none = ~tf.reduce_any(chosen & (cells.in_table > 0), axis=[1, 2], keepdims=True)
            chosen |= none & (data == best) & (best > 0)
        return {
            "token_logits": token_logits,
            "logits": logits,
            "probs": probs,
            "selected_tokens": _tokens_of(chosen, cells, features),
        }

    def _counted(self, per_example, outputs, features):
        """The losses <float32>[batch] with 0 for examples that are left out."""
        if self._config.mask_examples_without_labels:
            return per_example * has_labels(features)
        if "aggregate_mask" in outputs:
            return per_example * (1.0 - outputs["aggregate_mask"])
        return per_example


class TokenHead(_SelectionHead):
    """Each token on its own: Bernoulli loss, averaged over the tokens that are not padding.

    With `average_logits_per_cell` all tokens of a cell share the mean of their logits.

    `positive_weight` multiplies the loss of every token by default. That is what the public
    reference computes (there, comparing the labels with zero compares object identity, and every
    token passes for positive). `positive_weight_for_labelled_only` gives the weight its meaning.
    """

    def call(self, x, *, cells, features):
        """Scores cells.

        Args:
            x: <float>[batch, seq, hidden], the encoder's sequence output.
            cells: `Cells` of the batch.
            features: the batch; reads input_mask.

        Returns:
            token_logits, logits and probs <float32>[batch, seq]; selected_tokens
            <int32>[batch, seq], 1 on the tokens of the chosen cells.
        """
        token_logits = self._token_logits(x)
        logits = token_logits
        if self._config.average_logits_per_cell:
            logits = cells.to_tokens(cells.mean(token_logits))
        return self._bernoulli_outputs(token_logits, logits, cells, features)

    def loss(self, outputs, *, cells, features):
        """Token loss; reads label_ids. See `Head`."""
        del cells
        labels = tf.cast(features["label_ids"], tf.float32)
        mask = tf.cast(features["input_mask"], tf.float32)
        weight = tf.fill(tf.shape(labels), float(self._config.positive_weight))
        if self._config.positive_weight_for_labelled_only:
            weight = tf.where(labels > 0, weight, 1.0)
        per_token = _bernoulli_loss(outputs["logits"], labels) * weight * mask
        per_example = tf.math.divide_no_nan(
            tf.reduce_sum(per_token, axis=1), tf.reduce_sum(mask, axis=1)
        )
        return self._counted(per_example, outputs, features), {
            "token_loss_per_example": per_example
        }


class ColumnAndCellHead(_SelectionHead):
    """First one column, then cells in it (`select_one_column`).

    A column's logit is the mean over its cells of a second linear layer. Column 0 stands for "no
    cell at all"; without `allow_empty_column_selection` it is never chosen. The loss is the cross
    entropy of the column with most labelled tokens plus the mean Bernoulli loss of the cells of
    that column.
    """

    def build(self, input_shape):
        super().build(input_shape)
        self.column_output_weights, self.column_output_bias = self._scorer(
            "column_output", input_shape[-1]
        )

    def _scorer_names(self):
        return [*super()._scorer_names(), "column_output_weights", "column_output_bias"]

    def call(self, x, *, cells, features):
        """Scores cells like `TokenHead.call`; also returns column_logits <float32>[batch, columns].

        `logits` are means per cell with -10000 added outside the predicted column.
        """
        column_logits = self._column_logits(x, cells)
        token_logits = self._token_logits(x)
        cell_logits = cells.mean(token_logits)
        chosen_column = tf.one_hot(tf.argmax(column_logits, axis=1), self._config.max_num_columns)
        # [batch, rows, columns]
        open_cells = cells.present * _without_column_0(chosen_column)[:, tf.newaxis, :]
        logits = cells.to_tokens(cell_logits + LOG_ZERO * (1.0 - open_cells))
        outputs = self._bernoulli_outputs(token_logits, logits, cells, features)
        return {**outputs, "column_logits": column_logits}

    def _column_logits(self, x, cells):
        token_scores = tf.linalg.matvec(x, self.column_output_weights) + self.column_output_bias
        logits = cells.column_mean(cells.mean(token_scores))  # [batch, columns]
        logits += LOG_ZERO * _without_column_0(1.0 - tf.cast(cells.column_present, tf.float32))
        if not self._config.allow_empty_column_selection:
            # Out of reach, and so without a score of its own that would enter the loss.
            never = tf.one_hot(0, self._config.max_num_columns)
            logits = _without_column_0(logits) + LOG_ZERO * never
        return logits

    def loss(self, outputs, *, cells, features):
        """Column loss plus cell loss; reads label_ids."""
        labels = tf.cast(features["label_ids"], tf.float32)
        tokens_per_column = tf.reduce_sum(cells.sum(labels), axis=1)  # [batch, columns]
        column = tf.argmax(tokens_per_column, axis=1)
        column_loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=column, logits=outputs["column_logits"]
        )
        in_column = tf.one_hot(column, self._config.max_num_columns)[:, tf.newaxis, :]
        weight = cells.present * in_column  # [batch, rows, columns]
        cell_loss = _bernoulli_loss(cells.mean(outputs["token_logits"]), cells.labelled(labels))
        cell_loss = tf.math.divide_no_nan(
            tf.reduce_sum(cell_loss * weight, axis=[1, 2]), tf.reduce_sum(weight, axis=[1, 2])
        )
        per_example = column_loss + cell_loss * has_labels(features)
        return self._counted(per_example, outputs, features), {
            "select_one_column_loss_per_example": per_example
        }


class CellSoftmaxHead(_SelectionHead):
    """A distribution over the data cells (MATE paper, section 4.1): `cell_cross_entropy`.

    S(c) is the mean of the token logits of cell c and P(c) its softmax over all cells below the
    header. The loss is -sum_c q(c) log P(c). What q is, `cell_cross_entropy_target` says:

        soft_em: P restricted to the gold cells, without gradient. Maximum marginal likelihood,
            as in the paper: of several candidates the model settles on the plausible ones.
        hard_em: all on the most probable gold cell.
        uniform: the same for each gold cell. Right where all of them belong to the answer.

    A cell is chosen if its probability is at least `cell_selection_ratio` times the largest.
    """

    def call(self, x, *, cells, features):
        """Scores cells; `probs` is P(c) and `logits` S(c) of the cell that the token is in."""
        token_logits = self._token_logits(x)
        scores = cells.mean(token_logits) + LOG_ZERO * (1.0 - cells.in_table)
        probs = tf.exp(_log_softmax(scores)) * cells.in_table  # [batch, rows, columns]
        best = tf.reduce_max(probs, axis=[1, 2], keepdims=True)
        chosen = probs >= self._config.cell_selection_ratio * best
        mask = tf.cast(features["input_mask"], tf.float32)
        return {
            "token_logits": token_logits,
            "logits": cells.to_tokens(scores),
            "probs": cells.to_tokens(probs) * mask,
            "selected_tokens": _tokens_of(chosen, cells, features),
        }

    def loss(self, outputs, *, cells, features):
        """Cell cross entropy; reads label_ids. An example without gold cells contributes 0."""
        config = self._config
        per_example = cell_cross_entropy(
            cells.mean(outputs["token_logits"]),
            cells.in_table,
            cells.labelled(features["label_ids"]) * cells.in_table,
            HARD_EM if config.cell_cross_entropy_hard_em else config.cell_cross_entropy_target,
        )
        return self._counted(per_example, outputs, features), {
            "cell_cross_entropy_per_example": per_example
        }


def cell_cross_entropy(scores, candidates, gold, target=SOFT_EM):
    """-sum_c q(c) log P(c) (see `CellSoftmaxHead`).

    Args:
        scores: <float32>[batch, rows, columns], S(c).
        candidates: <float32>[batch, rows, columns], 1 for the cells that share the distribution P.
        gold: <float32>[batch, rows, columns], 1 for gold cells, which must be candidates.
        target: one of CELL_TARGETS, what q is.

    Returns:
        <float32>[batch], 0 without gold cells.
    """
    log_probs = _log_softmax(scores + LOG_ZERO * (1.0 - candidates))
    q = tf.stop_gradient(_target(log_probs, gold, target))
    return -tf.reduce_sum(q * log_probs, axis=[1, 2])


def _target(log_probs, gold, target):
    """q: <float32>[batch, rows, columns], sums to 1, or to 0 where there is no gold cell."""
    if target == UNIFORM:
        return tf.math.divide_no_nan(gold, tf.reduce_sum(gold, axis=[1, 2], keepdims=True))
    gold_log_probs = log_probs + LOG_ZERO * (1.0 - gold)
    if target == HARD_EM:
        best = tf.one_hot(tf.argmax(_flat(gold_log_probs), axis=1), _flat(gold).shape[1])
        return tf.reshape(best, tf.shape(gold)) * gold
    return tf.exp(_log_softmax(gold_log_probs)) * gold


def _flat(values):
    """[batch, rows, columns] -> [batch, rows * columns]."""
    return tf.reshape(values, [-1, values.shape[1] * values.shape[2]])


def _log_softmax(scores):
    """Over all cells: [batch, rows, columns] -> the same shape."""
    return tf.reshape(tf.nn.log_softmax(_flat(scores)), tf.shape(scores))


def _bernoulli_loss(logits, labels):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _without_column_0(columns):
    """<float32>[batch, columns] with column 0 set to zero."""
    return tf.concat([tf.zeros_like(columns[:, :1]), columns[:, 1:]], axis=1)


def _tokens_of(chosen, cells, features):
    """<bool>[batch, rows, columns] -> <int32>[batch, seq]: the tokens of chosen data cells."""
    chosen = tf.cast(chosen, tf.float32) * cells.in_table
    return tf.cast(cells.to_tokens(chosen), tf.int32) * tf.cast(features["input_mask"], tf.int32)
