"""POINTR's reader (MATE paper, section 4.2): an MLP scores every span of a cell's text."""

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers import replicas
from mate_tf.layers.keras_namespace import keras
from mate_tf.layers.shapes import shape_list
from mate_tf.models.encoder_block import ACTIVATIONS
from mate_tf.models.heads import spans


def span_head(config, **kwargs):
    """The head that a ClassifierConfig asks for.

    Raises:
        InputError: if it asks for something else.
    """
    if config.span_prediction not in _HEADS:
        known = ", ".join((spans.NO_SPANS, *_HEADS))
        raise InputError(f"span_prediction: {config.span_prediction!r} is none of {known}")
    return _HEADS[config.span_prediction](config, **kwargs)


def first_labelled(label_ids):
    """First and last token of the first run of labelled tokens.

    Args:
        label_ids: <int32>[batch, seq], not 0 for labelled tokens.

    Returns:
        <int32>[batch, 2], -1 where nothing is labelled.
    """
    found = [tf.argmax(each, 1, tf.int32) for each in spans.gold_boundaries(label_ids)]
    anything = tf.reduce_any(label_ids > 0, axis=1, keepdims=True)
    return tf.where(anything, tf.stack(found, axis=1), -1)


class ReaderHead(spans.SpansHead):
    """A distribution over the spans within cells, each scored by an MLP over [start; end].

    The first layer's kernel consists of a half for the start and one for the end, so that each
    token goes through both once, and a pair of tokens costs an addition, the activation and the
    product with the output's weights. Spans of one length are scored together: of their
    `span_hidden_size` values per span nothing is copied, but training remembers them, 4 bytes times
    batch times tokens times lengths times width: 5.2 MB for each example of 512 tokens with 10
    lengths and a width of 256.

    The gold span is the first run of labelled tokens ("first appearance"), if it is a span at all:
    no longer than `max_span_length` and within one data cell, or the empty one. The loss is the
    mean over the examples with a gold span; the others add nothing and do not count.

    Args:
        config: a ClassifierConfig.

    Raises:
        InputError: the width or the activation makes no layer.
    """

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        if config.span_hidden_size < 1:
            raise InputError(f"span_hidden_size: {config.span_hidden_size} units make no layer")
        if config.span_activation not in ACTIVATIONS:
            raise InputError(
                f"span_activation: {config.span_activation!r} is none of {', '.join(ACTIVATIONS)}"
            )
        self._activation = ACTIVATIONS[config.span_activation]

    def build(self, input_shape):
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
        """None: the reference scores spans without a hidden layer."""
        return {}

    def call(self, x, *, cells, features):
        """Scores spans; see `SpanHead.call`."""
        del cells
        of_start, of_end = tf.split(self.span_hidden_kernel, 2)
        # b: batch, s: tokens, h: hidden units of the encoder, w: of the MLP
        starts = tf.einsum("bsh,hw->bsw", x, of_start) + self.span_hidden_bias
        ends = tf.einsum("bsh,hw->bsw", x, of_end)
        by_length = zip(
            spans.starts_by_length(starts, self._max_length),
            spans.ends_by_length(ends, self._max_length),
            strict=True,
        )
        logits = [
            tf.linalg.matvec(self._activation(start + end), self.span_output_weights)
            for start, end in by_length
        ]
        return self._outputs(tf.concat(logits, axis=1) + self.span_output_bias, features)

    def loss(self, outputs, *, cells, features):
        """Cross entropy of the gold span; reads label_ids."""
        del cells
        gold = first_labelled(features["label_ids"])[:, tf.newaxis]  # [batch, 1, 2]
        is_gold = tf.reduce_all(outputs["span_indexes"] == gold, axis=-1)  # [batch, spans]
        is_gold &= self._candidates(
            spans.within_cells(features["row_ids"], features["column_ids"], self._max_length)
        )
        is_gold = tf.cast(is_gold, tf.float32)
        per_example, parts = self._named(
            spans.summed_cross_entropy(is_gold, outputs["span_logits"])
        )
        num_examples = tf.cast(shape_list(is_gold)[0], tf.float32)
        counts = replicas.total(tf.stack([num_examples, tf.reduce_sum(is_gold)]))
        scale = tf.math.divide_no_nan(counts[0], counts[1])
        return per_example * scale, parts


_HEADS = {spans.SPAN: spans.SpanHead, spans.BOUNDARY: spans.BoundaryHead, spans.MLP: ReaderHead}
