"""Heads for pre-training: masked words, and random tables (next sentences in BERT)."""

import tensorflow as tf

from mate_tf.layers.framework import keras
from mate_tf.layers.layer_norm import LayerNorm
from mate_tf.layers.shapes import build_child
from mate_tf.models.encoder_block import ACTIVATIONS


class MaskedWordHead(keras.layers.Layer):
    """BERT's head for masked words. Its output weights are the word embeddings.

    It computes in float32 under every mixed precision policy.
    """

    def __init__(self, config, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.config = config
        self.transform = keras.layers.Dense(
            config.hidden_size,
            activation=ACTIVATIONS[config.hidden_act],
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=config.initializer_range),
            dtype="float32",
            name="transform",
        )
        self.LayerNorm = LayerNorm(config.layer_norm_epsilon, name="LayerNorm", dtype="float32")

    def build(self, input_shape):
        """Creates the variables for inputs of `input_shape`, [masked, hidden]."""
        build_child(self.transform, input_shape)
        build_child(self.LayerNorm, input_shape)
        self.output_bias = self.add_weight(
            "output_bias", [self.config.vocab_size], initializer="zeros"
        )
        super().build(input_shape)

    def call(self, x, word_embeddings):
        """Computes the logits of words.

        Args:
            x: <float>[masked, hidden], encoder outputs of the masked tokens.
            word_embeddings: <float32>[vocab, hidden].

        Returns:
            <float32>[masked, vocab].
        """
        x = self.LayerNorm(self.transform(x))
        # [masked, hidden], [vocab, hidden] -> [masked, vocab]
        return tf.matmul(x, word_embeddings, transpose_b=True) + self.output_bias

    def checkpoint_variables(self):
        """Returns name in the reference's checkpoints -> variable."""
        return {
            "cls/predictions/transform/dense/kernel": self.transform.kernel,
            "cls/predictions/transform/dense/bias": self.transform.bias,
            "cls/predictions/transform/LayerNorm/gamma": self.LayerNorm.gamma,
            "cls/predictions/transform/LayerNorm/beta": self.LayerNorm.beta,
            "cls/predictions/output_bias": self.output_bias,
        }


class RandomTableHead(keras.layers.Layer):
    """Classifies the pooled output: 1 for a random table, 0 for the text's own table.

    This is BERT's next sentence head. It computes in float32.
    """

    def __init__(self, config, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.config = config

    def build(self, input_shape):
        """Creates the variables for inputs of `input_shape`, [batch, hidden]."""
        self.output_weights = self.add_weight(
            "output_weights",
            [2, input_shape[-1]],
            initializer=keras.initializers.TruncatedNormal(stddev=self.config.initializer_range),
        )
        self.output_bias = self.add_weight("output_bias", [2], initializer="zeros")
        super().build(input_shape)

    def call(self, pooled_output):
        """Computes logits: <float>[batch, hidden] -> <float32>[batch, 2]."""
        # [batch, hidden], [2, hidden] -> [batch, 2]
        return tf.matmul(pooled_output, self.output_weights, transpose_b=True) + self.output_bias

    def checkpoint_variables(self):
        """Returns name in the reference's checkpoints -> variable."""
        return {
            "cls/seq_relationship/output_weights": self.output_weights,
            "cls/seq_relationship/output_bias": self.output_bias,
        }
