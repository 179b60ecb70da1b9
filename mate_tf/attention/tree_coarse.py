"""TC-Attention: queries get the mean values of the nodes on their path (Treeformer, section 3.2).

No query is compared with a key: time is linear in the length.
"""

from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention.base import shape_list
from mate_tf.attention.tree import TreeAttention
from mate_tf.layers.keras_namespace import keras


class TreeParameters(NamedTuple):
    """A tree per head that takes the layer's input instead of a projection of it.

    Attributes:
        kernel: <float32>[heads, scores, hidden].
        bias: <float32>[heads, scores].
    """

    kernel: tf.Tensor
    bias: tf.Tensor


class TreeCoarse(TreeAttention):
    """Equation 4: the sum over levels of alpha times the mean value of the keys in the node.

    `alpha` <float>[heads, height + 1] is learned, one for each level from the root to the leaves,
    and starts at 1 / (height + 1). A node without keys contributes zero; padding is in no node,
    and comes out as zero. Dropout leaves keys out of all nodes. Training, if it trains the trees,
    takes matrix products with the memberships, for their gradients; else sums go by segments.
    """

    def build(self, input_shape):
        levels = self.tree_shape.height + 1
        self.alpha = self.add_weight(
            "alpha",
            [self.num_heads, levels],
            initializer=keras.initializers.Constant(1 / levels),
        )
        super().build(input_shape)

    def checkpoint_variables(self):
        return super().checkpoint_variables() | {"tree/alpha": self.alpha}

    @classmethod
    def tree_flops(cls, shape, length, hidden_size, at_once=True):
        """Returns those of the trees, of sums at leaves, and of parents, means, alpha, levels."""
        nodes = 1 + sum(level.nodes * level.children for level in shape.levels)
        decisions = super().tree_flops(shape, length, hidden_size, at_once)
        return decisions + length * hidden_size + 4 * nodes * hidden_size

    def grown_variables(self):
        """Adds alpha, in which the levels that were there make room for the new ones.

        With a sum that grows with each level training diverges. Multiplied by the share of levels
        that were there, an alpha that has learned nothing becomes the 1 / (height + 1) of a new
        tree.
        """
        height = self.tree_shape.height
        alphas = {lower + 1: (lower + 1) / (height + 1) for lower in range(height)}
        return super().grown_variables() | {"tree/alpha": alphas}

    def attend(self, query, key, value, pattern, training=None):
        value = self.drop_keys(value, training)
        if not self._learns_trees(training):
            return self._by_segments(*map(self.tree.leaves, (query, key)), value, pattern)
        real = tf.cast(pattern["real"], value.dtype)[:, None, :, None]
        of_query, of_key = (
            tf.cast(self.tree.memberships(x)[0], value.dtype) * real for x in (query, key)
        )
        sums = tf.matmul(of_key, tf.transpose(value, [0, 2, 1, 3]), transpose_a=True)
        context = tf.matmul(of_query, self._leaf_values(sums, tf.reduce_sum(of_key, 2)))
        return tf.transpose(context, [0, 2, 1, 3])

    def call_folded(self, x, query_tree: TreeParameters, key_tree: TreeParameters, pattern: dict):
        """What `call` gives, but with the parameters of `folded` instead of projections.

        Args:
            x: <float>[batch, seq, hidden].
            query_tree: parameters for the queries.
            key_tree: parameters for the keys.
            pattern: what the pattern gave.
        """

        def leaves(tree):
            shared = tf.cast(x, tf.float32)[:, None]
            scores = tf.matmul(shared, tree.kernel, transpose_b=True) + tree.bias[:, None]
            return self.tree_shape.descend(scores)[None]

        (value,) = self.project(x, self.value)
        context = self._by_segments(leaves(query_tree), leaves(key_tree), value, pattern)
        return self.project_back(context)

    def folded(self) -> tuple[TreeParameters, TreeParameters]:
        """Trees with the projections of queries and of keys in them, for `call_folded`.

        Each kernel takes hidden numbers instead of head_size, but neither queries nor keys are
        computed. For export: training keeps one tree for both.
        """

        def fold(projection):
            kernel = tf.reshape(projection.kernel, [-1, self.num_heads, self.head_size])
            bias = tf.reshape(projection.bias, [self.num_heads, self.head_size])
            return TreeParameters(
                tf.einsum("ihd,hnd->hni", kernel, self.tree.kernel),
                tf.einsum("hd,hnd->hn", bias, self.tree.kernel) + self.tree.bias,
            )

        return fold(self.query), fold(self.key)

    def _by_segments(self, query_leaves, key_leaves, value, pattern):
        """Sums at the leaves, parents from children, and a look-up for each query."""
        batch, _, heads, size = shape_list(value)
        num_leaves = self.tree_shape.num_leaves
        tree_of = tf.reshape(tf.range(batch * heads), [batch, heads, 1]) * num_leaves
        real = pattern["real"][:, None]

        def segments(leaves, padding):
            of_token = tf.where(real, tree_of + leaves[0], padding)  # [batch, heads, seq]
            return tf.transpose(of_token, [0, 2, 1])

        segment = tf.reshape(segments(key_leaves, -1), [-1])  # -1 is in no sum
        values = tf.cast(tf.reshape(value, [-1, size]), tf.float32)
        count = batch * heads * num_leaves
        sums = tf.math.unsorted_segment_sum(values, segment, count)
        counts = tf.math.unsorted_segment_sum(tf.ones_like(values[:, 0]), segment, count)
        leaf_values = self._leaf_values(
            tf.cast(tf.reshape(sums, [batch, heads, num_leaves, size]), value.dtype),
            tf.cast(tf.reshape(counts, [batch, heads, num_leaves]), value.dtype),
        )
        # padding reads the row of zeros behind all others
        table = tf.pad(tf.reshape(leaf_values, [-1, size]), [[0, 1], [0, 0]])
        return tf.gather(table, segments(query_leaves, count))

    def _leaf_values(self, sums, counts):
        """What queries of each leaf get: <float>[batch, heads, leaves, head_size].

        Args:
            sums: <float>[batch, heads, leaves, head_size], of the values of the keys there.
            counts: <float>[batch, heads, leaves], how many keys these are.
        """
        batch, heads, _, size = shape_list(sums)
        means = []
        for branching in (*reversed(self.tree_shape.branching), None):
            # an empty node has the sum zero
            means.append(sums / tf.maximum(counts, 1)[..., None])
            if branching:
                nodes = sums.shape[2] // branching
                sums = tf.reduce_sum(tf.reshape(sums, [batch, heads, nodes, branching, size]), 3)
                counts = tf.reduce_sum(tf.reshape(counts, [batch, heads, nodes, branching]), 3)
        alpha = tf.cast(self.alpha, sums.dtype)[:, :, None, None]
        result = alpha[:, 0] * means.pop()
        for level, branching in enumerate(self.tree_shape.branching, start=1):
            result = tf.repeat(result, branching, axis=2) + alpha[:, level] * means.pop()
        return result
