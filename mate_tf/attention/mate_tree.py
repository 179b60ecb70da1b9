"""MATE's row heads beside Treeformer's TF-Attention: rows by the table, all else by content.

Neither paper has this variant. A row is short, and the table gives it: MATE's row heads compute it
in linear time. A column of a long table is longer than any window. Here the heads that are column
heads in MATE have decision trees instead, which find related tokens at any distance.
"""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention import masks, mate
from mate_tf.attention.base import AttentionPattern
from mate_tf.attention.tree import TreePattern, TreeTensors
from mate_tf.attention.tree_fine import TreeFine, TreeFineOptions
from mate_tf.errors import InputError


@dataclasses.dataclass(frozen=True)
class MateTreeOptions(TreeFineOptions):
    """Options of `mate_tree`: those of `tree_fine`, and those of MATE for row heads.

    Attributes:
        global_length: G of the row heads.
        radius: R of the row heads.
        row_heads_ratio: share of row heads, rounded down; they come first, the others have trees.
    """

    global_length: int = 116
    radius: int = 42
    row_heads_ratio: float = 0.5


def row_heads(config, num_heads: int) -> mate.HeadType:
    """Returns the row heads; all heads behind them have trees.

    Raises:
        InputError: an option of MATE out of range, or no heads of one kind.
    """
    of_ids = {kind.ids: kind for kind in mate.head_types(config, num_heads)}
    if len(of_ids) < 2:
        raise InputError(
            f"mate_tree needs row heads and heads with trees, but row_heads_ratio="
            f"{config.row_heads_ratio} makes {'all' if 'row_ids' in of_ids else 'none'} of "
            f"{num_heads} heads row heads; that is mate_efficient or tree_fine"
        )
    return of_ids["row_ids"]


class MateTreeTensors(NamedTuple):
    """Tensors of `MateTreePattern`.

    Attributes:
        rows: MateTensors of the row heads.
        trees: TreeTensors of the heads with trees.
    """

    rows: mate.MateTensors
    trees: TreeTensors


class RowHeadsPattern(mate.MateEfficientPattern):
    """Pattern of `mate_efficient` for the row heads only."""

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.head_types = [row_heads(self.config, num_heads)]


class MateTreePattern(AttentionPattern):
    """Pattern of row heads and of heads with trees."""

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.rows = RowHeadsPattern(config, num_heads, name="rows")
        self.trees = TreePattern(config, num_heads, name="trees")

    def call(self, context, training=None):
        return MateTreeTensors(self.rows(context), self.trees(context))

    def mask(self, context):
        """Computes all pairs of row heads, and all that could share a leaf; see `MateTree.mask`."""
        # [batch, heads, queries, keys]
        by_row = self.rows.mask(context)
        by_leaf = tf.broadcast_to(self.trees.mask(context), tf.shape(by_row[:, :1]))
        return tf.concat([by_row, tf.repeat(by_leaf, self.num_heads - by_row.shape[1], 1)], axis=1)


class MateTree(mate.MateEfficient, TreeFine):
    """Attention of each head as in `mate_efficient` or as in `tree_fine`.

    In row heads, tokens attend to the question and their row, and the question to everything,
    within G and R. In heads with trees, queries attend to the keys of their leaf in the whole
    sequence, and to the question tokens in that leaf. The whole question reaches each token through
    the row heads.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.head_types = [row_heads(self.config, num_heads)]

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Returns None: the number of keys in a leaf depends on the content."""
        return None

    @property
    def first_tree_head(self):
        """Index of the first head with trees; the heads before it are row heads."""
        return row_heads(self.config, self.num_heads).count

    def attend(self, query, key, value, pattern, training=None):
        projections = (query, key, value)
        by_row = mate.MateEfficient.attend(self, *projections, pattern.rows, training)
        of_trees = (x[:, :, self.first_tree_head :] for x in projections)
        by_leaf = TreeFine.attend(self, *of_trees, pattern.trees, training)
        # [batch, seq, heads, head_size]
        return tf.concat([by_row, by_leaf], axis=2)

    def mask(self, x, pattern):
        if pattern.rows.buckets is None:
            (bias,) = pattern.rows.biases
            by_row = bias == 0
        else:
            (part,) = pattern.rows.buckets.head_types
            by_row = masks.visible(part.tokens)[:, None]
        # [batch, heads, queries, keys]
        by_row = tf.repeat(by_row, self.first_tree_head, axis=1)
        return tf.concat([by_row, TreeFine.mask(self, x, pattern.trees)], axis=1)
