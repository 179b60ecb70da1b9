"""POINTR's reader (MATE paper, section 4.2): an MLP that scores every span of a cell's text."""

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers import replica_losses
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import shape_list
from mate_tf.models.encoder_block import ACTIVATIONS
from mate_tf.models.heads import spans


def span_head(config, **kwargs):
    """Returns the span head of a ClassifierConfig.

    Raises:
        InputError: for an unknown `span_prediction`.
    """
    if config.span_prediction not in _HEADS:
        known = ", ".join((spans.NO_SPANS, *_HEADS))
        raise InputError(f"span_prediction: {config.span_prediction!r} is not one of {known}")
    return _HEADS[config.span_prediction](config, **kwargs)


def first_labelled(label_ids):
    """Finds the first and the last token of the first run of labels <int32>[batch, seq] above 0.

    Returns <int32>[batch, 2], -1 for examples without labelled tokens.
    """
    boundaries = [tf.argmax(each, 1, tf.int32) for each in spans.gold_boundaries(label_ids)]
    anything = tf.reduce_any(label_ids > 0, axis=1, keepdims=True)
    return tf.where(anything, tf.stack(boundaries, axis=1), -1)


class ReaderHead(spans.SpansHead):
    """A distribution over the spans within cells, scored by an MLP over [start; end].

    The first layer's kernel has one half for the start and one for the end. Each token is
    multiplied by both halves once; a span then costs an addition, the activation and the product
    with the output weights. Spans of one length are scored together, from slices without copies.
    Training keeps the hidden values for the backward pass: 4 bytes * batch * tokens * lengths *
    `span_hidden_size`, or 5.2 MB per example with 512 tokens, 10 lengths and a width of 256.

    The gold span is the first run of labelled tokens (first appearance), if it is a candidate: no
    longer than `max_span_length` and within one data cell, or the empty span. The loss is the mean
    over examples with a gold span.

    Raises:
        InputError: if the width or the activation is not valid.
    """

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        if config.span_activation not in ACTIVATIONS:
            raise InputError(
                f"span_activation: {config.span_activation!r} is not one of "
                f"{', '.join(ACTIVATIONS)}"
            )
        self._activation = ACTIVATIONS[config.span_activation]

    def build(self, input_shape):
        """Creates the variables for inputs of `input_shape`, [batch, seq, hidden]."""
        hidden_size, width = input_shape[-1], self._config.span_hidden_size
        self.span_hidden_kernel = self.add_weight(
            "span_hidden_kernel",
            [2 * hidden_size, width],
            initializer=keras.initializers.TruncatedNormal(
                stddev=self._config.encoder.initializer_range
            ),
        )
        self.span_hidden_bias = self.add_weight("span_hidden_bias", [width], initializer="zeros")
        self.span_output_weights, self.span_output_bias = self._linear("span_output", [width])
        super().build(input_shape)

    def checkpoint_variables(self):
        """Returns name in checkpoints -> variable. The reference has no such layers."""
        return {
            "loss/span_hidden_weights": self.span_hidden_kernel,
            "loss/span_hidden_bias": self.span_hidden_bias,
            "loss/span_mlp_output_weights": self.span_output_weights,
            "loss/span_mlp_output_bias": self.span_output_bias,
        }

    def call(self, x, *, cells, features):
        """Returns the outputs of `SpanHead.call`."""
        # [2 * hidden, width] -> two of [hidden, width]
        of_start, of_end = tf.split(self.span_hidden_kernel, 2)
        # [batch, seq, hidden], [hidden, width] -> [batch, seq, width]
        starts = tf.einsum("bsh,hw->bsw", x, of_start) + self.span_hidden_bias
        ends = tf.einsum("bsh,hw->bsw", x, of_end)
        by_length = zip(
            spans.starts_by_length(starts, self._max_length),
            spans.ends_by_length(ends, self._max_length),
            strict=True,
        )
        # [batch, spans of a length, width], [width] -> [batch, spans of a length]
        logits = [
            tf.linalg.matvec(self._activation(start + end), self.span_output_weights)
            for start, end in by_length
        ]
        # [batch, spans]
        return self._outputs(tf.concat(logits, axis=1) + self.span_output_bias, features)

    def loss(self, outputs, *, cells, features):
        """Computes the cross entropy of the gold span, <float32>[batch]."""
        # [batch, 1, 2]
        gold = first_labelled(features["label_ids"])[:, tf.newaxis]
        # [spans, 2], [batch, 1, 2] -> [batch, spans]
        is_gold = tf.reduce_all(outputs["span_indexes"] == gold, axis=-1)
        is_gold &= self._candidates(
            spans.within_cells(features["row_ids"], features["column_ids"], self._max_length)
        )
        is_gold = tf.cast(is_gold, tf.float32)
        per_example, parts = self._named(
            spans.summed_cross_entropy(is_gold, outputs["span_logits"])
        )
        num_examples = tf.cast(shape_list(is_gold)[0], tf.float32)
        counts = replica_losses.total(tf.stack([num_examples, tf.reduce_sum(is_gold)]))
        scale = tf.math.divide_no_nan(counts[0], counts[1])
        return per_example * scale, parts


_HEADS = {spans.SPAN: spans.SpanHead, spans.BOUNDARY: spans.BoundaryHead, spans.MLP: ReaderHead}
