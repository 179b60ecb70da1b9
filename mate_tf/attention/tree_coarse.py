"""TC-Attention: queries get the mean values of the nodes on their path (Treeformer, section 3.2).

Queries are not compared with keys, so time is linear in the length.
"""

import contextlib
import functools
from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention.abilities import ChangesForExport
from mate_tf.attention.tree import TreeAttention, TreeTensors
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import shape_list


class TreeParameters(NamedTuple):
    """Trees of the heads that take the layer's input instead of a projection of it.

    Attributes:
        kernel: <float32>[heads, scores, hidden].
        bias: <float32>[heads, scores].
    """

    kernel: tf.Tensor
    bias: tf.Tensor


class TreeCoarse(ChangesForExport, TreeAttention):
    """Sum over levels of alpha times the mean value of the keys in the node (equation 4).

    `alpha` <float>[heads, height + 1] is learned, one for each level from the root to the leaves,
    and starts at 1 / (height + 1). A node without keys contributes zero. Padding is in no node and
    gets zero. Dropout drops keys from all nodes. If trees are trained, sums are matmuls
    with the memberships, for their gradients; else they are segment sums.
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
        """Counts the trees, the sums at leaves, and the parents, means and alpha of each level."""
        nodes = 1 + sum(level.nodes * level.children for level in shape.levels)
        decisions = super().tree_flops(shape, length, hidden_size, at_once)
        return decisions + length * hidden_size + 4 * nodes * hidden_size

    def grown_variables(self):
        """Returns the variables of the trees and alpha, with a factor for its old levels.

        If the sum over levels grew with each new level, training would diverge. So alpha of the old
        levels is multiplied by (number of old levels) / (number of new levels). An untrained alpha
        thus becomes 1 / (height + 1) of the new tree.
        """
        height = self.tree_shape.height
        alphas = {lower + 1: (lower + 1) / (height + 1) for lower in range(height)}
        return super().grown_variables() | {"tree/alpha": alphas}

    def attend(self, query, key, value, pattern: TreeTensors, training=None):
        value = self.drop_keys(value, training)
        if not self._learns_trees(training):
            leaves = self.tree.leaves
            return self._by_segments(leaves(query), leaves(key), value, pattern)
        real = tf.cast(pattern.real, value.dtype)[:, None, :, None]
        # [batch, heads, seq, leaves]
        of_query, of_key = (
            tf.cast(self.tree.memberships(x)[0], value.dtype) * real for x in (query, key)
        )
        # [batch, heads, leaves, head_size]
        sums = tf.matmul(of_key, tf.transpose(value, [0, 2, 1, 3]), transpose_a=True)
        # [batch, heads, queries, head_size] -> [batch, queries, heads, head_size]
        context = tf.matmul(of_query, self._leaf_values(sums, tf.reduce_sum(of_key, 2)))
        return tf.transpose(context, [0, 2, 1, 3])

    _call_exported = None

    def call(self, x, pattern, training=None):
        if self._call_exported is None or training:
            return super().call(x, pattern, training)
        return self._call_exported(x, pattern=pattern)

    @contextlib.contextmanager
    def exporting(self):
        """Folds the projections of queries and keys into the trees where that is less work."""
        scores = self.tree_shape.num_scores
        # products for each token and feature of x: of both projections, or of the folded trees
        if self.num_heads * scores < self.hidden_size + scores:
            query_tree, key_tree = self.folded()
            self._call_exported = functools.partial(
                self.call_folded, query_tree=query_tree, key_tree=key_tree
            )
        try:
            yield
        finally:
            self._call_exported = None

    def call_folded(self, x, query_tree: TreeParameters, key_tree: TreeParameters, pattern):
        """Computes the same as `call`, with the parameters of `folded` instead of projections.

        Args:
            x: <float>[batch, seq, hidden].
            query_tree: parameters for the queries.
            key_tree: parameters for the keys.

        Returns:
            <float>[batch, seq, hidden]
        """

        def leaves(tree):
            # [batch, 1, seq, hidden], [heads, scores, hidden] -> [batch, heads, seq, scores]
            shared = tf.cast(x, tf.float32)[:, None]
            scores = tf.matmul(shared, tree.kernel, transpose_b=True) + tree.bias[:, None]
            return self.tree_shape.descend(scores)[None]

        (value,) = self.project(x, self.value)
        context = self._by_segments(leaves(query_tree), leaves(key_tree), value, pattern)
        return self.project_back(context)

    def folded(self) -> tuple[TreeParameters, TreeParameters]:
        """Multiplies trees with the projections of queries and of keys, for `call_folded`.

        Then neither queries nor keys are computed, but kernels have hidden instead of head_size
        columns. It is for export: in training, queries and keys share one tree.

        Returns:
            The trees for queries and the trees for keys.
        """

        def fold(projection):
            kernel = tf.reshape(projection.kernel, [-1, self.num_heads, self.head_size])
            bias = tf.reshape(projection.bias, [self.num_heads, self.head_size])
            # [hidden, heads, head_size], [heads, scores, head_size] -> [heads, scores, hidden]
            return TreeParameters(
                tf.einsum("ihd,hnd->hni", kernel, self.tree.kernel),
                tf.einsum("hd,hnd->hn", bias, self.tree.kernel) + self.tree.bias,
            )

        return fold(self.query), fold(self.key)

    def _by_segments(self, query_leaves, key_leaves, value, pattern):
        """Sums values at the leaves, parents from children, and gathers a value for each query."""
        batch, _, heads, size = shape_list(value)
        num_leaves = self.tree_shape.num_leaves
        tree_of = tf.reshape(tf.range(batch * heads), [batch, heads, 1]) * num_leaves
        real = pattern.real[:, None]

        def segments(leaves, padding):
            of_token = tf.where(real, tree_of + leaves[0], padding)
            # [batch, heads, seq] -> [batch, seq, heads]
            return tf.transpose(of_token, [0, 2, 1])

        segment = tf.reshape(segments(key_leaves, -1), [-1])  # -1 is in no sum
        # [batch * seq * heads, head_size]
        values = tf.cast(tf.reshape(value, [-1, size]), tf.float32)
        count = batch * heads * num_leaves
        sums = tf.math.unsorted_segment_sum(values, segment, count)
        counts = tf.math.unsorted_segment_sum(tf.ones_like(values[:, 0]), segment, count)
        leaf_values = self._leaf_values(
            tf.cast(tf.reshape(sums, [batch, heads, num_leaves, size]), value.dtype),
            tf.cast(tf.reshape(counts, [batch, heads, num_leaves]), value.dtype),
        )
        # [batch * heads * leaves + 1, head_size]; padding reads the zeros at the end
        table = tf.pad(tf.reshape(leaf_values, [-1, size]), [[0, 1], [0, 0]])
        return tf.gather(table, segments(query_leaves, count))

    def _leaf_values(self, sums, counts):
        """Computes the output of each leaf's queries, <float>[batch, heads, leaves, head_size].

        `sums` has this shape, sums of the values of the keys there; `counts` <float>[batch, heads,
        leaves] are their numbers.
        """
        batch, heads, _, size = shape_list(sums)
        means = []
        for branching in (*reversed(self.tree_shape.branching), None):
            # [batch, heads, nodes, head_size]; the sum of an empty node is zero
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
