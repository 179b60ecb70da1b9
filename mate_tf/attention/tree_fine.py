"""TF-Attention: queries attend to the keys of their leaf (Treeformer, section 3.1)."""

import dataclasses
import math
from typing import Annotated

import tensorflow as tf

from mate_tf.attention import decision_trees, leaf_blocks, masks
from mate_tf.attention.abilities import ChoosesPairs
from mate_tf.attention.base import all_pairs_flops, mask_bias
from mate_tf.attention.tree import TreeAttention, TreeOptions
from mate_tf.errors import InputError
from mate_tf.field_types import NotNegative, Range
from mate_tf.layers import replica_losses
from mate_tf.layers.framework import within_xla
from mate_tf.layers.shapes import shape_list

FORMS = ("auto", "masked", "sorted")
"""Values of the option `form`."""

LEAST_MASS = 0.1
"""Lower bound of a leaf's share of a query's attention in the gradients of trees.

It is of this library; the paper has no such bound. By its formula the derivative with regard to M
of a key is divided by this share, which explodes if all relevant keys are in other leaves. The
outputs do not depend on the bound. `benchmarks/least_mass.py` measures what it changes.
"""


@dataclasses.dataclass(frozen=True)
class TreeFineOptions(TreeOptions):
    """Options of `tree_fine`.

    Attributes:
        num_trees: trees of each head, a forest: a query attends to the keys that share its leaf in
            at least one of them.
        balancing_loss: weight of a loss that is 1 for balanced leaves and the number of leaves
            if one leaf has all tokens; 0 = no such loss.
        leaf_capacity: most queries, and most keys, of an example in one leaf, in mean numbers of
            tokens of a leaf; the others go to a sibling with room, or attend to nothing
            (`leaf_blocks.limit`). None = no limit, as in the paper.
        form: "masked", quadratic in the length, with gradients for the trees; "sorted", which
            compares within leaves only; "auto": masked if trees are trained and under XLA, which
            needs static shapes; else sorted.
    """

    num_trees: Annotated[int, Range(1, 1_024)] = 1
    balancing_loss: NotNegative = 0.0
    leaf_capacity: Annotated[float, Range(0.01, 1_000_000)] | None = None
    form: str = "auto"


