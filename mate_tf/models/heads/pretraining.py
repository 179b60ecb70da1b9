"""Heads of pre-training: masked words, and whether a text and a table belong together."""

import tensorflow as tf

from mate_tf.layers.keras_namespace import keras
from mate_tf.layers.layer_norm import LayerNorm
from mate_tf.layers.shapes import build_child
from mate_tf.models.encoder_block import ACTIVATIONS


class MaskedWordHead(keras.layers.Layer):
    """BERT's head for masked words, whose output weights are the word embeddings.

    Computes in float32 whatever the mixed precision policy is.

    Args:
        config: the EncoderConfig.
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
        build_child(self.transform, input_shape)
        build_child(self.LayerNorm, input_shape)
        self.output_bias = self.add_weight(
            "output_bias", [self.config.vocab_size], initializer="zeros"
        )
        super().build(input_shape)

    def call(self, x, word_embeddings):
        """<float>[masked, hidden] and <float32>[vocab, hidden] -> <float32>[masked, vocab]"""
        x = self.LayerNorm(self.transform(x))
        return tf.matmul(x, word_embeddings, transpose_b=True) + self.output_bias

    def checkpoint_variables(self):
        """The variables by their names in the reference's checkpoints."""
        return {
            "cls/predictions/transform/dense/kernel": self.transform.kernel,
            "cls/predictions/transform/dense/bias": self.transform.bias,
            "cls/predictions/transform/LayerNorm/gamma": self.LayerNorm.gamma,
            "cls/predictions/transform/LayerNorm/beta": self.LayerNorm.beta,
            "cls/predictions/output_bias": self.output_bias,
        }


class RandomTableHead(keras.layers.Layer):
    """Classifies the pooled output: a random table (1) or the text's own (0).

    BERT's head for the next sentence. Computes in float32.

    Args:
        config: the EncoderConfig.
    """

    def __init__(self, config, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.config = config

    def build(self, input_shape):
        self.output_weights = self.add_weight(
            "output_weights",
            [2, input_shape[-1]],
            initializer=keras.initializers.TruncatedNormal(stddev=self.config.initializer_range),
        )
        self.output_bias = self.add_weight("output_bias", [2], initializer="zeros")
        super().build(input_shape)

    def call(self, pooled_output):
        """<float>[batch, hidden] -> <float32>[batch, 2]"""
        return tf.matmul(pooled_output, self.output_weights, transpose_b=True) + self.output_bias

    def checkpoint_variables(self):
        """The variables by their names in the reference's checkpoints."""
        return {
            "cls/seq_relationship/output_weights": self.output_weights,
            "cls/seq_relationship/output_bias": self.output_bias,
        }
