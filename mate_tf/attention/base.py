"""The attention contract: a pattern computed once a batch, a layer that applies it, a registry.

A variant is a pair of classes with typed options, registered under a name. The encoder makes one
`AttentionPattern` per distinct config and one `TableAttention` per layer:

    pattern = variant.pattern(config, num_heads)(context)        # once a batch
    y = variant.attention(config, num_heads)(x, pattern)         # once a layer
"""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention.config import AttentionConfig, NoOptions, register_options
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras

MASKED_SCORE = -1e9
"""Added to the score of a pair that must not attend; exp() of it is exactly zero."""


class TableContext(NamedTuple):
    """Where each token stands in its table; <int32>[batch, seq] each.

    Attributes:
        segment_ids: 0 for the question, [CLS], [SEP] and padding, 1 for the table.
        row_ids: 0 for the question and the header row, 1 and up for data rows.
        column_ids: 0 for the question, 1 and up for columns.
        input_mask: 1 for real tokens, 0 for padding.
    """

    segment_ids: tf.Tensor
    row_ids: tf.Tensor
    column_ids: tf.Tensor
    input_mask: tf.Tensor


class PackedContext(NamedTuple):
    """A TableContext of sequences that several examples share (`mate_tf.layers.packing`).

    Attributes:
        segment_ids: as in TableContext, each example's own, like the next three.
        row_ids: the same.
        column_ids: the same.
        input_mask: the same.
        starts: where in the sequence the token's example starts; differs between examples.
    """

    segment_ids: tf.Tensor
    row_ids: tf.Tensor
    column_ids: tf.Tensor
    input_mask: tf.Tensor
    starts: tf.Tensor


def shape_list(tensor: tf.Tensor) -> list:
    """Shape with a Python int wherever the size is static, so that XLA sees it."""
    dynamic = tf.shape(tensor)
    return [dynamic[i] if size is None else size for i, size in enumerate(tensor.shape)]


def mask_bias(mask: tf.Tensor, dtype) -> tf.Tensor:
    """Additive form of a boolean mask: 0 where a pair may attend, MASKED_SCORE elsewhere."""
    return tf.where(mask, tf.zeros([], dtype), tf.cast(MASKED_SCORE, dtype))


def all_pairs_flops(hidden_size: int, length: int) -> float:
    """Returns the FLOPs of scores and weighted sums: two products of each query with each key."""
    return 4 * length**2 * hidden_size


def build_child(layer: keras.layers.Layer, input_shape) -> None:
    """Creates the variables of `layer` below the current name scope, before any call."""
    with tf.name_scope(layer.name):
        layer.build(input_shape)


class AttentionPattern(keras.layers.Layer):
    """What all layers of an encoder share: masks, sorting, buckets; computed once a batch.

    Args:
        config: the variant's AttentionConfig.
        num_heads: heads of each attention layer.

    Attributes:
        packs: whether it also takes a PackedContext, and keeps the examples in it apart.
        learns_importance: whether it learns how much pairs of tokens matter (`alpha`), so that an
            analysis shows that instead of the mask of one example.
    """

    packs = False
    learns_importance = False

    def __init__(self, config: AttentionConfig, num_heads: int, **kwargs):
        super().__init__(**kwargs)
        self.config = AttentionConfig(config)
        self.num_heads = num_heads

    def call(self, context: TableContext, training=None) -> dict:
        """A dict of tensors for the layers, whose float tensors have the compute dtype."""
        raise NotImplementedError

    def mask(self, context: TableContext) -> tf.Tensor:
        """The pairs that may attend: <bool>[batch, 1 or heads, 1 or seq, seq], query before key."""
        raise NotImplementedError

    def add_tokens(self, embeddings: tf.Tensor, context: TableContext):
        """Hook for variants with tokens of their own; returns both arguments, extended."""
        return embeddings, context

    def remove_tokens(self, output: tf.Tensor) -> tf.Tensor:
        """Cuts off what `add_tokens` added, from <float>[batch, extended seq, hidden]."""
        return output

    @classmethod
    def num_added_tokens(cls, config: AttentionConfig) -> int:
        """Returns how many tokens `add_tokens` puts before the others."""
        del config
        return 0

    @classmethod
    def saves_mask(cls, config: AttentionConfig) -> bool:
        """Returns whether training ends with a mask to be written to a file.

        Such a class has `restored(config, variables)`, which makes a pattern with the variables of
        a checkpoint, and `save_mask(path)`.
        """
        del config
        return False

    def checkpoint_variables(self) -> dict:
        """The pattern's own variables, by their names in checkpoints."""
        return {}

    def get_config(self):
        return super().get_config() | {
            "config": self.config.as_dict(),
            "num_heads": self.num_heads,
        }


