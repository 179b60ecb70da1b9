"""Spans of tokens: their enumeration and scores, and the heads that select a span.

Spans of up to `max_length` tokens are sorted by length, then by start, as in the reference. The
values of first and last tokens, `values_at_starts` and `values_at_ends`, are slices of the
sequence, so a score that is a sum of both needs no gather.
"""

import tensorflow as tf

from mate_tf.layers.shapes import shape_list
from mate_tf.models.heads.base import LOG_ZERO, Head

NO_SPANS, SPAN, BOUNDARY, MLP = "none", "span", "boundary", "mlp"
"""Values of `span_prediction`; the head of MLP is in `reader`."""


def values_at_starts(values, max_length):
    """Gathers the values of the first token of each span.

    Args:
        values: [batch, seq, ...].
        max_length: tokens of the longest span.

    Returns:
        [batch, spans, ...]: first all spans of 1 token in the order of their starts, then all spans
        of 2 tokens, and so on. A sequence shorter than `max_length` has no longer spans.
    """
    return tf.concat(starts_by_length(values, max_length), axis=1)


def values_at_ends(values, max_length):
    """Returns the values of the last token of each span; see `values_at_starts`."""
    return tf.concat(ends_by_length(values, max_length), axis=1)


def starts_by_length(values, max_length):
    """Returns `values_at_starts` by length from 1: parts [batch, spans of a length, ...]."""
    # No span of `size` tokens starts in the last `size - 1` tokens.
    return [values[:, : (1 - size) or None] for size in range(1, max_length + 1)]


def ends_by_length(values, max_length):
    """Returns the parts of `values_at_ends`, as `starts_by_length` does."""
    return [values[:, size - 1 :] for size in range(1, max_length + 1)]


def indexes(length, max_length):
    """Returns the first and the last token of each span, <int32>[spans, 2].

    Args:
        length: tokens of the sequence, an int or <int32>[].
        max_length: tokens of the longest span.
    """
    positions = tf.range(length)[tf.newaxis]
    ends = [values_at_starts(positions, max_length)[0], values_at_ends(positions, max_length)[0]]
    return tf.stack(ends, axis=1)


def within_cells(row_ids, column_ids, max_length):
    """Returns <bool>[batch, spans], true for spans that begin and end in the same data cell.

    Args:
        row_ids: <int32>[batch, seq], 0 for the header and outside the table.
        column_ids: <int32>[batch, seq], 0 outside the table.
        max_length: tokens of the longest span.
    """
    within = True
    for ids in (row_ids, column_ids):
        first, last = values_at_starts(ids, max_length), values_at_ends(ids, max_length)
        within &= (first == last) & (first > 0)
    return within


def gold_boundaries(label_ids):
    """Finds the first and last tokens of runs of labelled tokens.

    Args:
        label_ids: <int32>[batch, seq], not 0 for labelled tokens.

    Returns:
        two of <float32>[batch, seq], 1 on the first and on the last token of each run.
    """
    labels = tf.pad(tf.cast(label_ids > 0, tf.float32), [[0, 0], [1, 1]])
    inside = labels[:, 1:-1]
    return inside * (1.0 - labels[:, :-2]), inside * (1.0 - labels[:, 2:])


class SpansHead(Head):
    """Base class of heads that select a span within a data cell. A subclass scores all spans.

    With `allow_empty_span` the first token, [CLS], represents the empty span.
    """

    labels = ("label_ids",)

    def __init__(self, config, name="spans", **kwargs):
        super().__init__(config, name=name, **kwargs)
        self._max_length = config.max_span_length
        self._allow_empty = config.allow_empty_span

    def _outputs(self, logits, features):
        """Returns the outputs of `SpanHead.call` for scores <float32>[batch, spans]."""
        in_cells = within_cells(features["row_ids"], features["column_ids"], self._max_length)
        every = indexes(shape_list(features["row_ids"])[1], self._max_length)
        logits = tf.where(self._candidates(in_cells), logits, LOG_ZERO)
        log_probs = tf.nn.log_softmax(logits)
        best = tf.argmax(tf.where(in_cells, logits, LOG_ZERO), axis=1)
        outputs = {
            "span_logits": logits,
            "span_indexes": every,
            "pred_span": tf.gather(every, best),
            "span_log_prob": tf.reduce_max(tf.where(in_cells, log_probs, LOG_ZERO), axis=1),
        }
        if self._allow_empty:
            outputs["empty_span_log_prob"] = log_probs[:, 0]
        return outputs

    def _candidates(self, in_cells):
        """Returns <bool>[batch, spans]: spans in cells and, if allowed, the empty span, index 0."""
        if not self._allow_empty:
            return in_cells
        return in_cells | (tf.range(shape_list(in_cells)[1]) == 0)[tf.newaxis]

    def _add_boundaries(self, starts, ends):
        """Adds scores of starts and ends, <float32>[batch, seq] both: [batch, spans]."""
        return values_at_starts(starts, self._max_length) + values_at_ends(ends, self._max_length)

    def _named(self, per_example):
        return per_example, {
            "span_loss_per_example": per_example,
            "span_loss": tf.reduce_mean(per_example),
        }


