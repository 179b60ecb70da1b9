"""Masks over tables: pure functions from the ids of tokens to boolean masks.

Every fast variant is tested against these masks. They are <bool>[batch, queries, keys] unless a
function says otherwise. The rules are those of the MATE paper, section 3. A question token is a
real token of segment 0: [CLS], the question, [SEP], titles. Header tokens belong to the table:
they are row 0 of their column. No token attends to padding. Padding attends to nothing in the
head-wise masks; in `full` and `same_row_or_column` it attends to every real token, as in TAPAS.
"""

from typing import NamedTuple

import tensorflow as tf

from mate_tf.data import padding


class HeadTokens(NamedTuple):
    """Tokens as one type of heads (row heads or column heads) compares them.

    Attributes:
        ids: <int32>[batch, tokens], row ids for row heads, column ids for column heads.
        question: <bool>[batch, tokens], tokens that attend to all and that all attend to.
        real: <bool>[batch, tokens], tokens that are not padding.
        bucket: <int32>[batch, tokens], 0 in the global part, 1, 2, … in the buckets behind it.
        position: <int32>[batch, tokens], position in the input.
    """

    ids: tf.Tensor
    question: tf.Tensor
    real: tf.Tensor
    bucket: tf.Tensor
    position: tf.Tensor


def question_tokens(context) -> tf.Tensor:
    """Returns the real tokens of segment 0, <bool>[batch, seq]; global in head-wise masks."""
    return (context.segment_ids == 0) & real_tokens(context)


def real_tokens(context) -> tf.Tensor:
    """Returns the tokens that are not padding, <bool>[batch, seq]."""
    return padding.real_tokens(tf.convert_to_tensor(context.input_mask))


def real_pairs(context) -> tf.Tensor:
    """Returns the pairs of real tokens, <bool>[batch, 1, queries, keys]."""
    real = real_tokens(context)
    return real[:, None, :, None] & real[:, None, None, :]


def last_token(context) -> tf.Tensor:
    """Returns the position of each example's last real token, <int32>[batch]; 0 if it has none."""
    real = tf.cast(real_tokens(context), tf.int32)
    return tf.reduce_max(real * tf.range(tf.shape(real)[1]), axis=1)


def any_key(mask, dtype) -> tf.Tensor:
    """Computes 1 for each query that attends to some key and 0 for the others.

    Args:
        mask: <bool>[batch, 1 or heads, 1 or queries, keys].
        dtype: dtype of the result.

    Returns:
        <dtype>[batch, 1 or heads, 1 or queries, 1]
    """
    return tf.cast(tf.reduce_any(mask, -1, keepdims=True), dtype)


def full(context) -> tf.Tensor:
    """Allows every real token of the same example.

    Returns:
        <bool>[batch, 1, keys]; <bool>[batch, queries, keys] for packed examples.
    """
    return same_example(real_tokens(context)[:, None, :], context)


def same_row_or_column(context) -> tf.Tensor:
    """Allows tokens of the same row or column, and pairs with a token of segment 0 (SAT)."""
    segment_zero = context.segment_ids == 0
    return (
        _equal(context.row_ids)
        | _equal(context.column_ids)
        | segment_zero[:, :, None]
        | segment_zero[:, None, :]
    ) & full(context)


def structure(
    context, question=True, same_cell=True, same_row=True, same_column=True, header=True
) -> tf.Tensor:
    """Joins parts of a table's structure (Mouravieff et al., 2025). Only real tokens are in pairs.

    Every token attends to itself, and question tokens attend to one another.

    Args:
        question: whether to allow pairs of a question token and a token of the table, both ways.
        same_cell: pairs within a cell, or within the name of a column.
        same_row: pairs within a row, or within the header.
        same_column: pairs within a column and its name.
        header: pairs of a token and the name of its column, both ways.
    """
    asked = question_tokens(context)
    of_question, of_header = _either(asked), _either((context.row_ids == 0) & ~asked)
    # Question tokens have row 0, as the header has, and their own column.
    rows = _equal(context.row_ids) & ~of_question
    columns = _equal(context.column_ids) & ~of_question
    parts = (
        (question, of_question),
        (same_cell, rows & columns),
        (same_row, rows),
        (same_column, columns),
        (header, columns & of_header),
    )
    allowed = tf.eye(tf.shape(asked)[1], dtype=tf.bool) | (asked[:, :, None] & asked[:, None, :])
    for chosen, pairs in parts:
        if chosen:
            allowed |= pairs
    return allowed & full(context) & real_tokens(context)[:, :, None]


def same_example(mask, context) -> tf.Tensor:
    """Removes pairs of different examples in one sequence from <bool>[batch, 1 or seq, seq].

    Returns the mask itself if the context is not packed.
    """
    return mask if context.starts is None else mask & _equal(context.starts)


def same_row(context) -> tf.Tensor:
    """Computes the mask of row heads: own row and question; question tokens attend to all."""
    return visible(head_tokens(context, context.row_ids))


def same_column(context) -> tf.Tensor:
    """Computes the mask of column heads: own column and question; question tokens: all."""
    return visible(head_tokens(context, context.column_ids))


def windowed(context, ids, global_length: int, radius: int) -> tf.Tensor:
    """Computes the part of `same_row` or `same_column` that buckets reach (MATE, section 3.1).

    Tokens are ordered by `ids`. The first `global_length` are global: they are compared with
    all tokens. The others form buckets of `radius`, compared with the global tokens, their own
    bucket and its two neighbours. Question tokens stay global at any rank.

    Args:
        ids: <int32>[batch, seq], the context's row_ids or column_ids.
        global_length: G.
        radius: R.
    """
    if context.starts is None:
        rank = inverse_permutation(sort_order(context, ids))
    else:
        rank = _rank_in_example(context, ids)
    return visible(head_tokens(context, ids, buckets(rank, global_length, radius)))


