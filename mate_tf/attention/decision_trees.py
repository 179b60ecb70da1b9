"""Oblique decision trees: one tree per head, hard decisions forward, dense gradients backward.

A node of a binary tree sends a vector to its right child if <w, x> + b > 0, else to the left one
(Treeformer, equation 2). A node at level l of a k-ary tree has b_l such scores, one for each child,
and the largest wins (section 3.1). Leaves are numbered from left to right, so the node of a leaf's
path at a level is the number of the leaf divided by the leaves below a node of this level.

Gradients are those of Dense Gradient Trees (Karthikeyan et al., 2021). Each leaf sums the signed
decisions on its path. In gradients, a softmax over these sums replaces the hard choice of a leaf,
and the derivative of tanh (of softmax, for k-ary nodes) replaces that of a decision.
"""

import dataclasses
import functools
import math
from typing import NamedTuple

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import shape_list


class Level(NamedTuple):
    """One level of nodes that decide.

    Attributes:
        first: number of the scores of all levels above.
        nodes: number of nodes.
        children: children of each node.
        scores: scores of each node; 1 if the sign decides, else one for each child.
    """

    first: int
    nodes: int
    children: int
    scores: int


@dataclasses.dataclass(frozen=True)
class TreeShape:
    """Shape of a tree.

    Attributes:
        branching: children of a node at each level, from the root on.
        binary: whether a node has one score and its sign decides, instead of one for each child.
    """

    branching: tuple[int, ...]
    binary: bool

    @classmethod
    def of(cls, height: int, branching=None):
        """Makes a binary tree of `height`, or the tree of `branching` if that is given.

        Args:
            height: decisions on a path.
            branching: children of a node at each level; None for a binary tree.

        Raises:
            InputError: a negative height, or a branching that is not a list of integers above 1.
        """
        if branching is None:
            if height < 0:
                raise InputError(f"tree_height must not be negative, but is {height}")
            return cls((2,) * height, True)
        if not branching or not all(type(b) is int and b > 1 for b in branching):
            raise InputError(f"branching must list integers above 1, not {branching!r}")
        return cls(tuple(branching), False)

    @property
    def height(self) -> int:
        """Number of decisions on a path from the root to a leaf."""
        return len(self.branching)

    @property
    def num_leaves(self) -> int:
        """Number of leaves."""
        return math.prod(self.branching)

    @property
    def num_scores(self) -> int:
        """Number of scores of all nodes; 2^height - 1 in a binary tree."""
        return sum(level.nodes * level.scores for level in self.levels)

    @functools.cached_property
    def levels(self) -> list[Level]:
        """Levels of nodes that decide, from the root on."""
        levels, first, nodes = [], 0, 1
        for children in self.branching:
            levels.append(Level(first, nodes, children, 1 if self.binary else children))
            first += nodes * levels[-1].scores
            nodes *= children
        return levels

    def levels_at_once(self, limit: int) -> int:
        """Returns how many of the first levels have at most `limit` scores; at least the root."""
        small = (x.first + x.nodes * x.scores <= limit for x in self.levels)
        return max(sum(small), min(self.height, 1))  # a root is on every path

    def descend(self, scores: tf.Tensor) -> tf.Tensor:
        """Finds leaves by the scores of all nodes: <float>[..., num_scores] -> <int32>[...]."""
        return self._descend(scores, self.levels)

    def _descend(self, scores, levels):
        """Finds the nodes below `levels`, by the scores of at least these levels; <int32>[...]."""
        *shape, width = shape_list(scores)
        node = tf.zeros(shape, tf.int32)
        if not levels:
            return node
        flat = tf.reshape(scores, [-1])
        start = tf.reshape(tf.range(tf.size(node)) * width, shape)
        for level in levels:
            where = start + level.first + node * level.scores
            if self.binary:
                node = 2 * node + tf.cast(tf.gather(flat, where) > 0, tf.int32)
            else:
                own = tf.gather(flat, where[..., None] + tf.range(level.scores))
                node = node * level.children + tf.argmax(own, -1, output_type=tf.int32)
        return node

    def memberships(self, scores: tf.Tensor) -> tf.Tensor:
        """Computes one-hot leaves with dense gradients: [..., num_scores] -> [..., num_leaves]."""
        *shape, _ = shape_list(scores)
        if not self.levels:
            return tf.ones([*shape, 1], scores.dtype)
        leaves, scores = self.descend(scores), tf.reshape(scores, [-1, self.num_scores])
        agreement = tf.zeros_like(scores[:, :1])
        for level in self.levels:
            own = scores[:, level.first : level.first + level.nodes * level.scores]
            if self.binary:
                sign = _with_gradient(tf.where(own > 0, 1.0, -1.0), tf.tanh(own))
                chosen = tf.stack([-sign, sign], axis=-1)
            else:
                own = tf.reshape(own, [-1, level.nodes, level.children])
                chosen = 2 * one_hot_with_gradient(tf.argmax(own, -1), tf.nn.softmax(own))
            agreement = tf.reshape(
                agreement[..., None] + chosen, [-1, level.nodes * level.children]
            )
        soft = tf.reshape(tf.nn.softmax(agreement), [*shape, self.num_leaves])
        return one_hot_with_gradient(leaves, soft)


