"""DAM on tables: each head learns the relations of a table whose pairs it allows.

SparseBERT's learned masks (sections 3.1 and 4.1) have a parameter for each pair of positions. In
tables a position means little, and the relation of two tokens much. Here each head has one
parameter for each `Relation`, so a learned mask fits tables of any length. The heads of MATE are
two of these masks: row heads keep the cell, the row and the question; column heads keep the cell,
the column, its header and the question. `analysis.mate_from_relations` compares learned heads
with them.
"""

import dataclasses
import enum

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.full import MaskTensors
from mate_tf.attention.gumbel_mask import GumbelMaskOptions, GumbelMaskPattern
from mate_tf.layers.shapes import shape_list


class Relation(enum.IntEnum):
    """Relation of two tokens of an example; symmetric. Exactly one holds for every pair."""

    CELL = 0
    ROW = 1
    COLUMN = 2
    HEADER = 3
    QUESTION = 4
    ELSEWHERE = 5


CELL, ROW, COLUMN, HEADER, QUESTION, ELSEWHERE = Relation

RELATIONS = ("same cell", "same row", "same column", "header", "question", "elsewhere")
"""Names of the relations in outputs, in the order of `Relation`."""


@dataclasses.dataclass(frozen=True)
class RelationMaskOptions(GumbelMaskOptions):
    """Options of `relation_mask`, those of GumbelMaskOptions with the price of tables.

    Attributes:
        sparsity_weight: lambda, the price of each pair in the mask of each head: summed over the
            pairs of an example (equation 7), averaged over the batch; for "dam".
    """

    sparsity_weight: float = 1e-5


class RelationMaskPattern(GumbelMaskPattern):
    """Pattern that subtracts c (1 - M) from the scores; M is the importance P or a Gumbel mask.

    A Gumbel mask is drawn once a batch: the layers, the examples and all pairs of a relation share
    its noise. Outside of training, "dam" has the final mask, alpha > 0. No token attends to
    padding, and padding attends to nothing.

    Variables: alpha <float32>[heads, relations], in the order of `Relation`. With "dam" also step
    and pairs, <int64>[relations], 1 + the number of pairs of real tokens in training so far; they
    are the weights of the relations in the metric `sparsity`.

    Raises:
        InputError: an option out of range.
    """

    num_parameters = len(Relation)

    def build(self, input_shape=None):
        """Creates alpha and, if it learns a mask, the numbers of pairs of each relation."""
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
        """Computes P = sigmoid(alpha) (equation 3), <float32>[heads, relations]."""
        return tf.sigmoid(self.alpha).numpy()

    def final(self) -> tf.Tensor:
        """Returns alpha > 0, the relations in the final mask: <bool>[heads, relations]."""
        return self.alpha > 0

    def sparsity(self):
        pairs = tf.cast(self.pairs, tf.float32)
        kept = tf.linalg.matvec(tf.cast(self.final(), tf.float32), pairs)
        return 1 - tf.reduce_mean(kept) / tf.reduce_sum(pairs)

    def mask(self, context):
        """Returns the final mask for "dam", outside of training; all pairs for "importance"."""
        allowed = self._allowed(context)
        if not self.learns_mask:
            return allowed
        return (self._of_pairs(self.final(), _one_hot(context)) > 0) & allowed

    def call(self, context, training=None):
        if self.learns_mask and not training:
            return MaskTensors.from_mask(self.mask(context), self.compute_dtype)
        allowed, one_hot = self._allowed(context), _one_hot(context)
        if self.learns_mask:
            soft = self.draw()
            self._pay(soft, one_hot * tf.cast(allowed, tf.float32))
        else:
            soft = tf.sigmoid(self.alpha)
        pattern = MaskTensors.from_mask(allowed, self.compute_dtype)
        penalty = self.config.penalty * (1 - self._of_pairs(soft, one_hot))
        return pattern._replace(bias=pattern.bias - tf.cast(penalty, self.compute_dtype))

    def _pay(self, soft, one_hot):
        """Adds the price of the mask to the losses, and counts the pairs."""
        # [batch, relations, queries, keys] -> [batch, relations]; exact up to 4096^2 pairs
        pairs = tf.reduce_sum(one_hot, axis=[2, 3])
        paid = tf.reduce_mean(tf.matmul(pairs, soft, transpose_b=True), axis=0)
        self.add_loss(self.config.sparsity_weight * tf.reduce_sum(paid))
        self.pairs.assign_add(tf.reduce_sum(tf.cast(pairs, tf.int64), axis=0))

    def _of_pairs(self, x, one_hot):
        """Spreads the values of relations over pairs.

        It is a matrix product because the gradient of a look-up is slow.

        Args:
            x: [heads, relations].
            one_hot: <float32>[batch, relations, queries, keys].

        Returns:
            <float32>[batch, heads, queries, keys]
        """
        batch, count, seq, _ = shape_list(one_hot)
        # [heads, relations], [batch, relations, queries * keys] -> [batch, heads, queries * keys]
        of_pairs = tf.matmul(tf.cast(x, tf.float32), tf.reshape(one_hot, [batch, count, seq * seq]))
        return tf.reshape(of_pairs, [batch, self.num_heads, seq, seq])

    def _allowed(self, context):
        """Returns the pairs of real tokens, <bool>[batch, 1, queries, keys]."""
        allowed = masks.real_pairs(context)
        return allowed if self.config.diagonal else masks.without_diagonal(allowed)


def relations(context) -> tf.Tensor:
    """Computes the `Relation` of each pair of tokens.

    QUESTION: at least one of the two has segment 0. The others are between tokens of the table.
    CELL: both in one cell. HEADER: one is in the header of the other's column. ROW and COLUMN: in
    different cells of one row or column; cells of the header row are in one row. ELSEWHERE: none of
    these.

    Args:
        context: the TableContext.

    Returns:
        <int32>[batch, queries, keys], symmetric.
    """
    question = context.segment_ids == 0
    in_header = context.row_ids == 0
    same_row, same_column = _equal(context.row_ids), _equal(context.column_ids)
    header, column, elsewhere, cell, row = map(int, (HEADER, COLUMN, ELSEWHERE, CELL, ROW))
    found = tf.where(same_column, tf.where(_either(in_header), header, column), elsewhere)
    found = tf.where(same_row, tf.where(same_column, cell, row), found)
    return tf.where(_either(question), int(QUESTION), found)


def _one_hot(context):
    """Returns the relation of each pair as one-hot, <float32>[batch, relations, queries, keys]."""
    return tf.one_hot(relations(context), len(Relation), axis=1)


def _equal(ids):
    return ids[:, :, None] == ids[:, None, :]


def _either(tokens):
    return tokens[:, :, None] | tokens[:, None, :]
