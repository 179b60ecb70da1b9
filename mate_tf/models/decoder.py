"""Transformer decoder: causal self-attention, cross-attention to an encoder, feed-forward network.

The layers are those of BERT's encoder with a cross-attention in between (Rothe et al., 2020), with
layer norm after each residual connection. Shapes: batch; target, tokens of the decoder; source,
tokens of the encoder; heads; head_size; hidden = heads * head_size. A hypothesis is a target that
is being generated; batch examples have `batch * beam` of them.
"""

from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import AttentionConfig
from mate_tf.attention.mask_rows import mask_bias
from mate_tf.data.padding import real_tokens
from mate_tf.layers.framework import keras
from mate_tf.layers.layer_norm import LayerNorm
from mate_tf.layers.shapes import build_child, check_length, shape_list
from mate_tf.layers.step_seeds import Dropout
from mate_tf.models.encoder_block import EncoderBlock, attention_layer, attention_variables
from mate_tf.models.encoder_decoder_config import EncoderDecoderConfig

_CACHE_DTYPE = tf.float32  # tf-models' beam search takes no cache of another dtype than its scores


class Memory(NamedTuple):
    """Keys and values that one decoder layer attends to.

    Attributes:
        keys: <float>[batch, heads, keys, head_size].
        values: <float>[batch, heads, keys, head_size].
        bias: <float>[batch or 1, 1, 1 or target, keys], 0 for keys that may be attended to.
    """

    keys: tf.Tensor
    values: tf.Tensor
    bias: tf.Tensor


class DecoderBlock(EncoderBlock):
    """Layer of the decoder.

    Args:
        config: the EncoderConfig, for the sizes.
    """

    def __init__(self, config, **kwargs):
        dense = AttentionConfig(name="full")
        super().__init__(config, dense, **kwargs)
        self.cross_attention = attention_layer(config, dense, name="cross_attention")
        self.cross_attention_LayerNorm = LayerNorm(
            config.layer_norm_epsilon, name="cross_attention_LayerNorm"
        )

    def build(self, input_shape=None):
        hidden = self.config.hidden_size
        build_child(self.cross_attention, [None, None, hidden])
        build_child(self.cross_attention_LayerNorm, [None, hidden])
        super().build(input_shape)

    def call(self, x: tf.Tensor, bias: tf.Tensor, memory: Memory, training=None) -> tf.Tensor:
        """Applies the layer to whole targets.

        Args:
            x: <float>[batch, target, hidden].
            bias: <float>[1, 1, target, target], 0 for the pairs of the causal mask.
            memory: result of `memory` for the encoder's output.

        Returns:
            <float>[batch, target, hidden].
        """
        own = Memory(*_keys_and_values(self.attention, x), bias=bias)
        x = self._attend(self.attention, self.attention_LayerNorm, x, own, training)
        return self._rest(x, memory, training)

    def memory(self, encoded: tf.Tensor, bias: tf.Tensor) -> Memory:
        """Projects the encoder's output, once for all steps of a generation.

        Args:
            encoded: <float>[batch, source, hidden].
            bias: <float>[batch, 1, 1, source].
        """
        return Memory(*_keys_and_values(self.cross_attention, encoded), bias=bias)

    def step(self, x: tf.Tensor, index: tf.Tensor, cache: dict, memory: Memory):
        """Applies the layer to the next token of each hypothesis.

        All hypotheses of an example attend to the same memory, as if they were its queries. So the
        memory is neither repeated for them nor part of the cache.

        Args:
            x: <float>[batch * beam, 1, hidden].
            index: <int32>[], position of the token.
            cache: keys and values of the tokens before it, <float32>[batch * beam, heads, length,
                head_size] each.
            memory: result of `memory`.

        Returns:
            <float>[batch * beam, 1, hidden]; the cache with this token.
        """
        positions = tf.range(shape_list(cache["keys"])[2])
        new = dict(zip(cache, _keys_and_values(self.attention, x), strict=True))
        at_index = (positions == index)[:, None]
        cache = {
            name: tf.where(at_index, tf.cast(new[name], _CACHE_DTYPE), cache[name])
            for name in cache
        }
        bias = mask_bias(positions <= index, x.dtype)[None, None, None]
        own = Memory(tf.cast(cache["keys"], x.dtype), tf.cast(cache["values"], x.dtype), bias)
        x = self._attend(self.attention, self.attention_LayerNorm, x, own)
        # [batch * beam, 1, hidden] -> [batch, beam, hidden]
        y = tf.reshape(x, [shape_list(memory.keys)[0], -1, self.config.hidden_size])
        return tf.reshape(self._rest(y, memory), tf.shape(x)), cache

    def _rest(self, x, memory, training=None):
        """Applies cross-attention and feed-forward network, <float>[batch, queries, hidden]."""
        x = self._attend(self.cross_attention, self.cross_attention_LayerNorm, x, memory, training)
        batch, queries, hidden = shape_list(x)
        # [batch * queries, hidden]: TensorFlow fuses matmul, bias and activation for matrices only
        y = self.apply_feed_forward(tf.reshape(x, [-1, hidden]), training)
        return tf.reshape(y, [batch, queries, hidden])

    def _attend(self, layer, norm, x, memory, training=None):
        """Applies attention, its residual connection and norm, <float>[batch, queries, hidden]."""
        [query] = layer.project(x, layer.query)
        context = layer.softmax_attention(_swap_heads(query), *memory, training)
        y = layer.project_back(_swap_heads(context))
        return norm(x + self.dropout(y, training=training))

    def checkpoint_variables(self) -> dict:
        """Returns name in Hugging Face's BERT decoders, with slashes -> variable."""
        cross = self.cross_attention, self.cross_attention_LayerNorm
        return super().checkpoint_variables() | attention_variables("crossattention", *cross)

    def variables_of_encoder(self) -> dict:
        """Returns those variables that a layer of the encoder has too, by the same names."""
        return super().checkpoint_variables()

    def get_config(self):
        config = super().get_config()
        del config["attention_config"]
        return config


