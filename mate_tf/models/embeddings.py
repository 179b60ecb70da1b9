"""Token embeddings of TAPAS: words, positions (optionally per cell) and seven token types."""

from typing import Any

import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.layers.layer_norm import LayerNorm
from mate_tf.layers.shapes import build_child, shape_list
from mate_tf.layers.step_seeds import Dropout
from mate_tf.models.encoder_config import EncoderConfig

_MAX_COLUMNS = 2**15  # columns of a packed example; keeps cells of different examples distinct


def positions_in_cell(
    column_ids: tf.Tensor, row_ids: tf.Tensor, starts: tf.Tensor | int = 0
) -> tf.Tensor:
    """Computes the distance of each token from the first token with the same column and row.

    The question, [SEP] and padding share the cell (0, 0), so padding keeps its absolute position
    (MATE paper, section 3.2). The cost is one sort of the sequence.

    Args:
        column_ids: <int32>[batch, seq].
        row_ids: <int32>[batch, seq].
        starts: <int32>[batch, seq], start of each token's example in a packed sequence. Tokens of
            different examples never share a cell.

    Returns:
        <int32>[batch, seq].
    """
    batch, seq = shape_list(column_ids)
    column = tf.cast(column_ids, tf.int64) + tf.cast(starts, tf.int64) * _MAX_COLUMNS
    cell = column * 2**32 + tf.cast(row_ids, tf.int64)
    # [batch, seq]: indices of the tokens, sorted by cell
    order = tf.argsort(cell, axis=-1, stable=True)
    ordered = tf.gather(cell, order, axis=1, batch_dims=1)
    changes = tf.cast(ordered[:, 1:] != ordered[:, :-1], tf.int32)
    # Number of each token's cell in this order; all cells of the batch have different numbers.
    number = tf.pad(tf.cumsum(changes, axis=1), [[0, 0], [1, 0]])
    number += tf.range(batch)[:, None] * seq
    # [batch * seq]: index of the first token of each cell
    first = tf.math.unsorted_segment_min(order, number, batch * seq)
    in_order = order - tf.gather(first, number)
    # [batch, seq] in the order of the cells -> [batch, seq] in the order of the tokens
    back = tf.argsort(order, axis=-1)
    return tf.gather(in_order, back, axis=1, batch_dims=1)


class TableEmbeddings(keras.layers.Layer):
    """Sum of word, position and token type embeddings, normalized, with dropout.

    A token type id outside its table adds zero, as in TAPAS (ranks may exceed their table).
    """

    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.config = config
        self.type_names = [
            (index, name)
            for index, name in enumerate(feature_names.TOKEN_TYPES)
            if name not in config.disabled_features
        ]
        self.LayerNorm = LayerNorm(config.layer_norm_epsilon, name="LayerNorm")
        self.dropout = Dropout(config.hidden_dropout_prob)

    def build(self, input_shape=None):
        """Creates the embedding tables."""
        config = self.config
        self.word_embeddings = self._table(
            "word_embeddings", config.vocab_size, config.word_embedding_scale
        )
        self.position_embeddings: Any = None
        if not config.disable_position_embeddings:
            self.position_embeddings = self._table(
                "position_embeddings", config.max_position_embeddings
            )
        self.token_type_embeddings = [
            self._table(f"token_type_embeddings_{index}", config.type_vocab_sizes[index])
            for index, _ in self.type_names
        ]
        build_child(self.LayerNorm, [None, None, config.hidden_size])
        super().build(input_shape)

    def _table(self, name: str, size: int, scale: float = 1.0):
        # Without autocast only the gathered rows are cast, not the whole table at each step.
        return self.add_weight(
            name=name,
            shape=[size, self.config.hidden_size],
            initializer=keras.initializers.TruncatedNormal(
                stddev=self.config.initializer_range * scale
            ),
            experimental_autocast=False,
        )

    def call(self, features: dict, training=None) -> tf.Tensor:
        """Embeds tokens.

        Args:
            features: dict of <int32>[batch, seq], named as in data/features.py. With `starts`
                (packed sequences), positions count from the start of each example.

        Returns:
            <float>[batch, seq, hidden].

        Raises:
            InputError: if there are more tokens than position embeddings, and positions do not
                restart in each cell.
        """
        input_ids = features["input_ids"]
        # [vocab, hidden], [batch, seq] -> [batch, seq, hidden]
        parts = [tf.gather(self.word_embeddings, input_ids)]
        if self.position_embeddings is not None:
            parts.append(self._positions(features))
        for (_, name), table in zip(self.type_names, self.token_type_embeddings, strict=True):
            size = table.shape[0]
            ids = features[name]
            ids = tf.where((ids >= 0) & (ids < size), ids, size)
            # [size + 1, hidden], [batch, seq] -> [batch, seq, hidden]; the last row is zero
            parts.append(tf.gather(tf.pad(table, [[0, 1], [0, 0]]), ids))
        total = tf.cast(tf.add_n(parts), self.compute_dtype)
        return self.dropout(self.LayerNorm(total), training=training)

    def _positions(self, features):
        """Returns position embeddings, <float>[batch or 1, seq, hidden]."""
        limit = self.config.max_position_embeddings
        if self.config.reset_position_index_per_cell:
            positions = positions_in_cell(
                features["column_ids"], features["row_ids"], features.get("starts", 0)
            )
            return tf.gather(self.position_embeddings, tf.minimum(positions, limit - 1))
        batch, seq = shape_list(features["input_ids"])
        if isinstance(seq, int) and seq > limit:
            raise InputError(
                f"{seq} tokens exceed max_position_embeddings={limit}; "
                "set reset_position_index_per_cell to go beyond"
            )
        if "starts" in features:
            return tf.gather(self.position_embeddings, tf.range(seq) - features["starts"])
        return tf.broadcast_to(
            self.position_embeddings[:seq], [batch, seq, self.config.hidden_size]
        )

    def repeated_variables(self) -> list:
        """Returns the tables that start as copies of a checkpoint's, if that has fewer rows.

        A model with four types of prev_label_ids (`mark_previous` of the ConversionConfig) can
        start from one with two: the types of the previous answer begin as those without it.
        """
        names = [name for _, name in self.type_names]
        tables = [
            table
            for name, table in zip(names, self.token_type_embeddings, strict=True)
            if name == "prev_label_ids"
        ]
        repeats = self.config.repeat_positions and self.position_embeddings is not None
        return [*tables, self.position_embeddings] if repeats else tables

    def checkpoint_variables(self) -> dict:
        """Returns name in TAPAS's checkpoints, below bert/ -> variable."""
        variables = {
            "word_embeddings": self.word_embeddings,
            "LayerNorm/gamma": self.LayerNorm.gamma,
            "LayerNorm/beta": self.LayerNorm.beta,
        }
        if self.position_embeddings is not None:
            variables["position_embeddings"] = self.position_embeddings
        for (index, _), table in zip(self.type_names, self.token_type_embeddings, strict=True):
            variables[f"token_type_embeddings_{index}"] = table
        return {f"embeddings/{name}": variable for name, variable in variables.items()}

    def get_config(self):
        """Returns the config for Keras's serialization."""
        return super().get_config() | {"config": self.config.as_dict()}

    @classmethod
    def from_config(cls, config):
        """Builds a layer from the result of `get_config`."""
        return cls(**config | {"config": EncoderConfig(config["config"])})