class CopyOf(keras.initializers.Initializer):
    """Starts a kernel as a copy of another layer's."""

    def __init__(self, layer):
        self._layer = layer

    def __call__(self, shape, dtype=None, **kwargs):
        return tf.cast(tf.convert_to_tensor(self._layer.kernel), dtype or tf.float32)


class TableAttention(keras.layers.Layer):
    """Multi-head attention over a table; subclasses say in `attend` who attends to whom.

    Args:
        config: the variant's AttentionConfig.
        num_heads: number of heads.
        hidden_size: width of input and output, a multiple of `num_heads`.
        dropout_rate: dropout of the attention probabilities.
        softmax_temperature: divides the scores, beside the square root of the head size.
        initializer_range: standard deviation of the kernels' truncated normal initialisation.
        query_key_initializer_range: the same for query and key kernels; None = the same value.
        key_initialization: "independent", or "query": the key kernel starts as a copy of the
            query kernel, so that equal tokens attend to each other from the first step on.

    Attributes:
        head_types: `mate.HeadType`s, for variants whose heads are row heads and column heads.
    """

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
        self.dropout = keras.layers.Dropout(dropout_rate)

    def build(self, input_shape):
        for layer in (self.query, self.key, self.value, self.output_projection):
            build_child(layer, [None, self.hidden_size])
        super().build(input_shape)

    def call(self, x: tf.Tensor, pattern: dict, training=None) -> tf.Tensor:
        """x -> y, <float>[batch, seq, hidden] both."""
        query, key, value = self.project(x, self.query, self.key, self.value)
        return self.project_back(self.attend(query, key, value, pattern, training))

    def project(self, x: tf.Tensor, *layers) -> list[tf.Tensor]:
        """x through each of the Dense `layers`: <float>[batch, seq, heads, head_size] each."""
        batch, seq, hidden = shape_list(x)
        # Matrices, not [batch, seq, hidden]: only then TensorFlow fuses product and bias.
        flat = tf.reshape(x, [-1, hidden])
        heads = [batch, seq, self.num_heads, self.head_size]
        return [tf.reshape(layer(flat), heads) for layer in layers]

    def project_back(self, context: tf.Tensor) -> tf.Tensor:
        """What `attend` gave to <float>[batch, seq, hidden]."""
        batch, seq, _, _ = shape_list(context)
        y = self.output_projection(tf.reshape(context, [-1, self.hidden_size]))
        return tf.reshape(y, [batch, seq, self.hidden_size])

    def attend(self, query, key, value, pattern: dict, training=None) -> tf.Tensor:
        """Weighted sums of values, <float>[batch, seq, heads, head_size] like the arguments.

        Args:
            query: <float>[batch, seq, heads, head_size].
            key: <float>[batch, seq, heads, head_size].
            value: <float>[batch, seq, heads, head_size].
            pattern: what the variant's AttentionPattern returned.
            training: whether dropout is on.
        """
        raise NotImplementedError

    def scale(self, dtype) -> tf.Tensor:
        """What products of queries and keys are multiplied with."""
        return tf.cast(self.head_size**-0.5 / self.softmax_temperature, dtype)

    def mask(self, x: tf.Tensor, pattern: dict) -> tf.Tensor | None:
        """The pairs that attend, where this depends on the content x and not on the pattern alone.

        Returns:
            <bool>[batch, heads, seq, seq], query before key; None: the pattern's `mask` says it.
        """
        return None

    def scores(self, x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """How much each token attends to each other one, for analysis: quadratic in the length.

        A softmax over the pairs of `mask`, written out. With the variant's own mask these are the
        weights of the values in all variants that compare queries with keys, whichever way they
        compute it; `mate_tf.analysis.attention.flow` finds out which those are.

        Args:
            x: <float>[batch, seq, hidden], what the layer gets.
            mask: <bool>[batch, 1 or heads, 1 or seq, seq], as `mask` of the layer or, if that
                gives None, of the pattern has it.

        Returns:
            <float>[batch, heads, queries, keys]; zero for a query without keys.
        """
        query, key = self.project(x, self.query, self.key)
        scores = tf.einsum("bqhd,bkhd->bhqk", query, key) * self.scale(query.dtype)
        probabilities = tf.nn.softmax(scores + mask_bias(mask, scores.dtype))
        return probabilities * tf.cast(mask, probabilities.dtype)

    def checkpoint_variables(self) -> dict:
        """Variables beyond the four projections, by their names in checkpoints."""
        return {}

    @classmethod
    def flops(
        cls, config: AttentionConfig, num_heads: int, hidden_size: int, length: int
    ) -> float | None:
        """Returns the FLOPs of the matrix products of one layer's attention for one example.

        The four projections are left out. A multiplication and an addition are two.

        Args:
            config: the variant's AttentionConfig.
            num_heads: number of heads.
            hidden_size: width of the layer.
            length: tokens of the example, without those that the variant adds.

        Returns:
            None if the variant has no formula.
        """
        del config, num_heads, hidden_size, length
        return None

    @classmethod
    def tree_height(cls, config: AttentionConfig) -> int | None:
        """Returns the levels of decisions in the trees of a layer; None: it has no trees."""
        del config
        return None

    @classmethod
    def with_tree_height(cls, config: AttentionConfig, height: int) -> AttentionConfig:
        """Returns the config of the same layer with the upper `height` levels of its trees."""
        raise NotImplementedError

    def grown_variables(self) -> dict[str, dict[int, float]]:
        """Returns which variables a smaller layer's values are the beginning of, on axis 1.

        A checkpoint of a smaller layer is loaded by this: its values go to the beginning of the
        variable, and the rest keeps its initial values.

        Returns:
            name, as in `checkpoint_variables` -> {length of axis 1 in a smaller layer: factor by
            which the stored values are multiplied}.
        """
        return {}

    def logged_variables(self) -> dict[str, list[tf.Variable]]:
        """Returns groups of variables whose gradient norms are logged, by the group's name."""
        return {}

    def logged_values(self, x: tf.Tensor, real: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns what else training logs of this layer (`training.layer_log`), by name.

        Args:
            x: <float>[batch, seq, hidden], the input of the layer.
            real: <bool>[batch, seq], the padding mask.

        Returns:
            numbers and vectors.
        """
        del x, real
        return {}

    def softmax_attention(self, query, key, value, bias, training=None, seed=None) -> tf.Tensor:
        """Two matrix products with a softmax between: softmax(scale query key^T + bias) value.

        Args:
            query: <float>[batch, heads, queries, head_size].
            key: <float>[batch, heads, keys, head_size].
            value: <float>[batch, heads, keys, head_size].
            bias: <float>[batch, 1, 1 or queries, keys].
            training: whether dropout is on.
            seed: <int32>[2], of a dropout that is the same each time; None: another each time.

        Returns:
            <float>[batch, heads, queries, head_size]
        """
        # On CPU the product, the scale and a bias of rank 4 run as one fused operation.
        scores = tf.matmul(query, key, transpose_b=True) * self.scale(query.dtype) + bias
        probabilities = tf.nn.softmax(scores)
        if seed is None:
            probabilities = self.dropout(probabilities, training=training)
        elif training and self.dropout_rate:
            rate = self.dropout_rate
            probabilities = tf.nn.experimental.stateless_dropout(probabilities, rate, seed)
        return tf.matmul(probabilities, value)

    def drop_keys(self, value: tf.Tensor, training=None) -> tf.Tensor:
        """Dropout where there are no probabilities: whole keys, the same ones for all queries.

        Args:
            value: <float>[batch, seq, heads, head_size].
            training: whether dropout is on.
        """
        if not (self.dropout_rate and training):
            return value
        return value * self.dropout(tf.ones_like(value[..., :1]), training=training)

    def get_config(self):
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
        name: what AttentionConfig.name selects it by.
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
    """Makes a variant known under `name`; `options` is a dataclass with typed defaults."""
    register_options(name, options)
    _VARIANTS[name] = Variant(name, pattern, attention)


def get(name: str) -> Variant:
    """The variant registered under `name`; InputError listing the known names if there is none."""
    if name not in _VARIANTS:
        raise InputError(f"unknown attention {name!r}; known are {', '.join(names())}")
    return _VARIANTS[name]


def names() -> list[str]:
    """Names of all registered variants, sorted."""
    return sorted(_VARIANTS)
