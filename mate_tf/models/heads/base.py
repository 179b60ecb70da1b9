"""Base classes of heads: outputs from the encoder's, a loss from outputs and labels."""

import tensorflow as tf

from mate_tf.data import padding
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras
from mate_tf.layers.shapes import build_child

LOG_ZERO = -10_000.0
"""Logit of what must not be chosen, or added to it; exp of it is 0 in float32."""


class Head(keras.layers.Layer):
    """One thing that a `TableClassifier` predicts. A subclass has two methods:

        head(x, cells=cells, features=features) -> dict of outputs
        head.loss(outputs, cells=cells, features=features) -> (<float32>[batch], dict of outputs)

    where x is the encoder's output that the head `reads` and `outputs` are those of all heads. A
    head computes in float32 whatever the mixed precision policy is, and its variables carry the
    names of the reference's checkpoints (`checkpoint_variables`).

    Args:
        config: a ClassifierConfig.

    Attributes:
        reads: "sequence_output" <float>[batch, seq, hidden] or "pooled_output"
            <float>[batch, hidden].
        labels: features that the loss reads (data/features.py). Without any there is no loss:
            the head predicts and something else learns.
    """

    reads = "sequence_output"
    labels: tuple[str, ...] = ()

    def __init__(self, config, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self._config = config

    def checkpoint_variables(self):
        """The variables by their names in the reference's checkpoints."""
        raise NotImplementedError

    def _linear(self, prefix, shape, zeros=False):
        """Weights <float32>[shape] and one bias for each of their rows, or a scalar for one row."""
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
    """Numbers for the whole example, such as logits of classes, from the encoder's pooled output.

    They come from a linear layer, which may have hidden layers with ReLU before it.

    Args:
        config: a ClassifierConfig.
        num_labels: how many numbers.
        suffix: of the variables' names in the reference: output_weights_<suffix>.
        hidden_sizes: widths of the hidden layers.

    Raises:
        InputError: fewer than `min_labels`.
    """

    reads = "pooled_output"
    min_labels = 2

    def __init__(self, config, num_labels, suffix, hidden_sizes=(), **kwargs):
        super().__init__(config, **kwargs)
        if num_labels < self.min_labels:
            raise InputError(f"{self.name}: {num_labels} classes leave nothing to choose")
        self.num_labels = self._num_outputs = num_labels
        self._suffix = suffix
        self.hidden = [
            keras.layers.Dense(size, activation="relu", dtype="float32", name=f"hidden_{index}")
            for index, size in enumerate(hidden_sizes)
        ]

    def build(self, input_shape):
        width = input_shape[-1]
        for layer in self.hidden:
            build_child(layer, [None, width])
            width = layer.units
        self.output_weights, self.output_bias = self._linear("output", [self._num_outputs, width])
        super().build(input_shape)

    def checkpoint_variables(self):
        """Hidden layers, which the reference has not, are hidden_<index>_weights_<suffix>."""
        variables = {"output_weights": self.output_weights, "output_bias": self.output_bias}
        for index, layer in enumerate(self.hidden):
            variables[f"hidden_{index}_weights"] = layer.kernel
            variables[f"hidden_{index}_bias"] = layer.bias
        return {f"{name}_{self._suffix}": variable for name, variable in variables.items()}

    def _logits(self, x):
        """<float32>[..., width] -> <float32>[..., outputs]"""
        for layer in self.hidden:
            x = layer(x)
        return tf.matmul(x, self.output_weights, transpose_b=True) + self.output_bias


def has_labels(features):
    """<float32>[batch]: 1 where the example has a labelled token."""
    labelled = (features["label_ids"] > 0) & padding.real_tokens(features["input_mask"])
    return tf.cast(tf.reduce_any(labelled, axis=1), tf.float32)