def one_hot_with_gradient(index: tf.Tensor, soft: tf.Tensor) -> tf.Tensor:
    """Computes the one-hot of `index` <int>[...] with the gradient of `soft` <float>[..., n]."""
    return _with_gradient(tf.one_hot(index, soft.shape[-1], dtype=soft.dtype), soft)


def _with_gradient(hard, soft):
    return hard + (soft - tf.stop_gradient(soft))  # the brackets make it exact


class DecisionTrees(keras.layers.Layer):
    """Decision trees, one or several for each head.

    Variables: `kernel` <float32>[trees * heads, scores, size] and `bias` <float32>[trees * heads,
    scores], where the first `heads` rows are the first tree's. Scores are in level order, so
    that a binary tree of height h is a prefix of one of height h + 1. Leaves are chosen in
    float32 under any policy: rounding must not move a token to another leaf.

    Args:
        shape: the TreeShape.
        num_trees: trees of each head.
        scored_at_once: number of scores of the first levels that `leaves` computes for every
            vector: a matmul is faster than gathering weights, although it multiplies more
            (benchmarks/treeformer_speed.py). 0: only the nodes on the path.
    """

    def __init__(
        self,
        shape: TreeShape,
        num_heads: int,
        size: int,
        num_trees: int = 1,
        scored_at_once: int = 0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if num_trees < 1:
            raise InputError(f"num_trees must be positive, not {num_trees}")
        self.shape = shape
        self.num_heads = num_heads
        self.size = size
        self.num_trees = num_trees
        self.scored_at_once = scored_at_once

    def build(self, input_shape=None):
        """Creates the variables of the trees."""
        rows, scores = self.num_trees * self.num_heads, self.shape.num_scores
        self.kernel = self.add_weight(
            "kernel",
            [rows, scores, self.size],
            dtype=tf.float32,
            initializer=keras.initializers.RandomNormal(stddev=self.size**-0.5),
            experimental_autocast=False,
        )
        self.bias = self.add_weight(
            "bias",
            [rows, scores],
            dtype=tf.float32,
            initializer="zeros",
            experimental_autocast=False,
        )
        super().build(input_shape)

    def scores(self, x: tf.Tensor, first_levels: int | None = None) -> tf.Tensor:
        """Computes the scores of all nodes, or of those of the first levels.

        Args:
            x: <float>[batch, seq, heads or 1, size].
            first_levels: number of levels; None = all.

        Returns:
            <float32>[trees, batch, heads, seq, scores]
        """
        levels = self.shape.levels[:first_levels]
        num_scores = sum(level.nodes * level.scores for level in levels)
        per_tree = [self.num_trees, 1, self.num_heads, num_scores]
        kernel = tf.reshape(self.kernel[:, :num_scores], [*per_tree, self.size])
        bias = tf.reshape(self.bias[:, :num_scores], per_tree)
        # [batch, seq, heads, size] -> [batch, heads, seq, size]
        x = tf.transpose(tf.cast(x, tf.float32), [0, 2, 1, 3])
        # [trees, batch, heads, seq, scores]
        return tf.matmul(x, kernel, transpose_b=True) + bias[..., None, :]

    def leaves(self, x: tf.Tensor) -> tf.Tensor:
        """Finds the leaf of each vector; below `scored_at_once`, scores only nodes on its path.

        Args:
            x: <float>[batch, seq, heads, size].

        Returns:
            <int32>[trees, batch, heads, seq]
        """
        levels, at_once = self.shape.levels, self.shape.levels_at_once(self.scored_at_once)
        x = tf.cast(x, tf.float32)
        if self.shape.binary and at_once:
            node = self._below_first_levels(x, at_once)
        else:
            node = self.shape._descend(self.scores(x, at_once), levels[:at_once])
        if at_once == len(levels):
            return node
        num_scores = self.shape.num_scores
        # Indices of weights in [trees * heads * scores, size], as [trees, batch, seq, heads]
        first = tf.range(self.num_trees * self.num_heads) * num_scores
        first = tf.reshape(first, [self.num_trees, 1, 1, self.num_heads])
        kernel = tf.reshape(self.kernel, [-1, self.size])
        bias = tf.reshape(self.bias, [-1])
        # [trees, batch, heads, seq] -> [trees, batch, seq, heads], like x
        node = tf.transpose(node, [0, 1, 3, 2])
        for level in levels[at_once:]:
            where = first + level.first + node * level.scores
            if self.shape.binary:
                score = tf.reduce_sum(tf.gather(kernel, where) * x, -1) + tf.gather(bias, where)
                node = 2 * node + tf.cast(score > 0, tf.int32)
            else:
                score = self._scores_of_children(x, node, level)
                node = node * level.children + tf.argmax(score, -1, output_type=tf.int32)
        return tf.transpose(node, [0, 1, 3, 2])

    def _scores_of_children(self, x, node, level):
        """Scores one k-ary node <int32>[trees, batch, seq, heads] for each vector: [..., scores].

        Each head gathers the weights of whole nodes: a fifth faster than all scores of all heads.
        """
        end = level.first + level.nodes * level.scores
        of_level = [-1, level.nodes, level.scores]
        # [trees * heads, nodes, scores, size] and [trees * heads, nodes, scores]
        kernel = tf.reshape(self.kernel[:, level.first : end], [*of_level, self.size])
        bias = tf.reshape(self.bias[:, level.first : end], of_level)
        trees = []
        for tree in range(self.num_trees):
            heads = []
            for head in range(self.num_heads):
                row, own = tree * self.num_heads + head, node[tree, :, :, head]
                score = tf.linalg.matvec(tf.gather(kernel[row], own), x[:, :, head])
                heads.append(score + tf.gather(bias[row], own))
            trees.append(tf.stack(heads, axis=2))
        return tf.stack(trees)

    def _below_first_levels(self, x, count: int):
        """Finds the nodes below the first `count` levels of binary trees: [trees, batch, heads,
        seq].

        From the last of these levels up to the root, each node takes the result of its right or its
        left child. This is cheaper than gathering scores along each path, if nodes are ordered so
        that all left children of a level come before all right ones.
        """
        order = _left_children_first(count)
        per_tree = [self.num_trees, 1, self.num_heads, len(order)]
        kernel = tf.reshape(tf.gather(self.kernel, order, axis=1), [*per_tree, self.size])
        bias = tf.reshape(tf.gather(self.bias, order, axis=1), [*per_tree, 1])
        # [batch, seq, heads, size] -> [batch, heads, seq, size]
        x = tf.transpose(x, [0, 2, 1, 3])
        # [trees, batch, heads, scores, seq]
        goes_right = tf.cast(tf.matmul(kernel, x, transpose_b=True) > -bias, tf.int32)
        *above, reached = tf.split(goes_right, [2**level for level in range(count)], axis=3)
        nodes_below = 2
        for of_level in reversed(above):
            left, right = tf.split(reached, 2, axis=3)
            reached = left + of_level * (right - left + nodes_below)  # faster than tf.where
            nodes_below *= 2
        return reached[..., 0, :]

    def memberships(self, x: tf.Tensor) -> tf.Tensor:
        """Computes one-hot leaves with dense gradients of <float>[batch, seq, heads, size].

        Returns:
            <float32>[trees, batch, heads, seq, leaves]
        """
        return self.shape.memberships(self.scores(x))

    def get_config(self):
        """Returns the constructor's arguments for Keras's serialization."""
        return super().get_config() | {
            "shape": dataclasses.asdict(self.shape),
            "num_heads": self.num_heads,
            "size": self.size,
            "num_trees": self.num_trees,
            "scored_at_once": self.scored_at_once,
        }

    @classmethod
    def from_config(cls, config):
        """Builds a layer from the result of `get_config`."""
        shape = config["shape"]
        shape = TreeShape(tuple(shape["branching"]), shape["binary"])
        return cls(**config | {"shape": shape})


def _left_children_first(num_levels: int) -> list[int]:
    """Lists the nodes of the first levels by level, left children before right ones."""
    order, level = [], [0]
    for _ in range(num_levels):
        order += level
        level = [2 * node + 1 for node in level] + [2 * node + 2 for node in level]
    return order


def occupancy(leaves: tf.Tensor, real: tf.Tensor, num_leaves: int) -> dict:
    """Computes how tokens spread over leaves (Treeformer, figure 4).

    Args:
        leaves: <int32>[trees, batch, heads, seq].
        real: <bool>[batch, seq], tokens that are not padding.
        num_leaves: leaves of each tree.

    Returns:
        dict of <float32>: share [trees, heads, leaves], of the real tokens; entropy [trees,
        heads], 1 for balanced leaves and 0 if all are in one; largest [trees, heads], the share
        of the fullest leaf; empty [trees, heads], the share of leaves without a token; balance
        [trees, heads], num_leaves times the sum of the squared shares, 1 for balanced leaves.
    """
    inside = tf.one_hot(leaves, num_leaves) * tf.cast(real, tf.float32)[:, None, :, None]
    counts = tf.reduce_sum(inside, [1, 3])
    share = tf.math.divide_no_nan(counts, tf.reduce_sum(counts, -1, keepdims=True))
    entropy = -tf.reduce_sum(tf.math.xlogy(share, share), -1)
    return {
        "share": share,
        "entropy": entropy / max(math.log(num_leaves), 1e-9),
        "largest": tf.reduce_max(share, -1),
        "balance": num_leaves * tf.reduce_sum(tf.square(share), -1),
        "empty": tf.reduce_mean(tf.cast(counts == 0, tf.float32), -1),
    }
