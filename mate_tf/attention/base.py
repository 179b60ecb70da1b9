"""The attention contract: a pattern computed once a batch, a layer that applies it, a registry.

A variant is a pair of classes with typed options, registered under a name. The encoder makes one
`AttentionPattern` for each distinct config and one `TableAttention` for each layer:

    pattern = variant.pattern(config, num_heads)(context)        # once a batch
    y = variant.attention(config, num_heads)(x, pattern)         # once a layer

Axes of shapes: batch; seq, tokens of the input, called queries or keys in pairs; heads;
head_size; hidden = heads * head_size.
"""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention.config import AttentionConfig, NoOptions, names, options, register_options
from mate_tf.attention.mask_rows import MASKED_SCORE, mask_bias, masked_score
from mate_tf.attention.pattern import AttentionPattern
from mate_tf.attention.table_context import TableContext
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import build_child, shape_list
from mate_tf.layers.step_seeds import Dropout

__all__ = [
    "MASKED_SCORE",
    "AttentionPattern",
    "TableAttention",
    "TableContext",
    "Variant",
    "all_pairs_flops",
    "get",
    "mask_bias",
    "masked_score",
    "names",
    "register",
]


def all_pairs_flops(hidden_size: int, length: int) -> float:
    """Returns the FLOPs of scores and weighted sums: two products of each query with each key."""
    return 4 * length**2 * hidden_size


class CopyOf(keras.initializers.Initializer):
    """Initializer that starts a kernel as a copy of another layer's."""

    def __init__(self, layer):
        self._layer = layer

    def __call__(self, shape, dtype=None, **kwargs):
        return tf.cast(tf.convert_to_tensor(self._layer.kernel), dtype or tf.float32)


