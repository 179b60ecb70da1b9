"""Inputs, patterns and masks of each layer of an encoder, for analysis."""

import dataclasses

import tensorflow as tf

from mate_tf.attention import abilities
from mate_tf.attention.base import AttentionPattern, TableAttention, TableContext


@dataclasses.dataclass(frozen=True)
class InspectedLayer:
    """The attention of one layer with its arguments for a batch.

    Attributes:
        attention: the attention layer.
        pattern: the AttentionPattern of the layer. Layers with equal configs share a pattern.
        state: tensors that the pattern computed for the batch.
        context: the TableContext, with the tokens that the pattern adds.
        x: <float>[batch, seq, hidden], input of the layer. The encoder's outputs do not contain
            the added tokens, so they are computed again from the other tokens, as before layer 1.
        seq: number of tokens without the added ones.
    """

    attention: TableAttention
    pattern: AttentionPattern
    state: dict
    context: TableContext
    x: tf.Tensor
    seq: int

    @property
    def content_mask(self) -> tf.Tensor | None:
        """Mask that depends on the content x, <bool>[batch, heads, seq, seq], or None."""
        if isinstance(self.attention, abilities.ChoosesPairs):
            return self.attention.mask(self.x, self.state)
        return None

    @property
    def mask(self) -> tf.Tensor:
        """Mask with the added tokens, <bool>[batch, 1 or heads, 1 or seq, seq]."""
        mask = self.content_mask
        return self.pattern.mask(self.context) if mask is None else mask


def layer_inputs(outputs: dict) -> list[tf.Tensor]:
    """Returns the input of each layer, <float>[batch, seq, hidden], from an encoder's outputs."""
    return [outputs["embedding_output"], *outputs["encoder_outputs"][:-1]]


def inspect(encoder, features: dict) -> list[InspectedLayer]:
    """Runs an encoder without dropout, and returns its layers with their arguments.

    Args:
        features: dict of <int32>[batch, seq], see `TableEncoder.call`.
    """
    context = TableContext.from_features(features).map(tf.convert_to_tensor)
    patterns = {pattern.config: pattern for pattern in encoder.patterns}
    result, shared = [], {}
    inputs = layer_inputs(encoder(features, training=False))
    for block, x in zip(encoder.blocks, inputs, strict=True):
        config = block.attention_config
        pattern, seq = patterns[config], x.shape[1]
        x = tf.cast(x, block.attention.compute_dtype)
        x, extended = abilities.add_tokens(pattern, x, context)
        if config not in shared:
            shared[config] = pattern(extended, training=False)
        result.append(InspectedLayer(block.attention, pattern, shared[config], extended, x, seq))
    return result