def _keys_and_values(layer, x):
    """Returns two <float>[batch, heads, seq, head_size] of <float>[batch, seq, hidden]."""
    return [_swap_heads(part) for part in layer.project(x, layer.key, layer.value)]


def _swap_heads(x):
    """Swaps axes, [batch, seq, heads, head_size] <-> [batch, heads, seq, head_size]."""
    return tf.transpose(x, [0, 2, 1, 3])


class Decoder(keras.layers.Layer):
    """Embeddings, `DecoderBlock`s and logits. Each token attends to itself and those before."""

    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.config = config
        encoder = config.encoder
        self.embeddings_LayerNorm = LayerNorm(
            encoder.layer_norm_epsilon, name="embeddings_LayerNorm"
        )
        self.dropout = Dropout(encoder.hidden_dropout_prob)
        self.blocks = [
            DecoderBlock(encoder, name=f"blocks_{index}")
            for index in range(config.num_decoder_layers)
        ]

    def build(self, input_shape=None):
        """Creates the variables of embeddings, layers and output bias."""
        encoder = self.config.encoder
        normal = keras.initializers.TruncatedNormal(stddev=encoder.initializer_range)
        # Without autocast only the gathered rows are cast, not the whole table at each step.
        self.position_embeddings = self.add_weight(
            "position_embeddings",
            [self.config.max_target_positions, encoder.hidden_size],
            initializer=normal,
            experimental_autocast=False,
        )
        build_child(self.embeddings_LayerNorm, [None, None, encoder.hidden_size])
        for block in self.blocks:
            build_child(block, [None, None, encoder.hidden_size])
        self.output_bias = self.add_weight(
            "output_bias", [encoder.vocab_size], initializer="zeros", experimental_autocast=False
        )
        super().build(input_shape)

    def memories(self, encoded: tf.Tensor, input_mask: tf.Tensor) -> list[Memory]:
        """Returns the `Memory` of each layer.

        Args:
            encoded: <float>[batch, source, hidden], output of the encoder.
            input_mask: <int32>[batch, source], 0 for padding.
        """
        encoded = tf.cast(encoded, self.compute_dtype)
        bias = mask_bias(real_tokens(input_mask), encoded.dtype)[:, None, None]
        return [block.memory(encoded, bias) for block in self.blocks]

    def call(self, ids: tf.Tensor, memories, word_embeddings, training=None) -> tf.Tensor:
        """Decodes whole targets.

        Args:
            ids: <int32>[batch, target], [CLS] and the tokens after it. Padding must be at the end.
            memories: result of `memories`.
            word_embeddings: <float32>[vocab, hidden].

        Returns:
            <float>[batch, target, hidden].

        Raises:
            InputError: if there are more tokens than positions.
        """
        target = shape_list(ids)[1]
        checked = check_length(
            target, self.config.max_target_positions, "max_target_positions: the decoder is"
        )
        with tf.control_dependencies([checked] if checked is not None else []):
            positions = self.position_embeddings[:target]
        x = self._embed(ids, positions, word_embeddings, training)
        causal = tf.linalg.band_part(tf.ones([target, target], tf.bool), -1, 0)
        bias = mask_bias(causal, x.dtype)[None, None]
        for block, memory in zip(self.blocks, memories, strict=True):
            x = block(x, bias, memory, training=training)
        return x

    def empty_cache(self, num_hypotheses, length: int) -> dict:
        """Returns the cache before the first step of `length`, for `step`.

        Args:
            num_hypotheses: int or <int32>[].
            length: number of steps.
        """
        encoder = self.config.encoder
        heads = encoder.num_attention_heads
        shape = [num_hypotheses, heads, length, encoder.hidden_size // heads]
        empty = {name: tf.zeros(shape, _CACHE_DTYPE) for name in ("keys", "values")}
        return {block.name: empty for block in self.blocks}

    def step(self, ids: tf.Tensor, index: tf.Tensor, cache: dict, memories, word_embeddings):
        """Decodes the next token of each hypothesis.

        Args:
            ids: <int32>[batch * beam], the token.
            index: <int32>[], its position.
            cache: result of `empty_cache`, or of the step before.
            memories: result of `memories`.
            word_embeddings: <float32>[vocab, hidden].

        Returns:
            <float>[batch * beam, hidden]; the cache with this token.
        """
        x = self._embed(ids[:, None], self.position_embeddings[index], word_embeddings)
        new = {}
        for block, memory in zip(self.blocks, memories, strict=True):
            x, new[block.name] = block.step(x, index, cache[block.name], memory)
        return x[:, 0], new

    def _embed(self, ids, positions, word_embeddings, training=None):
        """Returns <float>[batch, target, hidden] of <int32>[batch, target]."""
        # [vocab, hidden], [batch, target] -> [batch, target, hidden]
        total = tf.cast(tf.gather(word_embeddings, ids) + positions, self.compute_dtype)
        return self.dropout(self.embeddings_LayerNorm(total), training=training)

    def logits(self, x: tf.Tensor, word_embeddings) -> tf.Tensor:
        """Computes the logits of the next word, in float32 under every mixed precision policy.

        Args:
            x: <float>[tokens, hidden], outputs of `call` or `step`.
            word_embeddings: <float32>[vocab, hidden].

        Returns:
            <float32>[tokens, vocab].
        """
        # [tokens, hidden], [vocab, hidden] -> [tokens, vocab]
        scores = tf.matmul(tf.cast(x, tf.float32), word_embeddings, transpose_b=True)
        return scores + self.output_bias

    def checkpoint_variables(self) -> dict:
        """Returns name in checkpoints, below decoder/ -> variable."""
        variables = {
            "embeddings/position_embeddings": self.position_embeddings,
            "embeddings/LayerNorm/gamma": self.embeddings_LayerNorm.gamma,
            "embeddings/LayerNorm/beta": self.embeddings_LayerNorm.beta,
            "output_bias": self.output_bias,
        }
        for index, block in enumerate(self.blocks):
            for name, variable in block.checkpoint_variables().items():
                variables[f"layer_{index}/{name}"] = variable
        return {f"decoder/{name}": variable for name, variable in variables.items()}

    def get_config(self):
        """Returns the config for Keras's serialization."""
        return super().get_config() | {"config": self.config.as_dict()}

    @classmethod
    def from_config(cls, config):
        """Builds a layer from the result of `get_config`."""
        return cls(**config | {"config": EncoderDecoderConfig(config["config"])})
