"""Masks computed by blocks of queries, each with the keys that one of its queries attends to.

Bands, blocks and columns of a mask become small dense pieces. Queries that attend to most keys are
computed separately. Blocks gain nothing if almost every block attends to almost all keys, as with
diagonals far apart: `Plan.is_cheaper` decides by the costs of the mask itself.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks, sorted_views
from mate_tf.attention.base import mask_bias
from mate_tf.layers.shapes import shape_list

BLOCK_SIZES = (32, 64, 128)
"""Sizes of a block of queries to choose from."""

STRIDES = (1, 2, 3, 4, 8, 16)
"""Orders of queries to choose from: 0, s, 2s, …, 1, s + 1, … for a stride s."""

DENSE_SHARE = 0.5
"""Share of keys from which a query is computed separately, if it has many more than others."""

GATHER_COST = 32
"""Cost of gathering the vectors of a token, in pairs of tokens compared."""

CLEARLY_CHEAPER = 0.7
"""Cost of the blocks, relative to the whole mask, up to which they are used."""


class Plan(NamedTuple):
    """Plan by which a mask of n tokens is computed; position n stands for no token.

    Attributes:
        n: the mask's length.
        queries: <int>[blocks, block], positions of the queries without the dense ones.
        keys: <int>[1 or heads, blocks, keys], positions of each block's keys, ascending.
        allowed: <bool>[1 or heads, blocks, block, keys], the mask within the blocks.
        dense: <int>[dense], positions of the queries computed with all keys, in all heads.
        dense_allowed: <bool>[1 or heads, dense, n], the mask of the dense queries.
    """

    n: int
    queries: np.ndarray
    keys: np.ndarray
    allowed: np.ndarray
    dense: np.ndarray
    dense_allowed: np.ndarray

    @property
    def cost(self) -> float:
        """Cost of the blocks, relative to computing all pairs."""
        return _cost(self.n, self.queries, self.keys.shape[-1], self.dense)

    def is_cheaper(self) -> bool:
        """Returns whether blocks are clearly cheaper than the whole mask."""
        return self.cost <= CLEARLY_CHEAPER

    def __str__(self):
        share = (self.allowed.sum() + self.dense_allowed.sum()) / len(self.keys) / self.n**2
        return f"{share:.1%} of {self.n}^2 pairs are allowed, blocks would cost {self.cost:.0%}"


def plan(mask: np.ndarray) -> Plan:
    """Finds the cheapest plan for a mask, over sizes of blocks and orders of queries.

    Orders other than that of the positions are tried only if this one is not good: by strides, and
    by reverse Cuthill-McKee, which finds a band in a permuted mask.

    Args:
        mask: <bool>[1 or heads, n, n], query before key, n > 0.
    """
    n = mask.shape[-1]
    # [n]: the most keys of each query in any head
    num_keys = mask.sum(-1).max(0)
    is_dense = num_keys >= max(DENSE_SHARE * n, 2 * np.median(num_keys))
    dense, others = np.flatnonzero(is_dense), np.flatnonzero(~is_dense)
    mask = np.pad(mask, [[0, 0], [0, 1], [0, 1]])  # position n, no token
    candidates = _candidates(mask, others, dense)
    _, queries, keys_of_block = min(candidates, key=lambda candidate: candidate[0])
    keys, allowed = _with_keys(mask, queries, keys_of_block)
    return Plan(n, queries, keys, allowed, dense, mask[:, dense, :n])


def _candidates(mask, queries, dense):
    """Yields blocks of `queries` with their cost, as `_blocks` has them, until some are cheap."""
    cheapest = np.inf
    for order in _orders(mask, queries):
        for blocks, keys_of_block in _blocks(mask, order):
            width = int(keys_of_block.sum(-1).max(initial=0))
            cost = _cost(mask.shape[-1] - 1, blocks, width, dense)
            cheapest = min(cheapest, cost)
            yield cost, blocks, keys_of_block
        if cheapest <= CLEARLY_CHEAPER / 2:
            break


def _cost(n, queries, width, dense) -> float:
    """Returns the cost of blocks of `width` keys, relative to computing all pairs of n tokens."""
    blocks, block = queries.shape
    pairs = blocks * (block * width + GATHER_COST * (block + 2 * width)) + len(dense) * n
    return pairs / n**2


def _orders(mask, queries):
    """Yields orders of the positions `queries` <int>[queries] for a mask as `_blocks` takes it."""
    for stride in STRIDES:
        yield queries[np.argsort(queries % stride, kind="stable")]
    from scipy import sparse

    pairs = sparse.csr_array(mask.any(0)[np.ix_(queries, queries)])
    yield queries[sparse.csgraph.reverse_cuthill_mckee(pairs)]


def _blocks(mask, order):
    """Cuts queries, in an order <int>[queries], into blocks of each of BLOCK_SIZES.

    For each size, yields positions <int>[blocks, size], and the keys that some query of the block
    attends to, <bool>[1 or heads, blocks, n].
    """
    n = mask.shape[-1] - 1
    smallest = BLOCK_SIZES[0]
    padded_length = -(-len(order) // BLOCK_SIZES[-1]) * BLOCK_SIZES[-1]
    queries = np.concatenate([order, np.full(padded_length - len(order), n)])
    by_block = np.zeros([len(mask), padded_length // smallest, n], bool)
    for index, part in enumerate(queries.reshape(-1, smallest)):
        by_block[:, index] = mask[:, part, :n].any(1)
    for size in BLOCK_SIZES:
        used = -(-len(order) // size)
        # [heads, blocks, n]
        keys_of_block = np.any(by_block.reshape(len(mask), -1, size // smallest, n), axis=2)
        yield queries.reshape(-1, size)[:used], keys_of_block[:, :used]


def _with_keys(mask, queries, keys_of_block):
    """Returns the keys of each block, padded to the longest list, and the mask in the blocks."""
    heads, blocks, n = keys_of_block.shape
    counts = keys_of_block.sum(-1)
    keys = np.full([heads, blocks, int(counts.max(initial=0))], n)
    keys[np.arange(keys.shape[-1]) < counts[..., None]] = np.nonzero(keys_of_block)[2]
    head = np.arange(heads)[:, None, None, None]
    return keys, mask[head, queries[None, :, :, None], keys[:, :, None, :]]


class BlockTensors(NamedTuple):
    """Tensors by which `attend` computes a mask; indices are those of `views`.

    Attributes:
        long: <int32>[batch * blocks, heads, block], indices of the queries of each block.
        window: <int32>[batch * blocks, heads, keys], indices of its keys.
        block_bias: <float>[batch * blocks, 1 or heads, block, keys].
        restore: <int32>[batch, seq, heads], numbers of the outputs, for `sorted_views.gather_back`.
        global_: <int32>[batch, heads, dense], indices of the dense queries; None without any.
        dense_bias: <float>[batch, 1 or heads, dense, seq]; None without dense queries.
    """

    long: tf.Tensor
    window: tf.Tensor
    block_bias: tf.Tensor
    restore: tf.Tensor
    global_: tf.Tensor | None = None
    dense_bias: tf.Tensor | None = None


def tensors(plan: Plan, real: tf.Tensor, num_heads: int, dtype) -> BlockTensors:
    """Computes indices of projections, masks, and the numbers of the outputs.

    Args:
        real: <bool>[batch, seq], the tokens that are not padding; seq may be below the plan's n.
        dtype: dtype of the biases.
    """
    batch, seq = shape_list(real)
    blocks, block = plan.queries.shape
    heads, width, num_dense = len(plan.keys), plan.keys.shape[-1], len(plan.dense)
    head = tf.range(num_heads)
    # Position n, and positions behind the input, are not real.
    real_to_n = tf.pad(real, [[0, 0], [0, plan.n + 1 - seq]])

    def indices(positions):
        """Returns indices: <int>[…, 1 or heads, tokens] -> <int32>[batch, …, heads, tokens]."""
        tokens = tf.minimum(tf.constant(positions, tf.int32), seq - 1)
        first = tf.reshape(tf.range(batch) * seq, [-1, *[1] * len(positions.shape)])
        return (first + tokens) * num_heads + head[:, None]

    # [blocks, 1 or heads, keys]
    keys = plan.keys.transpose(1, 0, 2)
    # [batch, blocks, 1 or heads, 1, keys] & [blocks, 1 or heads, block, keys]
    allowed = tf.gather(real_to_n, tf.constant(keys, tf.int32), axis=1)[:, :, :, None]
    allowed &= tf.constant(plan.allowed.transpose(1, 0, 2, 3))
    # [batch, 1 or heads, dense, seq]
    dense_allowed = tf.constant(plan.dense_allowed)[..., :seq] & real[:, None, None]

    # Outputs are [batch, blocks, heads, block], then [batch, heads, dense].
    num_block_outputs = batch * blocks * num_heads * block
    in_blocks, in_dense = np.zeros(plan.n + 1, np.int32), np.full(plan.n + 1, -1, np.int32)
    in_blocks[plan.queries] = np.arange(blocks)[:, None] * num_heads * block + np.arange(block)
    in_dense[plan.dense] = np.arange(num_dense)
    in_blocks, in_dense = (tf.constant(x)[:seq, None] for x in (in_blocks, in_dense))
    example = tf.range(batch)[:, None, None]
    # [batch, seq, heads]
    to_block = example * (blocks * num_heads * block) + in_blocks + head * block
    to_dense = (example * num_heads + head) * num_dense + in_dense
    restore = tf.where(in_dense < 0, to_block, num_block_outputs + to_dense)
    # Queries without keys read the zeros behind all outputs.
    every_head = tf.zeros([num_heads, 1, 1], tf.bool)
    parts = [masks.any_key(part, tf.bool) | every_head for part in (allowed, dense_allowed)]
    any_key = tf.concat([tf.reshape(part, [-1]) for part in parts], axis=0)
    num_outputs = tf.size(any_key)
    any_key = tf.gather(any_key, restore) & real[..., None]
    result = BlockTensors(
        long=tf.reshape(indices(plan.queries[:, None]), [-1, num_heads, block]),
        window=tf.reshape(indices(keys), [-1, num_heads, width]),
        block_bias=mask_bias(tf.reshape(allowed, [-1, heads, block, width]), dtype),
        restore=tf.where(any_key, restore, num_outputs),
    )
    if not num_dense:
        return result
    return result._replace(
        global_=indices(plan.dense[None]), dense_bias=mask_bias(dense_allowed, dtype)
    )


def attend(layer, query, key, value, pattern: BlockTensors, training=None) -> tf.Tensor:
    """Computes attention by blocks, with the arguments of `TableAttention.attend`.

    Args:
        query: <float>[batch, seq, heads, head_size].
        key: <float>[batch, seq, heads, head_size].
        value: <float>[batch, seq, heads, head_size].

    Returns:
        <float>[batch, seq, heads, head_size]
    """
    has_dense = pattern.global_ is not None
    views_of_query = {"global_": pattern.global_} if has_dense else {}
    q = sorted_views.gather_views(query, long=pattern.long, **views_of_query)
    k, v = (sorted_views.gather_views(x, window=pattern.window) for x in (key, value))
    # [batch * blocks, heads, block, head_size]
    outputs = [layer.softmax_attention(q.long, k.window, v.window, pattern.block_bias, training)]
    if has_dense:
        # [batch, seq, heads, head_size] -> [batch, heads, seq, head_size]
        k, v = (tf.transpose(x, [0, 2, 1, 3]) for x in (key, value))
        # [batch, heads, dense, head_size]
        outputs.append(layer.softmax_attention(q.global_, k, v, pattern.dense_bias, training))
    return sorted_views.gather_back(outputs, pattern.restore)
