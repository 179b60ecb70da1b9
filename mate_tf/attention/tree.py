"""Tree attention: options, pattern and trees of a layer, for `tree_fine` and `tree_coarse`."""

import dataclasses
from typing import Annotated, NamedTuple

import tensorflow as tf

from mate_tf.attention import decision_trees, masks
from mate_tf.attention.abilities import HasTrees, LogsValues
from mate_tf.attention.base import TableAttention
from mate_tf.attention.full import FullPattern
from mate_tf.field_types import Range
from mate_tf.layers.shapes import build_child


@dataclasses.dataclass(frozen=True)
class TreeOptions:
    """Options of both kinds of tree attention.

    Attributes:
        tree_height: height h of the binary trees, with 2^h leaves.
        branching: for k-ary trees instead, the children of a node at each level, e.g. [100, 10].
        train_trees: whether trees are trained. If not, queries and keys get no gradients through
            them, and training computes the same as inference.
    """

    tree_height: Annotated[int, Range(0, 20)] = 6
    branching: list[Annotated[int, Range(2, 1_000_000)]] | None = None
    train_trees: bool = True


class TreeTensors(NamedTuple):
    """Tensors of `TreePattern`: those of MaskTensors, and the real tokens.

    Attributes:
        bias: <float>[batch, 1, 1, keys], 0 for real keys.
        any_key: <float>[batch, 1, 1, 1], 0 for examples without real tokens.
        real: <bool>[batch, seq], tokens that are not padding.
    """

    bias: tf.Tensor
    any_key: tf.Tensor
    real: tf.Tensor


class TreePattern(FullPattern):
    """Pattern of the real tokens; the content of each layer decides the rest.

    Its `mask` has all pairs that could share a leaf, `TreeAttention.mask` the pairs that do.
    """

    packs = False

    def call(self, context, training=None):
        return TreeTensors(*super().call(context), masks.real_tokens(context))


class TreeAttention(HasTrees, LogsValues, TableAttention):
    """Attention with decision trees in its heads, the same for projected queries and keys.

    Attributes:
        tree: the DecisionTrees of the heads, with their variables.
        num_trees: trees of each head.
        scored_at_once: number of scores that are computed for every vector (see DecisionTrees).
    """

    num_trees = 1
    scored_at_once = 0

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.tree_shape = decision_trees.TreeShape.of(
            self.config.tree_height, self.config.branching
        )
        self.tree = decision_trees.DecisionTrees(
            self.tree_shape,
            num_heads,
            self.head_size,
            self.num_trees,
            self.scored_at_once,
            name="tree",
        )
        self.tree.trainable = self.config.train_trees

    def build(self, input_shape):
        """Creates the variables of the projections and of the trees."""
        build_child(self.tree, None)
        super().build(input_shape)

    def checkpoint_variables(self):
        return {"tree/kernel": self.tree.kernel, "tree/bias": self.tree.bias}

    @classmethod
    def tree_height(cls, config):
        return len(config.branching) if config.branching else config.tree_height

    @classmethod
    def with_tree_height(cls, config, height):
        if config.branching:
            return config.replace(branching=config.branching[:height])
        return config.replace(tree_height=height)

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        shape = decision_trees.TreeShape.of(config.tree_height, config.branching)
        return config.get("num_trees", 1) * cls.tree_flops(shape, length, hidden_size)

    @classmethod
    def tree_flops(
        cls, shape: decision_trees.TreeShape, length: int, hidden_size: int, at_once: bool = True
    ) -> float:
        """Returns the FLOPs of the decisions of one tree a head, for all queries and keys.

        A subclass adds what it does with the leaves.

        Args:
            shape: of the tree of each head.
            at_once: whether to count the nodes off the path that are scored here nevertheless.
        """
        scored = sum(level.scores for level in shape.levels)
        if at_once:
            first = shape.levels[: shape.levels_at_once(cls.scored_at_once)]
            scored += sum((level.nodes - 1) * level.scores for level in first)
        return 2 * 2 * length * hidden_size * scored

    def grown_variables(self):
        """Returns the variables of the trees. Scores are in level order from the root."""
        nodes = {level.first: 1.0 for level in self.tree_shape.levels}
        return {"tree/kernel": nodes, "tree/bias": nodes}

    def logged_variables(self):
        return {"tree": self.tree.trainable_variables}

    def logged_values(self, x, real):
        """Returns tree_height, and the distribution of keys over leaves, as means over heads.

        leaf_shares: share of the keys in each leaf, in descending order.
        leaf_entropy: 1 if all leaves have equal shares, 0 if one has all keys.
        empty_leaves: share of leaves without a key.
        leaf_balance: number of leaves times the sum of the squared shares: 1 if all leaves have
            equal shares, the number of leaves if one has all keys; what `balancing_loss` weighs.
        """
        _, keys = self.leaves(x)
        occupancy = decision_trees.occupancy(keys, real, self.tree_shape.num_leaves)
        fullest_first = tf.sort(occupancy["share"], direction="DESCENDING")
        return {
            "tree_height": tf.constant(self.tree_shape.height),
            "leaf_shares": tf.reduce_mean(fullest_first, axis=[0, 1]),
            "leaf_entropy": tf.reduce_mean(occupancy["entropy"]),
            "empty_leaves": tf.reduce_mean(occupancy["empty"]),
            "leaf_balance": tf.reduce_mean(occupancy["balance"]),
        }

    def leaves(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Computes the leaves of queries and of keys, <int32>[trees, batch, heads, seq] each.

        Args:
            x: <float>[batch, seq, hidden], the input of the layer.
        """
        projections = self.project(x, self.query, self.key)
        return tuple(self.tree.leaves(part) for part in projections)

    def occupancy(self, x: tf.Tensor, real: tf.Tensor) -> dict:
        """Computes how keys spread over the leaves; see `decision_trees.occupancy`.

        Args:
            x: <float>[batch, seq, hidden], the input of the layer.
            real: <bool>[batch, seq], tokens that are not padding.
        """
        _, keys = self.leaves(x)
        return decision_trees.occupancy(keys, real, self.tree_shape.num_leaves)

    def _learns_trees(self, training) -> bool:
        return bool(training) and self.config.train_trees
