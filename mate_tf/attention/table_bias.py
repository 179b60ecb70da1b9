"""TableFormer: a learned number for each relation of two tokens, added to the score of the pair.

(Yang et al., 2022; google-research/tapas has it as restrict_attention_mode "table_attention".) Of
rows and columns only that they are the same counts, not which ones they are: with row and column
ids disabled and positions reset per cell, the order of rows and columns has no influence.
"""

import dataclasses

import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import shape_list
from mate_tf.attention.full import FullOptions, FullPattern, MaskedAttention
from mate_tf.errors import InputError

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
"""From query to key; of every pair, exactly one holds (`relations`)."""


@dataclasses.dataclass(frozen=True)
class TableBiasOptions(FullOptions):
    """Options of `table_bias`.

    Attributes:
        disabled_relation: number of one of RELATIONS that counts as none; 0 disables none of them
            (attention_bias_disabled of google-research/tapas).
    """

    disabled_relation: int = 0


class TableBiasPattern(FullPattern):
    """Every token sees every real one; beside that the relations of all pairs.

    Raises:
        InputError: disabled_relation is not the number of a relation.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        if not 0 <= self.config.disabled_relation < len(RELATIONS):
            raise InputError(
                f"disabled_relation must be between 0 and {len(RELATIONS) - 1}, "
                f"not {self.config.disabled_relation}"
            )

    def call(self, context, training=None):
        found = relations(context, self.config.disabled_relation)
        one_hot = tf.one_hot(found, len(RELATIONS), axis=1, dtype=self.compute_dtype)
        return super().call(context) | {"relations": one_hot}


class TableBias(MaskedAttention):
    """Full attention, quadratic in the length, with a bias for each relation and head.

    Variables: relative_bias_table <float32>[relations, heads], starting at zero.
    """

    def build(self, input_shape):
        self.relative_bias_table = self.add_weight(
            "relative_bias_table", [len(RELATIONS), self.num_heads], initializer="zeros"
        )
        super().build(input_shape)

    def checkpoint_variables(self):
        return {"relative_bias_table": self.relative_bias_table}

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Those of all pairs, and the product that makes biases of relations."""
        pairs = super().flops(config, num_heads, hidden_size, length)
        return pairs + 2 * len(RELATIONS) * num_heads * length**2

    def attend(self, query, key, value, pattern, training=None):
        one_hot = pattern["relations"]
        batch, count, seq, _ = shape_list(one_hot)
        table = tf.cast(self.relative_bias_table, one_hot.dtype)
        # As a matrix product, since the gradient of looking numbers up is slow.
        bias = tf.matmul(table, tf.reshape(one_hot, [batch, count, seq * seq]), transpose_a=True)
        bias = tf.reshape(bias, [batch, self.num_heads, seq, seq])
        pattern = pattern | {"bias": pattern["bias"] + bias}
        return super().attend(query, key, value, pattern, training)


def relations(context, disabled: int = 0) -> tf.Tensor:
    """Which of RELATIONS holds from each query to each key, <int32>[batch, queries, keys].

    Args:
        context: the TableContext.
        disabled: a relation instead of which there is none.
    """
    real = masks.real_tokens(context)
    question, header = masks.question_tokens(context), context.row_ids == 0
    same_row, same_column = (
        ids[:, :, None] == ids[:, None, :] for ids in (context.row_ids, context.column_ids)
    )
    of_cell = _choose(
        [question[:, None], 5],
        [same_row & same_column, 3],
        [same_row, 1],
        [same_column & header[:, None], 4],
        [same_column, 2],
    )
    of_header = _choose(
        [question[:, None], 9],
        [same_row & same_column, 8],
        [same_row, 7],
        [same_column, 6],
    )
    of_question = _choose([question[:, None], 12], [header[:, None], 11], otherwise=10)
    found = _choose(
        [~(real[:, :, None] & real[:, None, :]), 0],
        [question[:, :, None], of_question],
        [header[:, :, None], of_header],
        otherwise=of_cell,
    )
    return tf.where(found == disabled, 0, found)


def _choose(*cases, otherwise=0):
    """The value of the first case whose condition holds."""
    chosen = otherwise
    for condition, value in reversed(cases):
        chosen = tf.where(condition, value, chosen)
    return chosen