def head_tokens(context, ids, bucket=None) -> HeadTokens:
    """Returns the tokens of `context` for heads that compare `ids`.

    Args:
        ids: <int32>[batch, seq], the context's row_ids or column_ids.
        bucket: <int32>[batch, seq]; None puts all tokens into one bucket.
    """
    bucket = tf.zeros_like(ids) if bucket is None else bucket
    position = tf.cumsum(tf.ones_like(ids), axis=-1, exclusive=True)
    return HeadTokens(ids, question_tokens(context), real_tokens(context), bucket, position)


def visible(
    queries: HeadTokens, keys: HeadTokens | None = None, diagonal: bool = True
) -> tf.Tensor:
    """Computes which `keys` each of `queries` attends to.

    Args:
        queries: HeadTokens of [..., queries].
        keys: HeadTokens of [..., keys]; None = `queries`.
        diagonal: whether tokens attend to themselves.

    Returns:
        <bool>[..., queries, keys]
    """
    keys = queries if keys is None else keys
    # [..., queries, 1] and [..., 1, keys]
    q = HeadTokens(*(part[..., :, None] for part in queries))
    k = HeadTokens(*(part[..., None, :] for part in keys))
    near = (tf.abs(q.bucket - k.bucket) <= 1) | (q.bucket == 0) | (k.bucket == 0)
    allowed = q.question | k.question | ((q.ids == k.ids) & near)
    if not diagonal:
        allowed &= q.position != k.position
    return allowed & q.real & k.real


def bigbird(context, random_blocks, block_size: int) -> tf.Tensor:
    """Computes BigBird's mask by blocks: the first block, the neighbours and random ones.

    Args:
        random_blocks: <int>[heads, blocks, random], the random blocks of block 1, 2, … in each
            head. Blocks behind the last one have its random blocks.

    Returns:
        <bool>[batch, heads, queries, keys]
    """
    block = tf.range(tf.shape(context.input_mask)[1]) // block_size
    q, k = block[:, None], block[None, :]
    own = tf.clip_by_value(block - 1, 0, random_blocks.shape[1] - 1)
    # [heads, queries, random]
    chosen = tf.gather(random_blocks, own, axis=1)
    # [heads, queries, random, keys] -> [heads, queries, keys]
    random = tf.reduce_any(chosen[..., None] == block, axis=2)
    return ((tf.abs(q - k) <= 1) | (q == 0) | (k == 0) | random) & real_pairs(context)


def table_etc(context, num_global: int, radius: int) -> tf.Tensor:
    """Allows all pairs with one of the first `num_global` tokens, and distances up to `radius`."""
    real = real_tokens(context)
    position = tf.range(tf.shape(real)[1])
    q, k = position[:, None], position[None, :]
    allowed = (tf.abs(q - k) <= radius) | (q < num_global) | (k < num_global)
    return allowed & real[:, :, None] & real[:, None, :]


def without_diagonal(mask) -> tf.Tensor:
    """Removes the pairs of a token and itself from <bool>[..., 1 or seq, seq]."""
    return mask & ~tf.eye(tf.shape(mask)[-1], dtype=tf.bool)


def same_leaf(query_leaves, key_leaves, real) -> tf.Tensor:
    """Allows the pairs that share a leaf of a decision tree (Treeformer, section 3.1).

    Args:
        query_leaves: <int32>[..., batch, heads, seq], the leaf of each query; -1: none.
        key_leaves: <int32>[..., batch, heads, seq], the leaf of each key; -1: none.
        real: <bool>[batch, seq]; padding is in no leaf.

    Returns:
        <bool>[..., batch, heads, queries, keys]
    """
    # Padding is removed before pairs are made: cheaper, and LiteRT has no logical operations of
    # five dimensions.
    query_leaves = tf.where(real[:, None], query_leaves, -1)
    key_leaves = tf.where(real[:, None] & (key_leaves >= 0), key_leaves, -2)
    return query_leaves[..., :, None] == key_leaves[..., None, :]


def buckets(rank, global_length: int, radius: int) -> tf.Tensor:
    """Returns the bucket of each rank: 0 for the global part, then 1, 2, …; same shape."""
    return tf.maximum((rank - global_length) // radius + 1, 0)


def sort_order(context, ids) -> tf.Tensor:
    """Sorts tokens by id, with the question first and padding last.

    Tokens of equal id keep their order.

    Returns:
        <int32>[batch, seq], the position of the token at each rank.
    """
    key = tf.where(question_tokens(context), -1, ids)
    key = tf.where(real_tokens(context), key, tf.int32.max)
    return tf.argsort(key, axis=-1, stable=True)


def inverse_permutation(order) -> tf.Tensor:
    """Returns the rank of each token in `order`, <int32>[batch, seq] both."""
    return tf.argsort(order, axis=-1)


def _rank_in_example(context, ids) -> tf.Tensor:
    """Returns the rank of each token among those of its own example, <int32>[batch, seq]."""
    by_id = sort_order(context, ids)
    starts = tf.gather(context.starts, by_id, batch_dims=1)
    by_example = tf.argsort(starts, axis=-1, stable=True)
    order = tf.gather(by_id, by_example, batch_dims=1)
    return inverse_permutation(order) - context.starts


def _either(tokens) -> tf.Tensor:
    """Marks each pair with one of `tokens`: <bool>[batch, seq] -> <bool>[batch, seq, seq]."""
    return tokens[:, :, None] | tokens[:, None, :]


def _equal(ids) -> tf.Tensor:
    """Compares each pair: [batch, seq] -> <bool>[batch, queries, keys]."""
    return ids[:, :, None] == ids[:, None, :]
