"""Layer of the encoder: attention and feed-forward network with residuals and layer norm."""

import tensorflow as tf

from mate_tf import attention
from mate_tf.attention import AttentionConfig
from mate_tf.errors import InputError
from mate_tf.layers import step_seeds
from mate_tf.layers.framework import keras
from mate_tf.layers.layer_norm import LayerNorm
from mate_tf.layers.shapes import build_child, shape_list
from mate_tf.layers.step_seeds import Dropout
from mate_tf.models.encoder_config import EncoderConfig


def gelu(x):
    """Computes the tanh approximation of GELU of a <float> tensor."""
    return tf.nn.gelu(x, approximate=True)


def gelu_exact(x):
    """Computes GELU of a <float> tensor."""
    return tf.nn.gelu(x, approximate=False)


ACTIVATIONS = {
    "gelu": gelu,
    "gelu_exact": gelu_exact,
    "relu": tf.nn.relu,
    "tanh": tf.tanh,
    "linear": tf.identity,
}
"""Values of `hidden_act`. "gelu" is the tanh approximation, as in BERT and TAPAS. "gelu_exact" is
the exact function, which Hugging Face calls "gelu"."""


def attention_layer(config, attention_config, name: str) -> attention.TableAttention:
    """Returns an attention layer with the sizes of an EncoderConfig, without variables yet."""
    return attention.get(attention_config.name).attention(
        attention_config,
        num_heads=config.num_attention_heads,
        hidden_size=config.hidden_size,
        dropout_rate=config.attention_probs_dropout_prob,
        softmax_temperature=config.softmax_temperature,
        initializer_range=config.initializer_range,
        query_key_initializer_range=config.query_key_initializer_range,
        key_initialization=config.key_initialization,
        name=name,
    )


class EncoderBlock(keras.layers.Layer):
    """Post-LN block of BERT with any TableAttention.

    Args:
        attention_config: AttentionConfig of this layer.

    Raises:
        InputError: for an unknown hidden_act.
    """

    def __init__(self, config, attention_config, **kwargs):
        super().__init__(**kwargs)
        self.config = config
        self.attention_config = AttentionConfig(attention_config)
        if config.hidden_act not in ACTIVATIONS:
            raise InputError(
                f"unknown hidden_act {config.hidden_act!r}; known are {', '.join(ACTIVATIONS)}"
            )
        self.attention = attention_layer(config, self.attention_config, name="attention")
        normal = keras.initializers.TruncatedNormal(stddev=config.initializer_range)
        self.intermediate = keras.layers.Dense(
            config.intermediate_size,
            activation=ACTIVATIONS[config.hidden_act],
            kernel_initializer=normal,
            name="intermediate",
        )
        self.feed_forward = keras.layers.Dense(
            config.hidden_size,
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=config.initializer_range),
            name="feed_forward",
        )
        self.attention_LayerNorm = LayerNorm(config.layer_norm_epsilon, name="attention_LayerNorm")
        self.output_LayerNorm = LayerNorm(config.layer_norm_epsilon, name="output_LayerNorm")
        self.dropout = Dropout(config.hidden_dropout_prob)

    def build(self, input_shape=None):
        """Creates the variables of all sublayers."""
        hidden, intermediate = self.config.hidden_size, self.config.intermediate_size
        build_child(self.attention, [None, None, hidden])
        build_child(self.attention_LayerNorm, [None, hidden])
        build_child(self.intermediate, [None, hidden])
        build_child(self.feed_forward, [None, intermediate])
        build_child(self.output_LayerNorm, [None, hidden])
        super().build(input_shape)

    def call(self, x: tf.Tensor, pattern, training=None) -> tf.Tensor:
        """Applies the block.

        Args:
            x: <float>[batch, seq, hidden], input of the block.

        Returns:
            <float>[batch, seq, hidden].
        """
        if training and self.config.recompute:
            return self._recomputed(x, pattern)
        return self._apply(x, pattern, training)

    def _recomputed(self, x, pattern):
        """Applies the block in training, and again for its gradients: only its input is stored."""
        parts = tf.nest.flatten(pattern)
        # Gradients pass through arguments only. What a pattern has learned is in its float tensors.
        tensors = [index for index, part in enumerate(parts) if tf.is_tensor(part)]
        floats = [index for index in tensors if parts[index].dtype.is_floating]
        seed = step_seeds.draw()

        @tf.recompute_grad
        def run(x, *values):
            given = dict(zip(floats, values, strict=True))
            own = [given.get(index, part) for index, part in enumerate(parts)]
            with step_seeds.seeded_function(seed):
                return self._apply(x, tf.nest.pack_sequence_as(pattern, own), True)

        return run(x, *(parts[index] for index in floats))

    def _apply(self, x, pattern, training):
        batch, seq, hidden = shape_list(x)
        attended = self.attention(x, pattern, training=training)
        # [batch, seq, hidden] -> [batch * seq, hidden]: TensorFlow fuses matmul, bias and
        # activation for matrices only.
        x, attended = (tf.reshape(part, [-1, hidden]) for part in (x, attended))
        x = self.attention_LayerNorm(x + self.dropout(attended, training=training))
        y = self.apply_feed_forward(x, training)
        # [batch * seq, hidden] -> [batch, seq, hidden]
        return tf.reshape(y, [batch, seq, hidden])

    def apply_feed_forward(self, x: tf.Tensor, training=None) -> tf.Tensor:
        """Applies the feed-forward network, its residual connection and layer norm.

        Args:
            x: <float>[tokens, hidden].

        Returns:
            <float>[tokens, hidden].
        """
        y = self.feed_forward(self.intermediate(x))
        return self.output_LayerNorm(x + self.dropout(y, training=training))

    def checkpoint_variables(self) -> dict:
        """Returns name in BERT's checkpoints, below bert/encoder/layer_i/ -> variable.

        The attention variant's own variables are below attention/self/, like the projections.
        """
        own = self.attention.checkpoint_variables()
        return {
            **attention_variables("attention", self.attention, self.attention_LayerNorm),
            **{f"attention/self/{name}": variable for name, variable in own.items()},
            **_dense_variables("intermediate/dense", self.intermediate),
            **_dense_variables("output/dense", self.feed_forward),
            **_norm_variables("output/LayerNorm", self.output_LayerNorm),
        }

    def get_config(self):
        """Returns the configs for Keras's serialization."""
        return super().get_config() | {
            "config": self.config.as_dict(),
            "attention_config": self.attention_config.as_dict(),
        }

    @classmethod
    def from_config(cls, config):
        """Builds a layer from the result of `get_config`."""
        return cls(**config | {"config": EncoderConfig(config["config"])})


def attention_variables(scope: str, layer: attention.TableAttention, norm: LayerNorm) -> dict:
    """Returns name in BERT's checkpoints -> variable, of the projections and the norm after them.

    Args:
        scope: first part of the names, "attention" in an encoder.
        norm: the layer norm of its output.
    """
    return {
        **_dense_variables(f"{scope}/self/query", layer.query),
        **_dense_variables(f"{scope}/self/key", layer.key),
        **_dense_variables(f"{scope}/self/value", layer.value),
        **_dense_variables(f"{scope}/output/dense", layer.output_projection),
        **_norm_variables(f"{scope}/output/LayerNorm", norm),
    }


def _dense_variables(name, layer):
    return {f"{name}/kernel": layer.kernel, f"{name}/bias": layer.bias}


def _norm_variables(name, layer):
    return {f"{name}/gamma": layer.gamma, f"{name}/beta": layer.beta}