class SpanHead(SpansHead):
    """A distribution over all spans, scored by a linear layer over [start; end].

    A span is gold if it begins where a labelled run begins and ends where a labelled run ends. The
    losses of all gold spans of an example are added, as in the reference. If there are labelled
    runs in two cells, this includes the span from one cell into the other. An example without gold
    spans has loss 0 and counts in the mean.
    """

    def build(self, input_shape):
        """Creates the variables for inputs of `input_shape`, [batch, seq, hidden]."""
        self.span_output_weights, self.span_output_bias = self._linear(
            "span_output", [2 * input_shape[-1]]
        )
        super().build(input_shape)

    def checkpoint_variables(self):
        return {
            "loss/span_output_weights": self.span_output_weights,
            "loss/span_output_bias": self.span_output_bias,
        }

    def call(self, x, *, cells, features):
        """Scores spans.

        Returns:
            dict with
            span_logits: <float32>[batch, spans], -10000 for spans that are not within a cell.
            span_indexes: <int32>[spans, 2], first and last token of each span.
            pred_span: <int32>[batch, 2], first and last token of the best span, which is never the
                empty one.
            span_log_prob: <float32>[batch], log probability of the best span; -10000 if no span is
                within a cell.
            empty_span_log_prob: <float32>[batch], with `allow_empty_span` only.
        """
        # [2 * hidden] -> two of [hidden]
        of_start, of_end = tf.split(self.span_output_weights, 2)
        # [batch, seq, hidden], [hidden] -> [batch, seq]
        starts = tf.linalg.matvec(x, of_start) + self.span_output_bias
        logits = self._add_boundaries(starts, tf.linalg.matvec(x, of_end))
        return self._outputs(logits, features)

    def loss(self, outputs, *, cells, features):
        """Computes the summed cross entropy of the gold spans, <float32>[batch]."""
        starts, ends = gold_boundaries(features["label_ids"])
        gold = values_at_starts(starts, self._max_length) * values_at_ends(ends, self._max_length)
        return self._named(summed_cross_entropy(gold, outputs["span_logits"]))


class BoundaryHead(SpansHead):
    """Two distributions over all tokens, for the first and for the last token of a span.

    The score of a span is the sum of both logits. (The reference omits the start's.) The loss is
    the cross entropy of the first tokens of labelled runs plus that of the last tokens.
    """

    def build(self, input_shape):
        """Creates the variables for inputs of `input_shape`, [batch, seq, hidden]."""
        self.start_output_weights, self.start_output_bias = self._linear(
            "start_output", [input_shape[-1]]
        )
        self.end_output_weights, self.end_output_bias = self._linear(
            "end_output", [input_shape[-1]]
        )
        super().build(input_shape)

    def checkpoint_variables(self):
        names = ("start_output_weights", "start_output_bias")
        names += ("end_output_weights", "end_output_bias")
        return {f"loss/{name}": getattr(self, name) for name in names}

    def call(self, x, *, cells, features):
        """Returns those of `SpanHead.call`, with start_logits, end_logits <float32>[batch, seq]."""
        # [batch, seq, hidden], [hidden] -> [batch, seq]
        starts = tf.linalg.matvec(x, self.start_output_weights) + self.start_output_bias
        ends = tf.linalg.matvec(x, self.end_output_weights) + self.end_output_bias
        return {
            **self._outputs(self._add_boundaries(starts, ends), features),
            "start_logits": starts,
            "end_logits": ends,
        }

    def loss(self, outputs, *, cells, features):
        """Computes the cross entropy of the gold boundaries, <float32>[batch]."""
        starts, ends = gold_boundaries(features["label_ids"])
        return self._named(
            summed_cross_entropy(starts, outputs["start_logits"])
            + summed_cross_entropy(ends, outputs["end_logits"])
        )


def summed_cross_entropy(gold, logits):
    """Returns the sum of -log P over gold classes 1 of <float32>[batch, classes]: [batch]."""
    return -tf.reduce_sum(gold * tf.nn.log_softmax(logits), axis=1)
