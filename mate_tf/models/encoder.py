"""The table encoder: TAPAS's embeddings and BERT's layers with any attention variant."""

import functools
import math

import tensorflow as tf

from mate_tf import attention
from mate_tf.attention import abilities
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras, within_xla
from mate_tf.layers.shapes import build_child
from mate_tf.models import inspection
from mate_tf.models.configured import ConfiguredModel
from mate_tf.models.embeddings import TableEmbeddings
from mate_tf.models.encoder_block import EncoderBlock
from mate_tf.models.encoder_config import EncoderConfig
from mate_tf.models.packing import Packing
from mate_tf.models.pooling import pool

__all__ = ["EncoderConfig", "TableEncoder"]


class TableEncoder(ConfiguredModel):
    """Encodes a question and a table that are linearized into one sequence of tokens.

    Examples:
        >>> encoder = TableEncoder(EncoderConfig(num_hidden_layers=2))
        >>> encoder(features)["sequence_output"].shape
        [batch, seq, 768]

    Variables exist from construction on. The dtype policy is the global one at that time.

    Args:
        config: EncoderConfig, or a dict of its fields.

    Raises:
        InputError: if fields of the config contradict each other, several attention variants add
            tokens, or a variant does not support `pack`.
    """

    config_type = EncoderConfig

    def __init__(self, config: EncoderConfig, name="table_encoder", **kwargs):
        config = config if isinstance(config, EncoderConfig) else EncoderConfig(config)
        config.check()
        super().__init__(config, name, **kwargs)
        per_layer = config.attention_per_layer()
        distinct = config.distinct_attention()
        self._pattern_of_layer = [distinct.index(part) for part in per_layer]
        self.embeddings = TableEmbeddings(config, name="embeddings")
        self.patterns = [
            attention.get(part.name).pattern(
                part, config.num_attention_heads, name=config.pattern_name(index)
            )
            for index, part in enumerate(distinct)
        ]
        added = [abilities.num_added_tokens(type(each), each.config) for each in self.patterns]
        if sum(map(bool, added)) > 1:
            raise InputError("attention lists several variants that add their own tokens")
        for pattern, part in zip(self.patterns, distinct, strict=True):
            if config.pack and not pattern.packs:
                raise InputError(f"pack: attention {part.name!r} does not support packed examples")
        self.blocks = [
            EncoderBlock(config, part, name=f"blocks_{index}")
            for index, part in enumerate(per_layer)
        ]
        self.pooler = keras.layers.Dense(
            config.hidden_size,
            activation="tanh",
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=config.initializer_range),
            name="pooler",
        )
        with tf.name_scope(self.name):
            self.build(None)

    def build(self, input_shape=None):
        """Creates the variables of all layers."""
        hidden = self._config.hidden_size
        for part in (self.embeddings, *self.patterns):
            build_child(part, None)
        for block in self.blocks:
            build_child(block, [None, None, hidden])
        build_child(self.pooler, [None, hidden])
        self.built = True

    def call(self, features: dict, training=None) -> dict:
        """Encodes a batch.

        Args:
            features: dict of <int32>[batch, seq]: input_ids, input_mask and the token types
                (data/features.py) that are not disabled. Other features are ignored.

        Returns:
            dict with
            sequence_output: <float>[batch, seq, hidden], output of the last layer.
            pooled_output: <float>[batch, hidden], see `EncoderConfig.pooling`.
            encoder_outputs: list of <float>[batch, seq, hidden], outputs of all layers.
            embedding_output: <float>[batch, seq, hidden], input of the first layer.

        Raises:
            InputError: if a feature is missing, or there are more tokens than positions.
        """
        needed = {"input_ids", "input_mask", "segment_ids", "row_ids", "column_ids"}
        needed |= {name for _, name in self.embeddings.type_names}
        for name in sorted(needed):
            if name not in features:
                raise InputError(f"the encoder needs the feature {name!r}")
        features = {name: features[name] for name in sorted(needed)}
        own = attention.TableContext.from_features(features)
        embedding_output, *encoder_outputs = self._encode(features, own, training)
        sequence_output = encoder_outputs[-1] if encoder_outputs else embedding_output
        return {
            "sequence_output": sequence_output,
            "pooled_output": self.pooler(pool(sequence_output, own, self._config.pooling)),
            "encoder_outputs": encoder_outputs,
            "embedding_output": embedding_output,
        }

    def _encode(self, features, own, training):
        """Returns the embeddings and the outputs of all layers, packed on the way or not."""
        alone = functools.partial(self._layers, features, own, training)
        packed = functools.partial(self._packed_layers, features, own, training)
        if not self._config.pack:
            return alone()
        if not within_xla():
            return packed(Packing(features["input_mask"]))
        batch = features["input_mask"].shape[0]
        if batch is None or self._config.pack_share == 1:
            return alone()
        packing = Packing(features["input_mask"], math.ceil(batch * self._config.pack_share))
        return tf.cond(packing.fits, lambda: packed(packing), alone)

    def _packed_layers(self, features, own, training, packing):
        features = {name: packing.pack(ids) for name, ids in features.items()}
        features["starts"] = packing.starts
        context = attention.TableContext.from_features(features)
        context = context._replace(examples=packing.examples(own))
        return [packing.unpack(x) for x in self._layers(features, context, training)]

    def _layers(self, features, context, training):
        x = embedding_output = self.embeddings(features, training=training)
        for pattern in self.patterns:
            x, context = abilities.add_tokens(pattern, x, context)
        patterns = [pattern(context, training=training) for pattern in self.patterns]
        outputs = [embedding_output]
        for block, index in zip(self.blocks, self._pattern_of_layer, strict=True):
            x = block(x, patterns[index], training=training)
            outputs.append(self._without_added(x))
        return outputs

    def inspect(self, features: dict) -> list[inspection.InspectedLayer]:
        """Returns input, pattern and mask of each layer for a batch. Examples are not packed.

        Args:
            features: dict of <int32>[batch, seq], see `call`.
        """
        return inspection.inspect(self, features)

    def _without_added(self, x):
        for pattern in reversed(self.patterns):
            x = abilities.remove_tokens(pattern, x)
        return x

    def checkpoint_variables(self) -> dict:
        """Returns name in BERT's and TAPAS's checkpoints -> variable."""
        variables = self.embeddings.checkpoint_variables()
        for index, block in enumerate(self.blocks):
            for name, variable in block.checkpoint_variables().items():
                variables[f"encoder/layer_{index}/{name}"] = variable
        for index, pattern in enumerate(self.patterns):
            for name, variable in pattern.checkpoint_variables().items():
                variables[f"encoder/pattern_{index}/{name}"] = variable
        variables["pooler/dense/kernel"] = self.pooler.kernel
        variables["pooler/dense/bias"] = self.pooler.bias
        return {f"bert/{name}": variable for name, variable in variables.items()}