class TreeFine(ChoosesPairs, TreeAttention):
    """Attention with weights M exp(s), normalized; M = 1 if query and key share a leaf, else 0.

    The gradients of M are dense (see decision_trees). Both forms give the same result: a query
    without keys in its leaf gets zero; padding is in no leaf and gets zero.
    """

    has_pair_probabilities = True
    scored_at_once = 63  # the fastest; it costs little compared with the pairs

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        if self.config.form not in FORMS:
            raise InputError(f"form must be one of {', '.join(FORMS)}, not {self.config.form!r}")

    @property
    def num_trees(self):
        """Number of trees per head."""
        return self.config.num_trees

    @classmethod
    def tree_flops(cls, shape, length, hidden_size, at_once=True, pairs=None):
        """Counts the trees and all pairs of queries and keys that share a leaf.

        `pairs` is the share of the pairs that fall into one leaf; None: that of equal leaves.
        """
        share = 1 / shape.num_leaves if pairs is None else pairs
        decisions = super().tree_flops(shape, length, hidden_size, at_once)
        return decisions + all_pairs_flops(hidden_size, length) * share

    def mask(self, x, pattern):
        leaves = (self._limited(of_tree, pattern.real) for of_tree in self.leaves(x))
        return self._mask(*leaves, real=pattern.real)

    def attend(self, query, key, value, pattern, training=None):
        learns = self._learns_trees(training)
        by_mask = {"auto": learns or within_xla(), "masked": True, "sorted": False}
        attend = self._masked if by_mask[self.config.form] else self._sorted
        return attend(query, key, value, pattern, training)

    def _limited(self, leaves, real):
        """Limits the tokens of the leaves <int32>[trees, batch, heads, seq] to their capacity."""
        factor, shape = self.config.leaf_capacity, self.tree_shape
        if factor is None:
            return leaves
        siblings = shape.branching[-1] if shape.branching else 1
        return leaf_blocks.limit(leaves, real, shape.num_leaves, siblings, factor)

    def _mask(self, query_leaves, key_leaves, real):
        return tf.reduce_any(masks.same_leaf(query_leaves, key_leaves, real), 0)

    def _masked(self, query, key, value, pattern, training):
        real, learns = pattern.real, self._learns_trees(training)
        if learns:
            of_query, of_key = (self.tree.memberships(x) for x in (query, key))
            self._add_balancing_loss(of_query, of_key, real)
            leaves = [tf.argmax(x, -1, output_type=tf.int32) for x in (of_query, of_key)]
        else:
            leaves = [self.tree.leaves(x) for x in (query, key)]
        leaves = [self._limited(of_tree, real) for of_tree in leaves]
        if learns and self.config.leaf_capacity is not None:
            # Where a token went by lack of room changes no gradient.
            of_query, of_key = (
                decision_trees.one_hot_with_gradient(*both)
                for both in zip(leaves, (of_query, of_key), strict=True)
            )
        mask = self._mask(*leaves, real)
        # [batch, seq, heads, head_size] -> [batch, heads, seq, head_size]
        query, key, value = (tf.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
        # [batch, heads, queries, keys]
        scores = tf.matmul(query, key, transpose_b=True) * self.scale(query.dtype)
        any_key = masks.any_key(mask, scores.dtype)
        probabilities = tf.nn.softmax(scores + mask_bias(mask, scores.dtype)) * any_key
        if learns:
            everywhere = tf.nn.softmax(scores + pattern.bias)
            in_leaf = tf.cast(real, of_query.dtype)[:, None, :, None]
            # [trees, batch, heads, seq, leaves]
            of_query, of_key = of_query * in_leaf, of_key * in_leaf
            probabilities += _zero_with_gradient(of_query, of_key, mask, probabilities, everywhere)
        # [batch, heads, queries, head_size] -> [batch, queries, heads, head_size]
        context = tf.matmul(self.dropout(probabilities, training=training), value)
        return tf.transpose(context, [0, 2, 1, 3])

    def _sorted(self, query, key, value, pattern, training):
        shape = shape_list(query)
        leaves = [self._limited(self.tree.leaves(x), pattern.real) for x in (query, key)]
        by_leaf = [leaf_blocks.sort(x, pattern.real, self.tree_shape.num_leaves) for x in leaves]
        # [batch * seq * heads, head_size]
        parts = [tf.reshape(x, [-1, self.head_size]) for x in (query, key, value)]

        def in_pairs():
            return self._in_pairs(*parts, by_leaf=by_leaf, leaves=leaves, training=training)

        if self.num_trees > 1:
            return tf.reshape(in_pairs(), shape)
        context = tf.cond(
            leaf_blocks.whole_groups_are_cheaper(*by_leaf),
            lambda: self._in_whole_groups(*parts, by_leaf=by_leaf, training=training),
            in_pairs,
        )
        return tf.reshape(context, shape)

    def _in_whole_groups(self, query, key, value, by_leaf, training):
        """Computes each leaf as one block; all <float>[vectors, head_size]."""
        num_vectors = tf.shape(query)[0]
        without_keys = tf.concat([leaf_blocks.without_keys(*by_leaf), [num_vectors]], 0)
        indices = [without_keys]
        outputs = [tf.zeros([tf.size(without_keys), self.head_size], query.dtype)]
        for whole in leaf_blocks.whole_groups(*by_leaf):
            own = (
                # [groups, 1, block, head_size]; with four axes TensorFlow fuses product and bias
                tf.gather(x, of_block)[:, None]
                for x, of_block in (
                    (query, whole.queries),
                    (key, whole.keys),
                    (value, whole.keys),
                )
            )
            bias = mask_bias(whole.key_exists[:, None, None], query.dtype)
            outputs.append(self.softmax_attention(*own, bias=bias, training=training)[:, 0])
            indices.append(tf.where(whole.query_exists, whole.queries, num_vectors))
        # Entries that pad blocks go behind all vectors.
        return tf.dynamic_stitch(indices, outputs)[:num_vectors]

    def _in_pairs(self, query, key, value, by_leaf, leaves, training):
        """Computes leaves of all trees as several blocks each; all <float>[vectors, head_size]."""
        num_vectors = tf.shape(query)[0]
        pairs = leaf_blocks.pairs(*by_leaf, num_trees=self.num_trees, num_vectors=num_vectors)
        # [pairs, 1, block, head_size]
        query = tf.gather(query, pairs.queries)[:, None]
        key, value = (tf.gather(x, pairs.keys)[:, None] for x in (key, value))
        bias = mask_bias(self._counted(pairs, leaves), query.dtype)
        context = self._joint_attention(query, key, value, bias, pairs, num_vectors, training)
        # [query blocks * block + 1, head_size]; queries without keys read the zeros at the end
        context = tf.pad(tf.reshape(context, [-1, self.head_size]), [[0, 1], [0, 0]])
        return tf.add_n([tf.gather(context, of_tree) for of_tree in tf.unstack(pairs.outputs)])

    def _counted(self, pairs, leaves):
        """Returns the pairs to count, once in a forest: <bool>[pairs, 1, 1 or block, block]."""
        counted = pairs.key_exists[:, None, None]
        if self.num_trees == 1:
            return counted
        # [trees, batch, heads, seq] -> [trees, batch * seq * heads], as the indices count vectors
        of_query, of_key = (
            tf.reshape(tf.transpose(x, [0, 1, 3, 2]), [self.num_trees, -1]) for x in leaves
        )
        # [trees, pairs, 1, block, 1] and [trees, pairs, 1, 1, block]
        of_query = tf.gather(of_query, pairs.queries, axis=1)[:, :, None, :, None]
        of_key = tf.gather(of_key, pairs.keys, axis=1)[:, :, None, None, :]
        earlier = tf.range(self.num_trees)[:, None] < pairs.tree
        same = (of_query == of_key) & (of_key != leaf_blocks.NO_LEAF)
        return counted & ~tf.reduce_any(same & earlier[:, :, None, None, None], axis=0)

    def _joint_attention(self, query, key, value, bias, pairs, num_vectors, training):
        """Computes attention with a softmax over all pairs of blocks that a query is in.

        Query, key and value are <float>[pairs, 1, block, head_size]. Returns <float>[query blocks,
        1, block, head_size].
        """
        # [pairs, block]; entries that pad blocks go behind all vectors
        indices = tf.where(pairs.query_exists, pairs.queries, num_vectors)

        def of_query(combine, x):
            """Combines <float>[pairs, 1, block] over the pairs of a query: [pairs, 1, block, 1]."""
            return tf.gather(combine(x[:, 0], indices, num_vectors + 1), indices)[:, None, :, None]

        # [pairs, 1, block, block]
        scores = tf.matmul(query, key, transpose_b=True) * self.scale(query.dtype) + bias
        scores = tf.cast(scores, tf.float32)
        largest = of_query(tf.math.unsorted_segment_max, tf.reduce_max(scores, -1))
        weights = tf.exp(scores - tf.stop_gradient(largest))
        weights /= of_query(tf.math.unsorted_segment_sum, tf.reduce_sum(weights, -1))
        weights = self.dropout(tf.cast(weights, value.dtype), training=training)
        # [pairs, 1, block, head_size] -> [query blocks, 1, block, head_size]
        context = tf.matmul(weights, value)
        return tf.math.unsorted_segment_sum(context, pairs.query_block, pairs.num_query_blocks)

    def _add_balancing_loss(self, of_query, of_key, real):
        if not self.config.balancing_loss:
            return
        real = tf.cast(real, tf.float32)
        num_tokens = tf.maximum(replica_losses.total(tf.reduce_sum(real)), 1)
        shares = (
            # [trees, batch, heads, seq, leaves], [batch, seq] -> [trees, heads, leaves]
            replica_losses.total(tf.einsum("tbhsl,bs->thl", x, real)) / num_tokens
            for x in (of_query, of_key)
        )
        squares = [tf.reduce_mean(tf.reduce_sum(tf.square(share), -1)) for share in shares]
        balance = self.tree_shape.num_leaves * tf.add_n(squares) / 2
        self.add_loss(self.config.balancing_loss * balance)


def _zero_with_gradient(of_query, of_key, mask, probabilities, everywhere):
    """Returns zeros [batch, heads, seq, seq] that have the gradient of the probabilities p by M.

    With e = exp(s), the probabilities are p_j = M_j e_j / sum_k M_k e_k, whose derivatives are
    (delta_jk - p_j) e_k / sum M e, also for keys in other leaves. `of_query` and `of_key`
    <float32>[trees, batch, heads, seq, leaves] are memberships, zero for padding; `everywhere` is
    the softmax over all keys that are not padding.
    """
    dtype = probabilities.dtype
    # [trees, batch, heads, queries, keys] -> [batch, heads, queries, keys]
    same = tf.matmul(tf.cast(of_query, dtype), tf.cast(of_key, dtype), transpose_b=True)
    same = 1 - math.prod(1 - of_tree for of_tree in tf.unstack(same))
    mass = tf.reduce_sum(everywhere * tf.cast(mask, dtype), -1, keepdims=True)
    rate = tf.stop_gradient(everywhere / tf.maximum(mass, LEAST_MASS))
    change = (same - tf.stop_gradient(same)) * rate
    return change - tf.stop_gradient(probabilities) * tf.reduce_sum(change, -1, keepdims=True)
