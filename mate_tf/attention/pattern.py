"""AttentionPattern: the part of an attention variant that all layers of an encoder share."""

from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention.config import AttentionConfig
from mate_tf.attention.table_context import TableContext
from mate_tf.layers.framework import keras


class AttentionPattern(keras.layers.Layer):
    """Computes once a batch what all layers of an encoder share: masks, sorting, buckets.

    Subclasses define `call` and `mask`, and may define `checkpoint_variables` and the methods of
    `abilities`.

    Args:
        num_heads: heads of each attention layer.

    Attributes:
        packs: whether it accepts a packed context, and no example attends to another one in it.
        learns_importance: whether it learns how much pairs of tokens matter (`alpha`), so that an
            analysis shows that instead of the mask of one example.
        has_form_for_short_inputs: whether short inputs are faster in their own graph
            (`mate_forms.graph_for`).
    """

    packs = False
    learns_importance = False
    has_form_for_short_inputs = False

    def __init__(self, config: AttentionConfig, num_heads: int, **kwargs):
        super().__init__(**kwargs)
        self.config = AttentionConfig(config)
        self.num_heads = num_heads

    def call(self, context: TableContext, training=None) -> NamedTuple:
        """Computes the variant's tensors for the layers.

        Returns:
            A NamedTuple of tensors, of None and of further NamedTuples. Float tensors have the
            compute dtype.
        """
        raise NotImplementedError

    def mask(self, context: TableContext) -> tf.Tensor:
        """Computes the allowed pairs: <bool>[batch, 1 or heads, 1 or queries, keys]."""
        raise NotImplementedError

    def checkpoint_variables(self) -> dict:
        """Returns the pattern's own variables, by their names in checkpoints."""
        return {}

    def get_config(self):
        """Returns the constructor's arguments for Keras's serialization."""
        return super().get_config() | {
            "config": self.config.as_dict(),
            "num_heads": self.num_heads,
        }
