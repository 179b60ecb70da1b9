"""A mask cut into blocks of queries, each with the keys that one of its queries sees.

Bands, blocks and columns of a mask become small dense pieces; rows that see most of the keys are
computed by themselves. Diagonals far from each other, in which almost every block sees almost all,
gain nothing: `Plan.is_cheaper` tells, from the mask's own numbers.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.attention import views
from mate_tf.attention.base import mask_bias
from mate_tf.layers.shapes import shape_list

BLOCK_SIZES = (32, 64, 128)
"""Queries in a block."""

STRIDES = (1, 2, 3, 4, 8, 16)
"""Orders tried: with stride s, queries 0, s, 2s, …, 1, s + 1, … follow each other."""

DENSE_SHARE = 0.5
"""A query that sees at least this share of the keys, and many more than others, goes apart."""

ROW_COST = 32
"""What gathering the vectors of a token costs, in pairs of tokens compared."""

CLEARLY_CHEAPER = 0.7
"""Cost of the blocks, relative to the whole mask, up to which they are used."""


class Plan(NamedTuple):
    """How a mask of n tokens is computed; position n stands for none.

    Attributes:
        n: the mask's length.
        queries: <int>[blocks, block], without the dense ones.
        keys: <int>[1 or heads, blocks, keys], ascending.
        seen: <bool>[1 or heads, blocks, block, keys].
        dense: <int>[dense], queries computed with all keys, in any head.
        dense_seen: <bool>[1 or heads, dense, n].
    """

    n: int
    queries: np.ndarray
    keys: np.ndarray
    seen: np.ndarray
    dense: np.ndarray
    dense_seen: np.ndarray

    @property
    def cost(self) -> float:
        """Of computing it so, relative to all pairs."""
        blocks, block = self.queries.shape
        keys = self.keys.shape[-1]
        pairs = blocks * (block * keys + ROW_COST * (block + 2 * keys)) + len(self.dense) * self.n
        return pairs / self.n**2

    def is_cheaper(self) -> bool:
        """Whether blocks are clearly cheaper than the whole mask."""
        return self.cost <= CLEARLY_CHEAPER

    def __str__(self):
        share = (self.seen.sum() + self.dense_seen.sum()) / len(self.keys) / self.n**2
        return f"{share:.1%} of {self.n}^2 pairs are seen, blocks would cost {self.cost:.0%}"


def plan(mask: np.ndarray) -> Plan:
    """The cheapest plan for a mask, <bool>[1 or heads, n, n] with n > 0, by blocks of any order.

    Orders beyond that of the positions are tried only where this one is not good.
    """
    n = mask.shape[-1]
    of_query = mask.sum(-1).max(0)
    apart = of_query >= max(DENSE_SHARE * n, 2 * np.median(of_query))
    dense, others = np.flatnonzero(apart), np.flatnonzero(~apart)
    found = None
    mask = np.pad(mask, [[0, 0], [0, 1], [0, 1]])  # position n, none
    for stride in STRIDES:
        order = others[np.argsort(others % stride, kind="stable")]
        for queries, seen_by_block in _blocks(mask, order):
            width = int(seen_by_block.sum(-1).max(initial=0))
            sizes = Plan(n, queries, np.zeros([1, len(queries), width]), None, dense, None)
            if found is None or sizes.cost < found[0]:
                found = sizes.cost, queries, seen_by_block
        if found[0] <= CLEARLY_CHEAPER / 2:
            break
    _, queries, seen_by_block = found
    keys, seen = _with_keys(mask, queries, seen_by_block)
    return Plan(n, queries, keys, seen, dense, mask[:, dense, :n])


def _blocks(mask, order):
    """For each of BLOCK_SIZES: queries [blocks, size], and keys that a block sees at all.

    The mask is filled up with a row and a column of none.
    """
    n = mask.shape[-1] - 1
    smallest = BLOCK_SIZES[0]
    filled = -(-len(order) // BLOCK_SIZES[-1]) * BLOCK_SIZES[-1]
    queries = np.concatenate([order, np.full(filled - len(order), n)])
    by_block = np.zeros([len(mask), filled // smallest, n], bool)
    for index, part in enumerate(queries.reshape(-1, smallest)):
        by_block[:, index] = mask[:, part, :n].any(1)
    for size in BLOCK_SIZES:
        used = -(-len(order) // size)
        together = by_block.reshape(len(mask), -1, size // smallest, n).any(2)
        yield queries.reshape(-1, size)[:used], together[:, :used]


def _with_keys(mask, queries, seen_by_block):
    """Keys of each block, filled up to the longest list, and which its queries see."""
    heads, blocks, n = seen_by_block.shape
    counts = seen_by_block.sum(-1)
    keys = np.full([heads, blocks, int(counts.max(initial=0))], n)
    keys[np.arange(keys.shape[-1]) < counts[..., None]] = np.nonzero(seen_by_block)[2]
    head = np.arange(heads)[:, None, None, None]
    return keys, mask[head, queries[None, :, :, None], keys[:, :, None, :]]


def pattern(plan: Plan, real: tf.Tensor, num_heads: int, dtype) -> dict:
    """What `attend` reads: rows of projections, masks, and where each output ends up.

    Args:
        plan: the Plan.
        real: <bool>[batch, seq], the tokens that are not padding; seq may be below the plan's n.
        num_heads: heads of each layer.
        dtype: of the masks.
    """
    batch, seq = shape_list(real)
    blocks, block = plan.queries.shape
    heads, width, num_dense = len(plan.keys), plan.keys.shape[-1], len(plan.dense)
    head = tf.range(num_heads)
    # Position n, and those beyond the input, are not real.
    filled = tf.pad(real, [[0, 0], [0, plan.n + 1 - seq]])

    def rows(positions):
        """<int>[…, 1 or heads, tokens] -> <int32>[batch, …, heads, tokens], as `head_rows`."""
        tokens = tf.minimum(tf.constant(positions, tf.int32), seq - 1)
        first = tf.reshape(tf.range(batch) * seq, [-1, *[1] * len(positions.shape)])
        return (first + tokens) * num_heads + head[:, None]

    # <bool>[batch, blocks, 1 or heads, block, keys], [batch, 1 or heads, dense, seq]
    keys = plan.keys.transpose(1, 0, 2)
    seen = tf.gather(filled, tf.constant(keys, tf.int32), axis=1)[:, :, :, None]
    seen &= tf.constant(plan.seen.transpose(1, 0, 2, 3))
    dense_seen = tf.constant(plan.dense_seen)[..., :seq] & real[:, None, None]

    # Outputs are [batch, blocks, heads, block], then [batch, heads, dense].
    num_block_rows = batch * blocks * num_heads * block
    in_blocks, in_dense = np.zeros(plan.n + 1, np.int32), np.full(plan.n + 1, -1, np.int32)
    in_blocks[plan.queries] = np.arange(blocks)[:, None] * num_heads * block + np.arange(block)
    in_dense[plan.dense] = np.arange(num_dense)
    in_blocks, in_dense = (tf.constant(x)[:seq, None] for x in (in_blocks, in_dense))
    example = tf.range(batch)[:, None, None]
    to_block = example * (blocks * num_heads * block) + in_blocks + head * block
    to_dense = (example * num_heads + head) * num_dense + in_dense
    places = tf.where(in_dense < 0, to_block, num_block_rows + to_dense)
    # Whoever sees nothing reads the row of zeros behind all others.
    every_head = tf.zeros([num_heads, 1], tf.bool)
    any_key = tf.concat(
        [tf.reshape(tf.reduce_any(part, -1) | every_head, [-1]) for part in (seen, dense_seen)], 0
    )
    num_rows = tf.size(any_key)
    any_key = tf.gather(any_key, places) & real[..., None]
    result = {
        "long": tf.reshape(rows(plan.queries[:, None]), [-1, num_heads, block]),
        "window": tf.reshape(rows(keys), [-1, num_heads, width]),
        "block_bias": mask_bias(tf.reshape(seen, [-1, heads, block, width]), dtype),
        "restore": tf.where(any_key, places, num_rows),
    }
    if num_dense:
        result |= {"global_": rows(plan.dense[None]), "dense_bias": mask_bias(dense_seen, dtype)}
    return result


def attend(layer, query, key, value, pattern: dict, training=None) -> tf.Tensor:
    """As `TableAttention.attend`, by what `pattern` gave."""
    views_of_query = {name: pattern[name] for name in ("long", "global_") if name in pattern}
    q = views.gather_views(query, **views_of_query)
    k, v = (views.gather_views(x, window=pattern["window"]) for x in (key, value))
    outputs = [layer.softmax_attention(q.long, k.window, v.window, pattern["block_bias"], training)]
    if q.global_ is not None:
        k, v = (tf.transpose(x, [0, 2, 1, 3]) for x in (key, value))
        outputs.append(layer.softmax_attention(q.global_, k, v, pattern["dense_bias"], training))
    return views.gather_back(outputs, pattern["restore"])
