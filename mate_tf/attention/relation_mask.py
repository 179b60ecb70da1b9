"""DAM on tables: each head learns which relations of a table it attends to.

SparseBERT's learned masks (sections 3.1 and 4.1) have a parameter for each pair of positions; in
tables, where a token stands says little, and how it stands to another one much. Here each head has
one parameter for each of RELATIONS, so that what is learned holds for every table of any length.
Heads of MATE are two of these masks: row heads keep the cell, the row and the question, column
heads the cell, the column, its header and the question. `analysis.mate_from_relations` tells which
of the two a learned head is like.
"""

import dataclasses

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import shape_list
from mate_tf.attention.drawn_mask import DrawnMaskOptions, DrawnMaskPattern

RELATIONS = ("same cell", "same row", "same column", "header", "question", "elsewhere")
"""How two tokens stand to each other; of every pair, exactly one holds (`relations`)."""

CELL, ROW, COLUMN, HEADER, QUESTION, ELSEWHERE = range(len(RELATIONS))
"""Their numbers."""


@dataclasses.dataclass(frozen=True)
class RelationMaskOptions(DrawnMaskOptions):
    """Options of `relation_mask`, those of DrawnMaskOptions with the price of tables.

    Attributes:
        sparsity_weight: lambda, the price of each pair in the mask of each head, added up over the
            pairs of an example (equation 7) and then the mean over the batch; of "dam".
    """

    sparsity_weight: float = 1e-5


class RelationMaskPattern(DrawnMaskPattern):
    """Makes of each head's parameters P or a drawn mask M, for scores minus c (1 - M).

    A drawn mask is of the batch: its noise is shared by the layers and the examples, and by all
    pairs of a relation. Outside of training "dam" has the final mask, alpha > 0. Padding is not
    seen and sees nothing.

    Variables: alpha <float32>[heads, relations], in the order of RELATIONS; with "dam", step and
    pairs, <int64>[relations], one more than the pairs of real tokens that training has seen. By
    these the metric `sparsity` weighs relations.

    Raises:
        InputError: an option out of range.
    """

    num_parameters = len(RELATIONS)

    def build(self, input_shape=None):
        if self.learns_mask:
            self.pairs = self.add_weight(
                name="pairs",
                shape=[self.num_parameters],
                dtype=tf.int64,
                initializer="ones",
                trainable=False,
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )
        super().build(input_shape)

    def checkpoint_variables(self):
        pairs = {"pairs": self.pairs} if self.learns_mask else {}
        return super().checkpoint_variables() | pairs

    def importance(self) -> np.ndarray:
        """P = sigmoid(alpha) (equation 3), <float32>[heads, relations]."""
        return tf.sigmoid(self.alpha).numpy()

    def final(self) -> tf.Tensor:
        """alpha > 0, what is in the mask in the end: <bool>[heads, relations]."""
        return self.alpha > 0

    def sparsity(self):
        pairs = tf.cast(self.pairs, tf.float32)
        kept = tf.linalg.matvec(tf.cast(self.final(), tf.float32), pairs)
        return 1 - tf.reduce_mean(kept) / tf.reduce_sum(pairs)

    def mask(self, context):
        """Final mask of "dam", outside of training; all pairs that there are of "importance"."""
        allowed = self._allowed(context)
        if not self.learns_mask:
            return allowed
        return (self._of_pairs(self.final(), _one_hot(context)) > 0) & allowed

    def call(self, context, training=None):
        if self.learns_mask and not training:
            return self.read_by_layers(self.mask(context))
        allowed, one_hot = self._allowed(context), _one_hot(context)
        if self.learns_mask:
            soft = self.draw()
            self._pay(soft, one_hot * tf.cast(allowed, tf.float32))
        else:
            soft = tf.sigmoid(self.alpha)
        pattern = self.read_by_layers(allowed)
        penalty = self.config.penalty * (1 - self._of_pairs(soft, one_hot))
        pattern["bias"] -= tf.cast(penalty, self.compute_dtype)
        return pattern

    def _pay(self, soft, one_hot):
        """Adds the price of the mask to the losses, and counts the pairs."""
        # <float32>[batch, relations]; exact up to 4096^2 pairs
        pairs = tf.reduce_sum(one_hot, axis=[2, 3])
        paid = tf.reduce_mean(tf.matmul(pairs, soft, transpose_b=True), axis=0)
        self.add_loss(self.config.sparsity_weight * tf.reduce_sum(paid))
        self.pairs.assign_add(tf.reduce_sum(tf.cast(pairs, tf.int64), axis=0))

    def _of_pairs(self, x, one_hot):
        """From relations to pairs: [heads, relations] -> <float32>[batch, heads, seq, seq].

        As a matrix product, since the gradient of looking numbers up is slow.
        """
        batch, count, seq, _ = shape_list(one_hot)
        of_pairs = tf.matmul(tf.cast(x, tf.float32), tf.reshape(one_hot, [batch, count, seq * seq]))
        return tf.reshape(of_pairs, [batch, self.num_heads, seq, seq])

    def _allowed(self, context):
        """<bool>[batch, 1, seq, seq]: pairs of real tokens, of others if there is no diagonal."""
        real = masks.real_tokens(context)
        allowed = real[:, None, :, None] & real[:, None, None, :]
        return allowed if self.config.diagonal else masks.without_diagonal(allowed)


def relations(context) -> tf.Tensor:
    """Which of RELATIONS holds between two tokens, <int32>[batch, seq, seq]; symmetric.

    "question": one of the two is of segment 0. The others are between tokens of the table: "same
    cell"; "header": the one is in the header of the other's column; "same row" and "same column":
    of another cell in it, cells of the header row being in the same row; and "elsewhere".
    """
    question = context.segment_ids == 0
    header = context.row_ids == 0
    same_row, same_column = _equal(context.row_ids), _equal(context.column_ids)
    found = tf.where(same_column, tf.where(_either(header), HEADER, COLUMN), ELSEWHERE)
    found = tf.where(same_row, tf.where(same_column, CELL, ROW), found)
    return tf.where(_either(question), QUESTION, found)


def _one_hot(context):
    """<float32>[batch, relations, seq, seq]"""
    return tf.one_hot(relations(context), len(RELATIONS), axis=1)


def _equal(ids):
    return ids[:, :, None] == ids[:, None, :]


def _either(tokens):
    return tokens[:, :, None] | tokens[:, None, :]
