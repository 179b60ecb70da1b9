"""The layers of an encoder, without embeddings and pooler, as a function to measure.

All variants have the same layers and weights, except for the attention.
"""

import dataclasses

import numpy as np
import tensorflow as tf

from mate_tf import attention
from mate_tf.attention import abilities
from mate_tf.layers.precision import policy
from mate_tf.models.encoder_block import EncoderBlock
from mate_tf.models.encoder_config import EncoderConfig

QUESTION, COLUMNS, CELL = 20, 8, 4
"""Tokens of the question, columns of the table, tokens of a cell."""

"""Precision -> Keras's name of the policy."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A case to measure.

    Attributes:
        variant: name of the attention variant.
        length: number of tokens.
        precision: one of PRECISIONS.
        xla: whether XLA compiles it.
        training: measure a forward and backward pass instead of a forward pass.
    """

    variant: str
    length: int
    precision: str = "float32"
    xla: bool = False
    training: bool = False


def variant_config(config: EncoderConfig, name: str, length: int = 0) -> EncoderConfig:
    """Returns the config with another attention in all layers. Common options are kept.

    A variant with an option `length` gets at least this length.

    Raises:
        InputError: for an unknown name.
    """
    options = attention.AttentionConfig(config.attention_per_layer()[0])
    options.override({"name": name})
    if (options.get("length") or length) < length:
        options.override({"length": length})
    return EncoderConfig(config.as_dict() | {"attention": options.as_dict()})


def table_context(length: int) -> attention.TableContext:
    """Returns the context of a question and a table of `COLUMNS` columns, `CELL` tokens a cell."""
    position = np.arange(length) - QUESTION  # in the table
    row = np.where(position < 0, 0, position // (COLUMNS * CELL))
    column = np.where(position < 0, 0, position // CELL % COLUMNS + 1)
    arrays = (position >= 0, row, column, np.ones(length))
    return attention.TableContext(*(tf.constant(array[None], tf.int32) for array in arrays))


def inputs(config: EncoderConfig, length: int, precision: str = "float32"):
    """Returns (x, context): random <float>[1, length, hidden], and `table_context`."""
    x = tf.random.stateless_normal([1, length, config.hidden_size], [1, length])
    return tf.cast(x, precision), table_context(length)


def forward(config: EncoderConfig, precision: str = "float32", training: bool = False):
    """Builds layers and returns a function: (x, context) -> <float>[batch, seq, hidden].

    Raises:
        InputError: if an option of the attention is out of range.
    """
    with policy(precision):
        options = config.attention_per_layer()[0]
        pattern = attention.get(options.name).pattern(options, config.num_attention_heads)
        pattern.build(None)
        blocks = [
            EncoderBlock(config, options, name=f"blocks_{i}")
            for i in range(config.num_hidden_layers)
        ]
        for block in blocks:
            block.build()

    def run(x, context):
        x, context = abilities.add_tokens(pattern, x, context)
        shared = pattern(context, training=training)
        for block in blocks:
            x = block(x, shared, training=training)
        return abilities.remove_tokens(pattern, x)

    run.layers = [pattern, *blocks]
    return run


def function(config: EncoderConfig, case: Case):
    """Returns a tf.function of (x, context) that returns the output or, in training, gradients."""
    call = forward(config, case.precision, case.training)
    variables = [v for layer in call.layers for v in layer.trainable_variables]

    def step(x, context):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.cast(call(x, context), tf.float32)))
        gradients = tape.gradient(loss, variables)
        return [gradient for gradient in gradients if gradient is not None]

    measured = step if case.training else call
    return tf.function(measured, autograph=False, jit_compile=case.xla)
