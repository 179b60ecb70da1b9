"""Who may attend to whom: pure functions from token positions to boolean masks.

The truth that every fast variant is tested against. Masks are <bool>[batch, queries, keys].
Rules from section 3 of the MATE paper; a question token is a real token of segment 0 ([CLS],
question, [SEP], titles). Header tokens are of the table: row 0 of their column.
Padding is never seen. In the head-wise masks it does not see either; in `full` and
`same_row_or_column` it sees every real token, as in TAPAS.
"""

from typing import NamedTuple

import tensorflow as tf

from mate_tf.attention.base import PackedContext


class HeadTokens(NamedTuple):
    """Tokens as one type of heads (row heads or column heads) sees them; [batch, tokens] each.

    Attributes:
        ids: <int32> the row ids for row heads, the column ids for column heads.
        question: <bool> tokens that attend to and are attended by all.
        real: <bool> tokens that are not padding.
        bucket: <int32> 0 in the global section, 1, 2, … in the buckets that follow it.
        place: <int32> where in the input.
    """

    ids: tf.Tensor
    question: tf.Tensor
    real: tf.Tensor
    bucket: tf.Tensor
    place: tf.Tensor


def question_tokens(context) -> tf.Tensor:
    """<bool>[batch, seq]: the real tokens of segment 0, global in all head-wise masks."""
    return (context.segment_ids == 0) & real_tokens(context)


def real_tokens(context) -> tf.Tensor:
    """<bool>[batch, seq]: the tokens that are not padding."""
    return tf.cast(context.input_mask, tf.bool)


def full(context) -> tf.Tensor:
    """<bool>[batch, 1 or, if packed, seq, seq]: every real token of an example is seen by all."""
    return apart(real_tokens(context)[:, None, :], context)


def same_row_or_column(context) -> tf.Tensor:
    """The mask of SAT: same row, same column, or one of the two is of segment 0."""
    segment_zero = context.segment_ids == 0
    return (
        _equal(context.row_ids)
        | _equal(context.column_ids)
        | segment_zero[:, :, None]
        | segment_zero[:, None, :]
    ) & full(context)


def apart(mask, context) -> tf.Tensor:
    """The mask <bool>[batch, 1 or seq, seq] without pairs of different examples in a sequence."""
    return mask & _equal(context.starts) if isinstance(context, PackedContext) else mask


def same_row(context) -> tf.Tensor:
    """What row heads see: the question and their own row; question tokens see everything."""
    return visible(head_tokens(context, context.row_ids))


def same_column(context) -> tf.Tensor:
    """What column heads see: the question and their own column; question tokens see everything."""
    return visible(head_tokens(context, context.column_ids))


def windowed(context, ids, global_length: int, radius: int) -> tf.Tensor:
    """The part of `same_row` or `same_column` that buckets reach, section 3.1 of the MATE paper.

    Tokens are ordered by `ids`. The first `global_length` are global: they are compared with
    all tokens. The others form buckets of `radius`, compared with the global ones, their own
    bucket and the two beside it. Question tokens stay global wherever they stand.

    Args:
        context: the TableContext.
        ids: <int32>[batch, seq], the context's row_ids or column_ids.
        global_length: G.
        radius: R.
    """
    if isinstance(context, PackedContext):
        rank = _packed_rank(context, ids)
    else:
        rank = inverse_permutation(sort_order(context, ids))
    return visible(head_tokens(context, ids, buckets(rank, global_length, radius)))


def head_tokens(context, ids, bucket=None) -> HeadTokens:
    """The tokens of `context` for heads that compare `ids`; without `bucket` all are near."""
    bucket = tf.zeros_like(ids) if bucket is None else bucket
    place = tf.cumsum(tf.ones_like(ids), axis=-1, exclusive=True)
    return HeadTokens(ids, question_tokens(context), real_tokens(context), bucket, place)