class TableAttention(keras.layers.Layer):
    """Multi-head attention over a table. Subclasses define `attend`.

    What they may define: `checkpoint_variables` and `flops`, and the methods of `abilities`.

    Args:
        hidden_size: width of input and output, a multiple of `num_heads`.
        dropout_rate: dropout of the attention probabilities.
        softmax_temperature: divides the scores, as the square root of the head size does.
        initializer_range: standard deviation of the kernels' truncated normal initialization.
        query_key_initializer_range: the same for query and key kernels; None = the same value.
        key_initialization: "independent", or "query": the key kernel starts as a copy of the
            query kernel, so that equal tokens attend to each other from the first step on.

    Attributes:
        has_pair_probabilities: whether the weights of the values are a softmax over the allowed
            pairs of tokens, which `scores` computes.
        head_types: `mate.HeadType`s, for variants with row heads and column heads.
    """

    has_pair_probabilities = False
    head_types = ()

    def __init__(
        self,
        config: AttentionConfig,
        num_heads: int,
        hidden_size: int,
        dropout_rate: float = 0.0,
        softmax_temperature: float = 1.0,
        initializer_range: float = 0.02,
        query_key_initializer_range: float | None = None,
        key_initialization: str = "independent",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.config = AttentionConfig(config)
        self.num_heads = num_heads
        self.hidden_size = hidden_size
        self.head_size = hidden_size // num_heads
        self.dropout_rate = dropout_rate
        self.softmax_temperature = softmax_temperature
        self.initializer_range = initializer_range
        self.query_key_initializer_range = query_key_initializer_range
        self.key_initialization = key_initialization

        def dense(name, kernel_initializer):
            return keras.layers.Dense(hidden_size, name=name, kernel_initializer=kernel_initializer)

        def normal(stddev):
            return keras.initializers.TruncatedNormal(stddev=stddev)

        query_key_range = query_key_initializer_range or initializer_range
        self.query = dense("query", normal(query_key_range))
        copied = key_initialization == "query"
        self.key = dense("key", CopyOf(self.query) if copied else normal(query_key_range))
        self.value = dense("value", normal(initializer_range))
        self.output_projection = dense("output_projection", normal(initializer_range))
        self.dropout = Dropout(dropout_rate)

    def build(self, input_shape):
        """Creates the variables of the projections."""
        for layer in (self.query, self.key, self.value, self.output_projection):
            build_child(layer, [None, self.hidden_size])
        super().build(input_shape)

    def call(self, x: tf.Tensor, pattern: NamedTuple, training=None) -> tf.Tensor:
        """Computes y from x, <float>[batch, seq, hidden] both."""
        query, key, value = self.project(x, self.query, self.key, self.value)
        return self.project_back(self.attend(query, key, value, pattern, training))

    def project(self, x: tf.Tensor, *layers) -> list[tf.Tensor]:
        """Projects x by each of the Dense `layers`.

        Args:
            x: <float>[batch, seq, hidden].
            *layers: Dense layers from hidden to hidden.

        Returns:
            <float>[batch, seq, heads, head_size] for each layer.
        """
        batch, seq, hidden = shape_list(x)
        # [batch * seq, hidden]: TensorFlow fuses product and bias for matrices only.
        flat = tf.reshape(x, [-1, hidden])
        # [batch * seq, hidden] -> [batch, seq, heads, head_size]
        heads = [batch, seq, self.num_heads, self.head_size]
        return [tf.reshape(layer(flat), heads) for layer in layers]

    def project_back(self, context: tf.Tensor) -> tf.Tensor:
        """Projects the output of `attend`.

        Args:
            context: <float>[batch, seq, heads, head_size].

        Returns:
            <float>[batch, seq, hidden]
        """
        batch, seq, _, _ = shape_list(context)
        # [batch * seq, hidden], as in `project`
        y = self.output_projection(tf.reshape(context, [-1, self.hidden_size]))
        return tf.reshape(y, [batch, seq, self.hidden_size])

    def attend(self, query, key, value, pattern: NamedTuple, training=None) -> tf.Tensor:
        """Computes weighted sums of values, <float>[batch, seq, heads, head_size].

        Args:
            query: <float>[batch, seq, heads, head_size].
            key: <float>[batch, seq, heads, head_size].
            value: <float>[batch, seq, heads, head_size].
        """
        raise NotImplementedError

    def scale(self, dtype) -> tf.Tensor:
        """Returns the factor of the products of queries and keys, <dtype>[]."""
        return tf.cast(self.head_size**-0.5 / self.softmax_temperature, dtype)

    def scores(self, x: tf.Tensor, mask: tf.Tensor, bias: tf.Tensor | None = None) -> tf.Tensor:
        """Computes attention probabilities for analysis; quadratic in the length.

        They are a softmax over the pairs of `mask`. With the variant's own mask they are the
        weights of the values in every variant that `has_pair_probabilities`.

        Args:
            x: <float>[batch, seq, hidden], the input of the layer.
            mask: <bool>[batch, 1 or heads, 1 or queries, keys], from `mask` of the layer, if it
                `ChoosesPairs`, or of the pattern.
            bias: <float>[batch, 1 or heads, 1 or queries, keys], added to the products of queries
                and keys, with the mask in it; None: that of the mask alone.

        Returns:
            <float>[batch, heads, queries, keys]; zero for a query without keys.
        """
        query, key = self.project(x, self.query, self.key)
        # [batch, queries, heads, head_size], [batch, keys, heads, head_size]
        # -> [batch, heads, queries, keys]
        scores = tf.einsum("bqhd,bkhd->bhqk", query, key) * self.scale(query.dtype)
        bias = mask_bias(mask, scores.dtype) if bias is None else bias
        probabilities = tf.nn.softmax(scores + bias)
        return probabilities * tf.cast(mask, probabilities.dtype)

    def checkpoint_variables(self) -> dict:
        """Returns the variables beyond the four projections, by their names in checkpoints."""
        return {}

    @classmethod
    def flops(
        cls, config: AttentionConfig, num_heads: int, hidden_size: int, length: int
    ) -> float | None:
        """Returns the FLOPs of the matmuls of one layer's attention for one example.

        The four projections are left out. A multiplication and an addition are two.

        Args:
            length: tokens of the example, without those that the variant adds.

        Returns:
            None if the variant has no formula.
        """
        return None

    def softmax_attention(self, query, key, value, bias, training=None, seed=None) -> tf.Tensor:
        """Computes softmax(scale query key^T + bias) value.

        Args:
            query: <float>[batch, heads, queries, head_size].
            key: <float>[batch, heads, keys, head_size].
            value: <float>[batch, heads, keys, head_size].
            bias: <float>[batch, 1, 1 or queries, keys].
            seed: <int32>[2], makes dropout the same in each call; None: different in each call.

        Returns:
            <float>[batch, heads, queries, head_size]
        """
        # [batch, heads, queries, keys]; on CPU the product, the scale and a bias of rank 4 run as
        # one fused operation.
        scores = tf.matmul(query, key, transpose_b=True) * self.scale(query.dtype) + bias
        probabilities = self.drop(tf.nn.softmax(scores), training, seed)
        # [batch, heads, queries, keys], [batch, heads, keys, head_size]
        # -> [batch, heads, queries, head_size]
        return tf.matmul(probabilities, value)

    def drop(self, probabilities, training=None, seed=None) -> tf.Tensor:
        """Drops probabilities; the arguments are those of `softmax_attention`."""
        if seed is None:
            return self.dropout(probabilities, training=training)
        if not (training and self.dropout_rate):
            return probabilities
        return tf.nn.experimental.stateless_dropout(probabilities, self.dropout_rate, seed)

    def drop_keys(self, value: tf.Tensor, training=None) -> tf.Tensor:
        """Drops whole keys, the same ones for all queries: dropout without probabilities.

        Args:
            value: <float>[batch, seq, heads, head_size].

        Returns:
            <float>[batch, seq, heads, head_size]
        """
        if not (self.dropout_rate and training):
            return value
        return value * self.dropout(tf.ones_like(value[..., :1]), training=training)

    def get_config(self):
        """Returns the constructor's arguments for Keras's serialization."""
        return super().get_config() | {
            "config": self.config.as_dict(),
            "num_heads": self.num_heads,
            "hidden_size": self.hidden_size,
            "dropout_rate": self.dropout_rate,
            "softmax_temperature": self.softmax_temperature,
            "initializer_range": self.initializer_range,
            "query_key_initializer_range": self.query_key_initializer_range,
            "key_initialization": self.key_initialization,
        }


@dataclasses.dataclass(frozen=True)
class Variant:
    """A registered attention variant.

    Attributes:
        name: the value of AttentionConfig.name that selects it.
        pattern: its AttentionPattern class.
        attention: its TableAttention class.
    """

    name: str
    pattern: type[AttentionPattern]
    attention: type[TableAttention]


_VARIANTS: dict[str, Variant] = {}


def register(
    name: str,
    pattern: type[AttentionPattern],
    attention: type[TableAttention],
    options: type = NoOptions,
) -> None:
    """Registers a variant.

    Args:
        options: a frozen dataclass with the variant's options and their defaults.
    """
    register_options(name, options)
    _VARIANTS[name] = Variant(name, pattern, attention)


def get(name: str) -> Variant:
    """Returns the variant registered under `name`.

    Raises:
        InputError: for an unknown name; the message lists the known names.
    """
    options(name)  # imports the variant
    return _VARIANTS[name]
