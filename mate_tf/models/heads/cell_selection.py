"""Heads that select cells, one class for each loss."""

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.models.heads.base import LOG_ZERO, Head, has_labels
from mate_tf.models.heads.spans import NO_SPANS

SOFT_EM, HARD_EM, UNIFORM = "soft_em", "hard_em", "uniform"
CELL_TARGETS = (SOFT_EM, HARD_EM, UNIFORM)


def cell_selection_head(config, **kwargs):
    """Returns the cell selection head of a ClassifierConfig.

    Raises:
        InputError: if the options contradict each other.
    """
    if config.cell_cross_entropy_target not in CELL_TARGETS:
        raise InputError(
            f"cell_cross_entropy_target: {config.cell_cross_entropy_target!r} is not one of "
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
    """Scores tokens by a linear layer and selects cells by a threshold.

    The loss is 0 for examples with a computed answer (`aggregate_mask`) and, with
    `mask_examples_without_labels`, for examples without a labelled token.
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
        """Creates the scorer of tokens for inputs of `input_shape`, [batch, seq, hidden]."""
        self.output_weights, self.output_bias = self._scorer("output", input_shape[-1])
        super().build(input_shape)

    def _scorer(self, name, hidden_size):
        zeros = self._config.init_cell_selection_weights_to_zero
        return self._linear(name, [hidden_size], zeros=zeros)

    def _token_logits(self, x):
        # [batch, seq, hidden], [hidden] -> [batch, seq]
        logits = tf.linalg.matvec(x, self.output_weights) + self.output_bias
        return logits / self._config.temperature

    def _bernoulli_outputs(self, token_logits, logits, cells, features):
        """Returns outputs with independent probabilities of tokens.

        A cell is selected if the mean probability of its tokens is above the threshold.
        """
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
        """Returns the losses <float32>[batch], with 0 for examples that do not count."""
        if self._config.mask_examples_without_labels:
            return per_example * has_labels(features)
        if "aggregate_mask" in outputs:
            return per_example * (1.0 - outputs["aggregate_mask"])
        return per_example


class TokenHead(_SelectionHead):
    """Scores tokens independently. The loss is the mean Bernoulli loss of all real tokens.

    With `average_logits_per_cell` all tokens of a cell have the mean of their logits.

    By default `positive_weight` multiplies the loss of every token. The public reference does so
    because it compares labels with zero by object identity, so that every token counts as positive.
    With `positive_weight_for_labelled_only` it multiplies the loss of labelled tokens only.
    """

    def call(self, x, *, cells, features):
        """Scores cells.

        Returns:
            dict with token_logits, logits and probs <float32>[batch, seq]; selected_tokens
            <int32>[batch, seq], 1 for the tokens of the selected cells.
        """
        token_logits = self._token_logits(x)
        logits = token_logits
        if self._config.average_logits_per_cell:
            logits = cells.to_tokens(cells.mean(token_logits))
        return self._bernoulli_outputs(token_logits, logits, cells, features)

    def loss(self, outputs, *, cells, features):
        """Computes the token loss, <float32>[batch]."""
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
    """Selects a column, then cells in it (`select_one_column`).

    A column's logit is the mean over its cells of a second linear layer. Column 0 means that no
    cell is selected; without `allow_empty_column_selection` -10000 is added to its logit, so that
    it is never predicted. The loss is the cross entropy of the column with the most labelled tokens
    plus the mean Bernoulli loss of the cells of that column. The column of an example without
    labels is 0, so that its loss is about 10000 then, as in the reference.
    """

    def build(self, input_shape):
        super().build(input_shape)
        self.column_output_weights, self.column_output_bias = self._scorer(
            "column_output", input_shape[-1]
        )

    def _scorer_names(self):
        return [*super()._scorer_names(), "column_output_weights", "column_output_bias"]

    def call(self, x, *, cells, features):
        """Scores columns and cells.

        Returns:
            dict with the outputs of `TokenHead.call` and column_logits <float32>[batch, columns].
            `logits` are the means per cell, with -10000 added outside the predicted column.
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
        # [batch, seq, hidden], [hidden] -> [batch, seq]
        token_scores = tf.linalg.matvec(x, self.column_output_weights) + self.column_output_bias
        # [batch, seq] -> [batch, columns]
        logits = cells.column_mean(cells.mean(token_scores))
        logits += LOG_ZERO * _without_column_0(1.0 - tf.cast(cells.column_present, tf.float32))
        if not self._config.allow_empty_column_selection:
            logits += LOG_ZERO * tf.one_hot(0, self._config.max_num_columns)
        return logits

    def loss(self, outputs, *, cells, features):
        """Computes the column loss plus the cell loss, <float32>[batch]."""
        labels = tf.cast(features["label_ids"], tf.float32)
        # [batch, rows, columns] -> [batch, columns]
        tokens_per_column = tf.reduce_sum(cells.sum(labels), axis=1)
        column = tf.argmax(tokens_per_column, axis=1)
        column_loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=column, logits=outputs["column_logits"]
        )
        in_column = tf.one_hot(column, self._config.max_num_columns)[:, tf.newaxis, :]
        # [batch, rows, columns]
        weight = cells.present * in_column
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

    S(c) is the mean of the token logits of cell c. P(c) is its softmax over all cells below the
    header. The loss is -sum_c q(c) log P(c). `cell_cross_entropy_target` defines q:

        soft_em: P restricted to the gold cells, without gradient. This is maximum marginal
            likelihood, as in the paper, for gold cells that are candidates.
        hard_em: 1 for the most probable gold cell.
        uniform: equal for all gold cells. For data in which all gold cells belong to the answer.

    A cell is selected if its probability is at least `cell_selection_ratio` times the largest.

    With `allow_empty_column_selection` "no cell" is one more member of the distribution, with the
    logit of the first token ([CLS]) as its score. It is the target of examples without gold cells,
    and no cell is selected where its probability is above 1/2, unless `always_select_cell`.
    """

    def call(self, x, *, cells, features):
        """Returns the outputs of `TokenHead.call`, with P(c) as `probs` and S(c) as `logits`."""
        token_logits = self._token_logits(x)
        scores = cells.mean(token_logits) + LOG_ZERO * (1.0 - cells.in_table)
        log_probs, log_none = _log_softmax(scores, self._none(token_logits))
        # [batch, rows, columns]
        probs = tf.exp(log_probs) * cells.in_table
        best = tf.reduce_max(probs, axis=[1, 2], keepdims=True)
        chosen = probs >= self._config.cell_selection_ratio * best
        if log_none is not None and not self._config.always_select_cell:
            chosen &= (tf.exp(log_none) <= 0.5)[:, tf.newaxis, tf.newaxis]
        mask = tf.cast(features["input_mask"], tf.float32)
        return {
            "token_logits": token_logits,
            "logits": cells.to_tokens(scores),
            "probs": cells.to_tokens(probs) * mask,
            "selected_tokens": _tokens_of(chosen, cells, features),
        }

    def loss(self, outputs, *, cells, features):
        """Computes the cell cross entropy; for examples without gold cells see above, else 0."""
        config = self._config
        per_example = cell_cross_entropy(
            cells.mean(outputs["token_logits"]),
            cells.in_table,
            cells.labelled(features["label_ids"]) * cells.in_table,
            HARD_EM if config.cell_cross_entropy_hard_em else config.cell_cross_entropy_target,
            none=self._none(outputs["token_logits"]),
        )
        return self._counted(per_example, outputs, features), {
            "cell_cross_entropy_per_example": per_example
        }

    def _none(self, token_logits):
        # [batch, seq] -> [batch]
        return token_logits[:, 0] if self._config.allow_empty_column_selection else None


def cell_cross_entropy(scores, candidates, gold, target=SOFT_EM, none=None):
    """Computes -sum_c q(c) log P(c) (see `CellSoftmaxHead`).

    Args:
        scores: <float32>[batch, rows, columns], S(c).
        candidates: <float32>[batch, rows, columns], 1 for the cells of the distribution P.
        gold: <float32>[batch, rows, columns], 1 for gold cells, which must be candidates.
        target: definition of q, one of CELL_TARGETS.
        none: <float32>[batch], score of "no cell", or None if P has no such member.

    Returns:
        <float32>[batch]; without gold cells -log P("no cell"), or 0 if `none` is None.
    """
    log_probs, log_none = _log_softmax(scores + LOG_ZERO * (1.0 - candidates), none)
    q = tf.stop_gradient(_target(log_probs, gold, target))
    loss = -tf.reduce_sum(q * log_probs, axis=[1, 2])
    if log_none is None:
        return loss
    return tf.where(tf.reduce_any(gold > 0, axis=[1, 2]), loss, -log_none)


def _target(log_probs, gold, target):
    """Returns q, <float32>[batch, rows, columns]. Its sum is 1, or 0 without gold cells."""
    if target == UNIFORM:
        return tf.math.divide_no_nan(gold, tf.reduce_sum(gold, axis=[1, 2], keepdims=True))
    gold_log_probs = log_probs + LOG_ZERO * (1.0 - gold)
    if target == HARD_EM:
        # [batch, rows * columns]
        best = tf.one_hot(tf.argmax(_flat(gold_log_probs), axis=1), _flat(gold).shape[1])
        # [batch, rows * columns] -> [batch, rows, columns]
        return tf.reshape(best, tf.shape(gold)) * gold
    return tf.exp(_log_softmax(gold_log_probs)[0]) * gold


def _flat(values):
    """Reshapes [batch, rows, columns] -> [batch, rows * columns]."""
    return tf.reshape(values, [-1, values.shape[1] * values.shape[2]])


def _log_softmax(scores, none=None):
    """Returns the log-softmax of scores [batch, rows, columns] and, if it is given, of none
    [batch].
    """
    if none is None:
        return tf.reshape(tf.nn.log_softmax(_flat(scores)), tf.shape(scores)), None
    together = tf.nn.log_softmax(tf.concat([_flat(scores), none[:, tf.newaxis]], axis=1))
    return tf.reshape(together[:, :-1], tf.shape(scores)), together[:, -1]


def _bernoulli_loss(logits, labels):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _without_column_0(columns):
    """Returns <float32>[batch, columns] with column 0 set to zero."""
    return tf.concat([tf.zeros_like(columns[:, :1]), columns[:, 1:]], axis=1)


def _tokens_of(chosen, cells, features):
    """Returns the tokens <int32>[batch, seq] of chosen data cells <bool>[batch, rows, columns]."""
    chosen = tf.cast(chosen, tf.float32) * cells.in_table
    return tf.cast(cells.to_tokens(chosen), tf.int32) * tf.cast(features["input_mask"], tf.int32)