def visible(
    queries: HeadTokens, keys: HeadTokens | None = None, diagonal: bool = True
) -> tf.Tensor:
    """<bool>[..., queries, keys]: which of `keys` (the queries themselves if None) are seen.

    Without `diagonal`, tokens do not see themselves.
    """
    keys = queries if keys is None else keys
    q = HeadTokens(*(part[..., :, None] for part in queries))
    k = HeadTokens(*(part[..., None, :] for part in keys))
    near = (tf.abs(q.bucket - k.bucket) <= 1) | (q.bucket == 0) | (k.bucket == 0)
    allowed = q.question | k.question | ((q.ids == k.ids) & near)
    if not diagonal:
        allowed &= q.place != k.place
    return allowed & q.real & k.real


def bigbird(context, random_blocks, block_size: int) -> tf.Tensor:
    """What BigBird sees by blocks of tokens: the first one, those beside it and random ones.

    Args:
        context: the TableContext.
        random_blocks: <int>[heads, blocks, random]: which ones block 1, 2, … sees in each head;
            those behind the last see what that one sees.
        block_size: tokens of a block.

    Returns:
        <bool>[batch, heads, queries, keys]
    """
    real = real_tokens(context)
    block = tf.range(tf.shape(real)[1]) // block_size
    q, k = block[:, None], block[None, :]
    row = tf.clip_by_value(block - 1, 0, random_blocks.shape[1] - 1)
    chosen = tf.gather(random_blocks, row, axis=1)  # [heads, queries, random]
    random = tf.reduce_any(chosen[..., None, :] == k[None, ..., None], axis=-1)
    seen = (tf.abs(q - k) <= 1) | (q == 0) | (k == 0) | random
    return seen & real[:, None, :, None] & real[:, None, None, :]


def table_etc(context, num_global: int, radius: int) -> tf.Tensor:
    """The first `num_global` tokens see and are seen by all, others those up to `radius` away."""
    real = real_tokens(context)
    place = tf.range(tf.shape(real)[1])
    q, k = place[:, None], place[None, :]
    seen = (tf.abs(q - k) <= radius) | (q < num_global) | (k < num_global)
    return seen & real[:, :, None] & real[:, None, :]


def without_diagonal(mask) -> tf.Tensor:
    """The mask <bool>[..., 1 or seq, seq] without the pairs of a token and itself."""
    return mask & ~tf.eye(tf.shape(mask)[-1], dtype=tf.bool)


def same_leaf(query_leaves, key_leaves, real) -> tf.Tensor:
    """Which queries and keys a decision tree puts together (Treeformer, section 3.1).

    Args:
        query_leaves: <int32>[..., batch, heads, seq], the leaf of each query.
        key_leaves: <int32>[..., batch, heads, seq], the leaf of each key.
        real: <bool>[batch, seq]; padding is in no leaf.

    Returns:
        <bool>[..., batch, heads, queries, keys]
    """
    # Before there are pairs: cheaper, and LiteRT has no logical operations of five dimensions.
    query_leaves = tf.where(real[:, None], query_leaves, -1)
    key_leaves = tf.where(real[:, None], key_leaves, -2)
    return query_leaves[..., :, None] == key_leaves[..., None, :]


def buckets(rank, global_length: int, radius: int) -> tf.Tensor:
    """Bucket number by place in the order: 0 for the global section, then 1, 2, …"""
    return tf.maximum((rank - global_length) // radius + 1, 0)


def sort_order(context, ids) -> tf.Tensor:
    """<int32>[batch, seq]: token at each place when ordered by id; question first, padding last.

    Tokens of equal id keep their order.
    """
    key = tf.where(question_tokens(context), -1, ids)
    key = tf.where(real_tokens(context), key, tf.int32.max)
    return tf.argsort(key, axis=-1, stable=True)


def inverse_permutation(order) -> tf.Tensor:
    """<int32>[batch, seq]: the place of each token in `order`."""
    return tf.argsort(order, axis=-1)


def _packed_rank(context, ids) -> tf.Tensor:
    """<int32>[batch, seq]: place of each token in the order of its own example."""
    by_id = sort_order(context, ids)
    starts = tf.gather(context.starts, by_id, batch_dims=1)
    by_example = tf.argsort(starts, axis=-1, stable=True)
    order = tf.gather(by_id, by_example, batch_dims=1)
    return inverse_permutation(order) - context.starts


def _equal(ids) -> tf.Tensor:
    return ids[:, :, None] == ids[:, None, :]
