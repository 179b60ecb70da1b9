"""TableETC: global tokens for rows and columns, and local attention (MATE paper, section 5.1).

ETC (Ainslie et al., 2020) has four parts of attention, from global and from long tokens to either.
Half of the global tokens stand for a row each, the other half for a column each. Relative positions
mark a long token's own row and column among them. The paper does not give the radius and the
distances; they are as in ETC. A global token starts as the mean embedding of the tokens of its row
or column, so it needs no separate embedding.
"""

import dataclasses
import enum
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.abilities import AddsTokens
from mate_tf.attention.base import AttentionPattern, TableAttention, TableContext, mask_bias
from mate_tf.errors import InputError
from mate_tf.field_types import Size, Tokens, TokensOrZero
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import shape_list


class RelativePosition(enum.IntEnum):
    """Relative positions with a global token; distances between long tokens follow them.

    TO_: from a long token to the global token of its own row, of its own column, or another one.
    FROM_: from a global token to a long token, in the same way. OTHER_KIND, SAME_KIND and ITSELF:
    between two global tokens.
    """

    TO_OTHER = 0
    TO_ROW = 1
    TO_COLUMN = 2
    FROM_OTHER = 3
    FROM_ROW = 4
    FROM_COLUMN = 5
    OTHER_KIND = 6
    SAME_KIND = 7
    ITSELF = 8


TO_OTHER, TO_ROW, TO_COLUMN, FROM_OTHER, FROM_ROW, FROM_COLUMN, OTHER_KIND, SAME_KIND, ITSELF = map(
    int, RelativePosition
)


@dataclasses.dataclass(frozen=True)
class TableETCOptions:
    """Options of `table_etc`.

    Attributes:
        num_global: global tokens; the first half for rows, the second half for columns. In a table
            with more rows than that, rows r and r + num_global / 2 share a token.
        local_radius: largest distance of a long token from a long token that it attends to.
        max_distance: largest distance with its own embedding; larger ones share it.
    """

    num_global: TokensOrZero = 256
    local_radius: Tokens = 84
    max_distance: Size = 12


class TableETCTensors(NamedTuple):
    """Tensors of `TableETCPattern`.

    Attributes:
        own: <bool>[batch, 1, seq, num_global], global tokens of each long token's row and column.
        global_bias: <float>[batch, 1, 1, num_global], 0 for global tokens that stand for tokens.
        long_bias: <float>[batch, 1, 1, seq], 0 for real long tokens.
        window_bias: <float>[batch, 1, blocks, radius, 3 * radius], 0 for keys within the radius.
        real: <float>[batch, num_global + seq, 1, 1], 0 for padding.
    """

    own: tf.Tensor
    global_bias: tf.Tensor
    long_bias: tf.Tensor
    window_bias: tf.Tensor
    real: tf.Tensor


