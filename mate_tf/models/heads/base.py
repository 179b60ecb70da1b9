"""Base classes of heads."""

import tensorflow as tf

from mate_tf.data import padding
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import build_child

LOG_ZERO = -10_000.0
"""Logit, or addend to a logit, of impossible choices; its exp is 0 in float32."""


class Head(keras.layers.Layer):
    """A prediction of a `TableClassifier`. A subclass has two methods:

        head(x, cells=cells, features=features) -> dict of outputs
        head.loss(outputs, cells=cells, features=features) -> (<float32>[batch], dict of losses)

    x is the encoder's output that the head `reads`, `cells` the `Cells` of the batch, `features`
    the features of the examples. `outputs` are the outputs of all heads so far. A head computes in
    float32 under every mixed precision policy. `checkpoint_variables` gives its variables the names
    of the reference's checkpoints.

    Args:
        config: a ClassifierConfig.

    Attributes:
        reads: "sequence_output" <float>[batch, seq, hidden] or "pooled_output"
            <float>[batch, hidden].
        labels: features that the loss reads (data/features.py); empty: the head has no loss.
    """

    reads = "sequence_output"
    labels: tuple[str, ...] = ()

    def __init__(self, config, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self._config = config

    def checkpoint_variables(self):
        """Returns name in the reference's checkpoints -> variable."""
        raise NotImplementedError

    def _linear(self, prefix, shape, zeros=False):
        """Creates weights <float32>[shape] and biases <float32>[shape without the last axis]."""
        if zeros:
            initializer = keras.initializers.Zeros()
        else:
            initializer = keras.initializers.TruncatedNormal(
                stddev=self._config.encoder.initializer_range
            )
        return (
            self.add_weight(f"{prefix}_weights", shape, initializer=initializer),
            self.add_weight(f"{prefix}_bias", shape[:-1], initializer="zeros"),
        )


class PooledHead(Head):
    """Base class of heads on the encoder's pooled output, for example for logits of classes.

    It has a linear layer, optionally after hidden layers with ReLU.

    Args:
        config: a ClassifierConfig.
        num_labels: number of outputs.
        suffix: suffix of the variables' names in the reference: output_weights_<suffix>.
        hidden_sizes: widths of the hidden layers.

    Raises:
        InputError: if `num_labels` is below `min_labels`.
    """

    reads = "pooled_output"
    min_labels = 2

    def __init__(self, config, num_labels, suffix, hidden_sizes=(), **kwargs):
        super().__init__(config, **kwargs)
        if num_labels < self.min_labels:
            raise InputError(
                f"{self.name}: {num_labels} classes, must be {self.min_labels} or more"
            )
        self.num_labels = self._num_outputs = num_labels
        self._suffix = suffix
        self.hidden = [
            keras.layers.Dense(size, activation="relu", dtype="float32", name=f"hidden_{index}")
            for index, size in enumerate(hidden_sizes)
        ]

    def build(self, input_shape):
        """Creates the variables for inputs of `input_shape`, [batch, width]."""
        width = input_shape[-1]
        for layer in self.hidden:
            build_child(layer, [None, width])
            width = layer.units
        self.output_weights, self.output_bias = self._linear("output", [self._num_outputs, width])
        super().build(input_shape)

    def checkpoint_variables(self):
        """Returns name in the reference's checkpoints -> variable.

        The reference has no hidden layers. Their names are hidden_<index>_weights_<suffix>.
        """
        variables = {"output_weights": self.output_weights, "output_bias": self.output_bias}
        for index, layer in enumerate(self.hidden):
            variables[f"hidden_{index}_weights"] = layer.kernel
            variables[f"hidden_{index}_bias"] = layer.bias
        return {f"{name}_{self._suffix}": variable for name, variable in variables.items()}

    def _logits(self, x):
        """Applies all layers: <float32>[..., width] -> <float32>[..., outputs]."""
        for layer in self.hidden:
            x = layer(x)
        # [..., width], [outputs, width] -> [..., outputs]
        return tf.matmul(x, self.output_weights, transpose_b=True) + self.output_bias


def has_labels(features):
    """Returns <float32>[batch], 1 for examples with a labelled token.

    Args:
        features: reads label_ids and input_mask, <int32>[batch, seq].
    """
    labelled = (features["label_ids"] > 0) & padding.real_tokens(features["input_mask"])
    return tf.cast(tf.reduce_any(labelled, axis=1), tf.float32)
