"""What `tree_fine` and `tree_coarse` share: options, pattern, and the trees of a layer."""

import dataclasses

import tensorflow as tf

from mate_tf.attention import decision_trees, masks
from mate_tf.attention.base import TableAttention, build_child
from mate_tf.attention.full import FullPattern


@dataclasses.dataclass(frozen=True)
class TreeOptions:
    """Options of both kinds of tree attention.

    Attributes:
        tree_height: height h of the binary trees, with 2^h leaves.
        branching: for k-ary trees instead, the children of a node at each level, e.g. [100, 10].
        train_trees: whether trees are trained; if not, queries and keys get no gradients through
            them either, and training computes what inference does.
    """

    tree_height: int = 6
    branching: list[int] | None = None
    train_trees: bool = True


class TreePattern(FullPattern):
    """Which tokens are real; who attends to whom depends on the content, in each layer.

    `mask` has all pairs that a tree could put together; `TreeAttention.mask` those it does.
    """

    packs = False

    def call(self, context, training=None):
        return super().call(context) | {"real": masks.real_tokens(context)}


class TreeAttention(TableAttention):
    """Attention whose heads have decision trees, the same for projected queries and keys.

    `tree` holds them (see DecisionTrees for its variables), those of the heads from
    `first_tree_head` on.
    """

    num_trees = 1
    scored_at_once = 0
    first_tree_head = 0

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.tree_shape = decision_trees.TreeShape.of(
            self.config.tree_height, self.config.branching
        )
        self.tree = decision_trees.DecisionTrees(
            self.tree_shape,
            num_heads - self.first_tree_head,
            self.head_size,
            self.num_trees,
            self.scored_at_once,
            name="tree",
        )
        self.tree.trainable = self.config.train_trees

    def build(self, input_shape):
        build_child(self.tree, None)
        super().build(input_shape)

    def checkpoint_variables(self):
        return {"tree/kernel": self.tree.kernel, "tree/bias": self.tree.bias}

    def leaves(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Leaves of the queries and of the keys of x, <int32>[trees, batch, heads, seq] each.

        Args:
            x: <float>[batch, seq, hidden], the input of the layer.
        """
        projections = self.project(x, self.query, self.key)
        return tuple(self.tree.leaves(part[:, :, self.first_tree_head :]) for part in projections)

    def occupancy(self, x: tf.Tensor, pattern: dict) -> dict:
        """How the keys of x spread over the leaves, see `decision_trees.occupancy`."""
        _, keys = self.leaves(x)
        return decision_trees.occupancy(keys, pattern["real"], self.tree_shape.num_leaves)

    def _learns_trees(self, training) -> bool:
        return bool(training) and self.config.train_trees
