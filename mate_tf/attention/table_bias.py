"""TableFormer: a learned number for each relation of two tokens, added to the score of the pair.

(Yang et al., 2022; google-research/tapas has it as restrict_attention_mode "table_attention".) A
relation tells whether two tokens share a row or a column, and not which one. With row and column
ids disabled and positions reset per cell, the order of rows and columns has no influence.
"""

import dataclasses
import enum
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.full import FullOptions, FullPattern, MaskedAttention, MaskTensors
from mate_tf.errors import InputError
from mate_tf.field_types import CountOrZero
from mate_tf.layers.shapes import shape_list


class Relation(enum.IntEnum):
    """Relation from a query to a key (TableFormer, section 3.2). Exactly one holds for a pair."""

    NONE = 0
    CELL_TO_ROW = 1
    CELL_TO_COLUMN = 2
    SAME_CELL = 3
    CELL_TO_HEADER = 4
    CELL_TO_QUESTION = 5
    HEADER_TO_COLUMN = 6
    HEADER_TO_HEADER = 7
    SAME_HEADER = 8
    HEADER_TO_QUESTION = 9
    QUESTION_TO_CELL = 10
    QUESTION_TO_HEADER = 11
    QUESTION_TO_QUESTION = 12


RELATIONS = (
    "none",
    "cell to cell of its row",
    "cell to cell of its column",
    "within a cell",
    "cell to its header",
    "cell to question",
    "header to cell of its column",
    "header to other header",
    "within a header",
    "header to question",
    "question to cell",
    "question to header",
    "within the question",
)
"""Descriptions of the relations, in the order of `Relation`."""


@dataclasses.dataclass(frozen=True)
class TableBiasOptions(FullOptions):
    """Options of `table_bias`.

    Attributes:
        disabled_relation: number of a `Relation` that is replaced by NONE; 0 disables no relation
            (attention_bias_disabled of google-research/tapas).
    """

    disabled_relation: CountOrZero = 0


class TableBiasTensors(NamedTuple):
    """Tensors of `TableBiasPattern`: those of MaskTensors, and the relations.

    Attributes:
        bias: <float>[batch, 1, 1 or queries, keys], 0 for allowed pairs.
        any_key: <float>[batch, 1 or queries, 1, 1], 0 for queries without keys.
        relations: <float>[batch, relations, queries, keys], one-hot.
    """

    bias: tf.Tensor
    any_key: tf.Tensor
    relations: tf.Tensor


class TableBiasPattern(FullPattern):
    """Pattern of full attention with the relations of all pairs.

    Raises:
        InputError: disabled_relation is not the number of a relation.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        if not 0 <= self.config.disabled_relation < len(Relation):
            raise InputError(
                f"disabled_relation must be between 0 and {len(Relation) - 1}, "
                f"not {self.config.disabled_relation}"
            )

    def call(self, context, training=None):
        result = relations(context, self.config.disabled_relation)
        one_hot = tf.one_hot(result, len(Relation), axis=1, dtype=self.compute_dtype)
        return TableBiasTensors(*super().call(context), one_hot)


class TableBias(MaskedAttention):
    """Full attention with a bias for each relation and head; quadratic in the length.

    Variables: relative_bias_table <float32>[relations, heads], starting at zero.
    """

    has_pair_probabilities = False

    def build(self, input_shape):
        self.relative_bias_table = self.add_weight(
            "relative_bias_table", [len(Relation), self.num_heads], initializer="zeros"
        )
        super().build(input_shape)

    def checkpoint_variables(self):
        return {"relative_bias_table": self.relative_bias_table}

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Counts the FLOPs of all pairs and of the product that gives the biases of relations."""
        pairs = super().flops(config, num_heads, hidden_size, length)
        return pairs + 2 * len(RELATIONS) * num_heads * length**2

    def attend(self, query, key, value, pattern: TableBiasTensors, training=None):
        one_hot = pattern.relations
        batch, count, seq, _ = shape_list(one_hot)
        table = tf.cast(self.relative_bias_table, one_hot.dtype)
        # [relations, heads], [batch, relations, queries * keys] -> [batch, heads, queries * keys];
        # a matmul because the gradient of a look-up is slow
        bias = tf.matmul(table, tf.reshape(one_hot, [batch, count, seq * seq]), transpose_a=True)
        bias = tf.reshape(bias, [batch, self.num_heads, seq, seq])
        tensors = MaskTensors(pattern.bias + bias, pattern.any_key)
        return super().attend(query, key, value, tensors, training)


def relations(context, disabled: int = Relation.NONE) -> tf.Tensor:
    """Computes the `Relation` from each query to each key, <int32>[batch, queries, keys].

    Args:
        disabled: number of a relation that is replaced by NONE.
    """
    real = masks.real_tokens(context)
    question, header = masks.question_tokens(context), context.row_ids == 0
    # [batch, queries, keys]
    same_row, same_column = (
        ids[:, :, None] == ids[:, None, :] for ids in (context.row_ids, context.column_ids)
    )
    of_cell = _choose(
        [question[:, None], Relation.CELL_TO_QUESTION],
        [same_row & same_column, Relation.SAME_CELL],
        [same_row, Relation.CELL_TO_ROW],
        [same_column & header[:, None], Relation.CELL_TO_HEADER],
        [same_column, Relation.CELL_TO_COLUMN],
    )
    of_header = _choose(
        [question[:, None], Relation.HEADER_TO_QUESTION],
        [same_row & same_column, Relation.SAME_HEADER],
        [same_row, Relation.HEADER_TO_HEADER],
        [same_column, Relation.HEADER_TO_COLUMN],
    )
    of_question = _choose(
        [question[:, None], Relation.QUESTION_TO_QUESTION],
        [header[:, None], Relation.QUESTION_TO_HEADER],
        otherwise=Relation.QUESTION_TO_CELL,
    )
    result = _choose(
        [~(real[:, :, None] & real[:, None, :]), Relation.NONE],
        [question[:, :, None], of_question],
        [header[:, :, None], of_header],
        otherwise=of_cell,
    )
    return tf.where(result == int(disabled), int(Relation.NONE), result)


def _choose(*cases, otherwise: tf.Tensor | Relation = Relation.NONE):
    """Returns the value of the first case with a true condition, pair by pair."""
    chosen = _plain(otherwise)
    for condition, value in reversed(cases):
        chosen = tf.where(condition, _plain(value), chosen)
    return chosen


def _plain(value):
    """Returns a Relation as an int, which TensorFlow converts; tensors as they are."""
    return int(value) if isinstance(value, Relation) else value