class TableETCPattern(AddsTokens, AttentionPattern):
    """Pattern that puts global tokens before the others, and assigns rows and columns to them.

    Raises:
        InputError: an option out of range.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        if self.config.num_global < 2 or self.config.num_global % 2:
            raise InputError(f"num_global must be even and positive, not {self.config.num_global}")

    @classmethod
    def num_added_tokens(cls, config):
        return config.num_global

    def add_tokens(self, embeddings, context):
        """Puts global tokens first; those without tokens of the table are padding."""
        own = tf.cast(own_global_tokens(context, self.config.num_global), tf.float32)
        counts = tf.reduce_sum(own, axis=1)
        # [batch, seq, num_global], [batch, seq, hidden] -> [batch, num_global, hidden]
        sums = tf.matmul(own, tf.cast(embeddings, tf.float32), transpose_a=True)
        means = sums / tf.maximum(counts, 1)[..., None]
        # [batch, num_global / 2]
        numbers = tf.zeros_like(context.row_ids[:, :1]) + tf.range(self.config.num_global // 2)
        none = tf.zeros_like(numbers)
        of_global = TableContext(
            segment_ids=tf.concat([none + 1, none + 1], axis=1),
            row_ids=tf.concat([numbers, none], axis=1),
            column_ids=tf.concat([none, numbers + 1], axis=1),
            input_mask=tf.cast(counts > 0, none.dtype),
        )
        parts = zip(of_global.tensors.values(), context.tensors.values(), strict=True)
        return (
            tf.concat([tf.cast(means, embeddings.dtype), embeddings], axis=1),
            TableContext(*(tf.concat(pair, axis=1) for pair in parts)),
        )

    def remove_tokens(self, output):
        return output[:, self.config.num_global :]

    def mask(self, context):
        """Computes the mask of a context from `add_tokens`: <bool>[batch, 1, queries, keys]."""
        return masks.table_etc(context, self.config.num_global, self.config.local_radius)[:, None]

    def call(self, context, training=None):
        num_global, radius = self.config.num_global, self.config.local_radius
        real = masks.real_tokens(context)
        long_context = context.map(lambda part: part[:, num_global:])
        of_global, of_long = real[:, :num_global], real[:, num_global:]
        batch, seq = shape_list(of_long)
        num_blocks = -(-seq // radius)
        pad_length = num_blocks * radius - seq
        keys = tf.pad(of_long, [[0, 0], [radius, radius + pad_length]])
        # [batch, blocks, 3 * radius]
        windows = window_of_blocks(tf.reshape(keys, [batch, num_blocks + 2, radius]), 2)
        # [batch, blocks, radius, 3 * radius]
        distance = np.arange(3 * radius) - radius - np.arange(radius)[:, None]
        near = windows[:, :, None] & tf.constant(abs(distance) <= radius)
        return TableETCTensors(
            own=own_global_tokens(long_context, num_global)[:, None],
            global_bias=mask_bias(of_global, self.compute_dtype)[:, None, None],
            long_bias=mask_bias(of_long, self.compute_dtype)[:, None, None],
            window_bias=mask_bias(near, self.compute_dtype)[:, None],
            real=tf.cast(real, self.compute_dtype)[:, :, None, None],
        )


class TableETC(TableAttention):
    """Softmax of scale query (key + relative position); time and memory linear in the length.

    Variables: relative_position_embeddings <float32>[9 + 2 * max_distance + 1, heads, head_size];
    the first nine as in RelativePosition, then distances from -max_distance on.
    """

    def build(self, input_shape):
        self.relative_position_embeddings = self.add_weight(
            "relative_position_embeddings",
            [ITSELF + 2 + 2 * self.config.max_distance, self.num_heads, self.head_size],
            initializer=keras.initializers.TruncatedNormal(stddev=self.initializer_range),
        )
        super().build(input_shape)

    def checkpoint_variables(self):
        return {"relative_position_embeddings": self.relative_position_embeddings}

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Counts global tokens with all keys, others with these and three blocks, and positions."""
        first = config.num_global
        pairs = first * (length + first) + length * (first + 3 * config.local_radius)
        positions = ITSELF + 2 + 2 * config.max_distance
        return 4 * hidden_size * pairs + 2 * (length + first) * positions * hidden_size

    def attend(self, query, key, value, pattern: TableETCTensors, training=None):
        num_global, real = self.config.num_global, pattern.real
        query = query * self.scale(query.dtype)
        # [batch, tokens, heads, head_size] -> [batch, heads, tokens, head_size]
        query, key, value = (tf.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
        relative = tf.cast(self.relative_position_embeddings, query.dtype)
        # [batch, heads, num_global + seq, positions]
        of_positions = tf.einsum("bhqd,phd->bhqp", query, relative)
        of_global = self._from_global(
            query[:, :, :num_global], of_positions[:, :, :num_global], key, value, pattern, training
        )
        of_long = self._from_long(
            *(x[:, :, num_global:] for x in (query, of_positions, key, value)),
            global_key=key[:, :, :num_global],
            global_value=value[:, :, :num_global],
            pattern=pattern,
            training=training,
        )
        # [batch, heads, tokens, head_size] -> [batch, tokens, heads, head_size]
        context = tf.concat([of_global, of_long], axis=2)
        return tf.transpose(context, [0, 2, 1, 3]) * real

    def _from_global(self, query, of_positions, key, value, pattern, training):
        """Computes the outputs of global tokens, <float>[batch, heads, num_global, head_size]."""
        kind = _is_row(self.config.num_global)
        row = of_positions[..., FROM_ROW, None]
        own = tf.where(kind[:, None], row, of_positions[..., FROM_COLUMN, None])
        other = of_positions[..., FROM_OTHER, None]
        # [batch, heads, num_global, seq]
        to_long = tf.where(tf.linalg.matrix_transpose(pattern.own), own, other)
        # [batch, heads, num_global, num_global]
        to_global = tf.where(
            kind[:, None] == kind,
            of_positions[..., SAME_KIND, None],
            of_positions[..., OTHER_KIND, None],
        )
        itself = np.eye(self.config.num_global, dtype=bool)
        to_global = tf.where(itself, of_positions[..., ITSELF, None], to_global)
        bias = tf.concat([to_global + pattern.global_bias, to_long + pattern.long_bias], axis=-1)
        # [batch, heads, num_global, num_global + seq]
        scores = tf.matmul(query, key, transpose_b=True) + bias
        return tf.matmul(self.dropout(tf.nn.softmax(scores), training=training), value)

    def _from_long(
        self, query, of_positions, key, value, global_key, global_value, pattern, training
    ):
        """Computes the outputs of long tokens, <float>[batch, heads, seq, head_size]."""
        num_global, radius = self.config.num_global, self.config.local_radius
        batch, heads, seq, size = shape_list(query)
        num_blocks = shape_list(pattern.window_bias)[2]
        pad_length = num_blocks * radius - seq

        # Scores of the global tokens, [batch, heads, seq, num_global]
        row, column = of_positions[..., TO_ROW, None], of_positions[..., TO_COLUMN, None]
        own = tf.where(_is_row(num_global), row, column)
        to_global = tf.where(pattern.own, own, of_positions[..., TO_OTHER, None])
        to_global += tf.matmul(query, global_key, transpose_b=True) + pattern.global_bias

        # Scores of the window, [batch, heads, blocks, radius, 3 * radius]
        def blocks(x, before, after):
            """Cuts [batch, heads, seq, n] into blocks: [batch, heads, blocks, radius, n]."""
            x = tf.pad(x, [[0, 0], [0, 0], [before, after + pad_length], [0, 0]])
            return tf.reshape(x, [batch, heads, -1, radius, x.shape[-1]])

        keys, values = (window_of_blocks(blocks(x, radius, radius), 3) for x in (key, value))
        to_window = tf.matmul(blocks(query, 0, 0), keys, transpose_b=True)
        to_window += self._by_distance(blocks(of_positions[..., ITSELF + 1 :], 0, 0))
        to_window += pattern.window_bias

        scores = tf.concat([blocks(to_global, 0, 0), to_window], axis=-1)
        probabilities = self.dropout(tf.nn.softmax(scores), training=training)
        length = num_blocks * radius
        to_global = tf.reshape(probabilities[..., :num_global], [batch, heads, length, num_global])
        to_window = probabilities[..., num_global:]
        context = tf.matmul(to_global, global_value)
        context += tf.reshape(tf.matmul(to_window, values), [batch, heads, length, size])
        return context[:, :, :seq]

    def _by_distance(self, of_distances):
        """Moves scores <float>[batch, heads, blocks, radius, 2 * max_distance + 1] of distances to
        the keys of the window, [..., 3 * radius]; arbitrary beyond the radius.
        """
        radius, most = self.config.local_radius, self.config.max_distance
        batch, heads, num_blocks, _, _ = shape_list(of_distances)
        # [batch, heads, blocks, radius, 2 * radius + 1], distances from -radius to radius
        beyond = radius - most
        first, last = of_distances[..., :1], of_distances[..., -1:]
        if beyond > 0:
            parts = [tf.repeat(first, beyond, -1), of_distances, tf.repeat(last, beyond, -1)]
            scores = tf.concat(parts, axis=-1)
        else:
            scores = of_distances[..., -beyond : 2 * most + 1 + beyond]
        # Distance -radius of query q is key q of the window: the scores of query q move q steps to
        # the right. Reading rows of width w + 1 as rows of width w does that.
        scores = tf.pad(scores, [[0, 0]] * 4 + [[0, radius]])
        scores = tf.reshape(scores, [batch, heads, num_blocks, radius * (3 * radius + 1)])
        scores = scores[..., : radius * 3 * radius]
        return tf.reshape(scores, [batch, heads, num_blocks, radius, 3 * radius])


def own_global_tokens(context, num_global: int) -> tf.Tensor:
    """Finds the global tokens of the row and the column of each token.

    Args:
        context: the TableContext of the long tokens.

    Returns:
        <bool>[batch, seq, num_global]; all false for the question and for padding.
    """
    half = num_global // 2
    in_table = masks.real_tokens(context) & (context.segment_ids == 1) & (context.column_ids > 0)
    numbers = tf.range(half)
    row = (context.row_ids % half)[..., None] == numbers
    column = ((context.column_ids - 1) % half)[..., None] == numbers
    return tf.concat([row, column], axis=-1) & in_table[..., None]


def window_of_blocks(x, axis: int) -> tf.Tensor:
    """Joins each block, except the first and the last, with the blocks before and after it.

    Args:
        x: [..., blocks + 2, radius, ...].
        axis: axis of the tokens of a block, the one behind the axis of blocks.

    Returns:
        [..., blocks, 3 * radius, ...]
    """
    before = [slice(None)] * (axis - 1)
    parts = [x[(*before, slice(i, j))] for i, j in ((0, -2), (1, -1), (2, None))]
    return tf.concat(parts, axis=axis)


def _is_row(num_global: int) -> np.ndarray:
    """Returns whether each global token stands for a row, <bool>[num_global]."""
    return np.arange(num_global) < num_global // 2
