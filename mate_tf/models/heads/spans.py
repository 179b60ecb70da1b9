"""Spans of tokens: their enumeration, scores, and the heads that choose one.

All spans of up to `max_length` tokens are ordered by length first and by start second, as in the
reference. A score that is made of a part for the first token and a part for the last one needs no
more memory than its result: `of_starts` and `of_ends` are slices of the sequence.
"""

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers.shapes import shape_list
from mate_tf.models.heads.base import LOG_ZERO, Head

NO_SPANS, SPAN, BOUNDARY, MLP = "none", "span", "boundary", "mlp"
"""Values of `span_prediction`; the head of MLP is in `reader`."""


def of_starts(values, max_length):
    """Gathers the values of the first token of each span.

    Args:
        values: [batch, seq, ...].
        max_length: tokens of the longest span.

    Returns:
        [batch, spans, ...], all spans of 1 token, then those of 2, ... in the order of their
        starts; of a sequence shorter than `max_length` those there are.
    """
    return tf.concat(starts_by_length(values, max_length), axis=1)


def of_ends(values, max_length):
    """Gathers the values of the last token of each span; see `of_starts`."""
    return tf.concat(ends_by_length(values, max_length), axis=1)


def starts_by_length(values, max_length):
    """The parts of `of_starts`, a slice of `values` for each length from 1 to `max_length`."""
    # The last `size - 1` tokens start no span of `size` tokens.
    return [values[:, : (1 - size) or None] for size in range(1, max_length + 1)]


def ends_by_length(values, max_length):
    """The parts of `of_ends`; see `starts_by_length`."""
    return [values[:, size - 1 :] for size in range(1, max_length + 1)]


def indexes(length, max_length):
    """First and last token of each span: <int32>[spans, 2].

    Args:
        length: tokens of the sequence, an int or <int32>[].
        max_length: tokens of the longest span.
    """
    positions = tf.range(length)[tf.newaxis]
    ends = [of_starts(positions, max_length)[0], of_ends(positions, max_length)[0]]
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
        first, last = of_starts(ids, max_length), of_ends(ids, max_length)
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
    """Chooses one of the spans that are part of a data cell. A subclass scores all of them.

    With `allow_empty_span` the first token, [CLS], is one more span, and stands for none of them.

    Args:
        config: a ClassifierConfig.

    Raises:
        InputError: spans have no length.
    """

    labels = ("label_ids",)

    def __init__(self, config, name="spans", **kwargs):
        super().__init__(config, name=name, **kwargs)
        self._max_length = config.max_span_length
        self._allow_empty = config.allow_empty_span
        if self._max_length < 1:
            raise InputError(f"max_span_length: {self._max_length} leaves no span")

    def _outputs(self, logits, features):
        """Makes the outputs of `SpanHead.call` from scores <float32>[batch, spans]."""
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
        """<bool>[batch, spans] of spans in cells -> the same with the empty one, the first."""
        if not self._allow_empty:
            return in_cells
        return in_cells | (tf.range(shape_list(in_cells)[1]) == 0)[tf.newaxis]

    def _of_boundaries(self, starts, ends):
        """Spans score what their boundaries, <float32>[batch, seq], score together."""
        return of_starts(starts, self._max_length) + of_ends(ends, self._max_length)

    def _named(self, per_example):
        return per_example, {
            "span_loss_per_example": per_example,
            "span_loss": tf.reduce_mean(per_example),
        }


class SpanHead(SpansHead):
    """A distribution over all spans, each scored by a linear layer over both its ends.

    Every pair of the beginning of a labelled run and the end of one that is a span is gold, and
    the losses of several are added up, as in the reference: of two runs in different cells also
    the span from one into the other, which no cell contains. An example without gold spans adds
    nothing, yet counts in the mean.

    Args:
        config: a ClassifierConfig.
    """

    def build(self, input_shape):
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

        Args:
            x: <float>[batch, seq, hidden], the encoder's sequence output.
            cells: unused.
            features: reads row_ids and column_ids.

        Returns:
            span_logits <float32>[batch, spans], -10000 outside of cells; span_indexes
            <int32>[spans, 2], the first and last token of each; of the best one pred_span
            <int32>[batch, 2], its first and last token, and span_log_prob <float32>[batch], the
            logarithm of its probability, -10000 if no span is in a cell. With `allow_empty_span`
            also empty_span_log_prob <float32>[batch]; the best span is never the empty one.
        """
        del cells
        of_start, of_end = tf.split(self.span_output_weights, 2)
        starts = tf.linalg.matvec(x, of_start) + self.span_output_bias
        logits = self._of_boundaries(starts, tf.linalg.matvec(x, of_end))
        return self._outputs(logits, features)

    def loss(self, outputs, *, cells, features):
        """Cross entropy of the gold spans; reads label_ids."""
        del cells
        starts, ends = gold_boundaries(features["label_ids"])
        gold = of_starts(starts, self._max_length) * of_ends(ends, self._max_length)
        return self._named(summed_cross_entropy(gold, outputs["span_logits"]))


class BoundaryHead(SpansHead):
    """Two distributions over all tokens, for the first and for the last one of a span.

    A span scores the sum of the logits of both. (The reference leaves the start's out.) The loss
    is the cross entropy of all beginnings of labelled runs plus that of all ends.

    Args:
        config: a ClassifierConfig.
    """

    def build(self, input_shape):
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
        """Scores spans; adds start_logits, end_logits <float32>[batch, seq] to `SpanHead`."""
        del cells
        starts = tf.linalg.matvec(x, self.start_output_weights) + self.start_output_bias
        ends = tf.linalg.matvec(x, self.end_output_weights) + self.end_output_bias
        return {
            **self._outputs(self._of_boundaries(starts, ends), features),
            "start_logits": starts,
            "end_logits": ends,
        }

    def loss(self, outputs, *, cells, features):
        """Cross entropy of the gold boundaries; reads label_ids."""
        del cells
        starts, ends = gold_boundaries(features["label_ids"])
        return self._named(
            summed_cross_entropy(starts, outputs["start_logits"])
            + summed_cross_entropy(ends, outputs["end_logits"])
        )


def summed_cross_entropy(gold, logits):
    """-log P added up over all that is gold: [batch, n] twice -> <float32>[batch]."""
    return -tf.reduce_sum(gold * tf.nn.log_softmax(logits), axis=1)
