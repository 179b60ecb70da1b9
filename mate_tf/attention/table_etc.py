"""TableETC: global tokens for rows and columns beside local attention (MATE paper, section 5.1).

ETC (Ainslie et al., 2020) splits attention into four: from global and long tokens to either. Half
of the global tokens stand for a row each, half for a column each, and relative positions mark the
row and the column of a long token among them. What the paper leaves open is ETC's: the radius, and
distances that count up to a limit. Global tokens start as the mean embedding of their row's or
column's tokens, so they need no embeddings of their own.
"""

import dataclasses

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import (
    AttentionPattern,
    TableAttention,
    TableContext,
    mask_bias,
    shape_list,
)
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras

TO_OTHER, TO_ROW, TO_COLUMN, FROM_OTHER, FROM_ROW, FROM_COLUMN, OTHER_KIND, SAME_KIND, ITSELF = (
    range(9)
)
"""Relative positions: from a long token to a global one, not its own or its own row's or column's;
the same from a global token; between two global tokens. Distances between long tokens follow."""


@dataclasses.dataclass(frozen=True)
class TableETCOptions:
    """Options of `table_etc`.

    Attributes:
        num_global: global tokens; the first half for rows, the second half for columns. Where a
            table has more rows than that, row r shares its token with row r + num_global / 2.
        local_radius: long tokens see those up to this far away.
        max_distance: distances between long tokens beyond this one count as this one.
    """

    num_global: int = 256
    local_radius: int = 84
    max_distance: int = 12


class TableETCPattern(AttentionPattern):
    """Puts the global tokens before the others, and tells who belongs to whom.

    Raises:
        InputError: an option out of range.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        if self.config.num_global < 2 or self.config.num_global % 2:
            raise InputError(f"num_global must be even and positive, not {self.config.num_global}")
        for name in ("local_radius", "max_distance"):
            if self.config.get(name) < 1:
                raise InputError(f"{name} must be 1 or more, not {self.config.get(name)}")

    @classmethod
    def num_added_tokens(cls, config):
        return config.num_global

    def add_tokens(self, embeddings, context):
        """Global tokens, then the others; those without tokens of the table count as padding."""
        own = tf.cast(own_global_tokens(context, self.config.num_global), tf.float32)
        counts = tf.reduce_sum(own, axis=1)
        sums = tf.matmul(own, tf.cast(embeddings, tf.float32), transpose_a=True)
        means = sums / tf.maximum(counts, 1)[..., None]
        # <int32>[batch, half]
        numbers = tf.zeros_like(context.row_ids[:, :1]) + tf.range(self.config.num_global // 2)
        none = tf.zeros_like(numbers)
        of_global = TableContext(
            segment_ids=tf.concat([none + 1, none + 1], axis=1),
            row_ids=tf.concat([numbers, none], axis=1),
            column_ids=tf.concat([none, numbers + 1], axis=1),
            input_mask=tf.cast(counts > 0, none.dtype),
        )
        parts = zip(of_global, context, strict=True)
        return (
            tf.concat([tf.cast(means, embeddings.dtype), embeddings], axis=1),
            TableContext(*(tf.concat(pair, axis=1) for pair in parts)),
        )

    def remove_tokens(self, output):
        return output[:, self.config.num_global :]

    def mask(self, context):
        """Of a context that `add_tokens` gave, <bool>[batch, 1, num_global + seq, the same]."""
        return masks.table_etc(context, self.config.num_global, self.config.local_radius)[:, None]

    def call(self, context, training=None):
        num_global, radius = self.config.num_global, self.config.local_radius
        real = masks.real_tokens(context)
        long_context = TableContext(*(part[:, num_global:] for part in context))
        of_global, of_long = real[:, :num_global], real[:, num_global:]
        batch, seq = shape_list(of_long)
        num_blocks = -(-seq // radius)
        filling = num_blocks * radius - seq
        keys = tf.pad(of_long, [[0, 0], [radius, radius + filling]])
        windows = window_of_blocks(tf.reshape(keys, [batch, num_blocks + 2, radius]), 2)
        # <bool>[radius, 3 * radius]: who is near, of a block and its window
        distance = np.arange(3 * radius) - radius - np.arange(radius)[:, None]
        near = windows[:, :, None] & tf.constant(abs(distance) <= radius)
        return {
            "own": own_global_tokens(long_context, num_global)[:, None],
            "global_bias": mask_bias(of_global, self.compute_dtype)[:, None, None],
            "long_bias": mask_bias(of_long, self.compute_dtype)[:, None, None],
            "window_bias": mask_bias(near, self.compute_dtype)[:, None],
            "real": tf.cast(real, self.compute_dtype)[:, :, None, None],
        }


class TableETC(TableAttention):
    """Softmax of scale query (key + relative position), in time and memory linear in the length.

    Variables: relative_position_embeddings <float32>[9 + 2 * max_distance + 1, heads, head_size];
    the first nine as named above, then distances from -max_distance on.
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
        """Global tokens with all, the others with these and three blocks; relative positions."""
        first = config.num_global
        pairs = first * (length + first) + length * (first + 3 * config.local_radius)
        positions = ITSELF + 2 + 2 * config.max_distance
        return 4 * hidden_size * pairs + 2 * (length + first) * positions * hidden_size

    def attend(self, query, key, value, pattern, training=None):
        num_global, real = self.config.num_global, pattern["real"]
        query = query * self.scale(query.dtype)
        query, key, value = (tf.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
        relative = tf.cast(self.relative_position_embeddings, query.dtype)
        # <float>[batch, heads, num_global + seq, positions]
        of_positions = tf.einsum("bhqd,phd->bhqp", query, relative)
        of_global = self._from_global(
            query[:, :, :num_global], of_positions[:, :, :num_global], key, value, pattern, training
        )
        projections = (x[:, :, num_global:] for x in (query, of_positions, key, value))
        of_long = self._from_long(
            *projections, key[:, :, :num_global], value[:, :, :num_global], pattern, training
        )
        context = tf.concat([of_global, of_long], axis=2)
        return tf.transpose(context, [0, 2, 1, 3]) * real

    def _from_global(self, query, of_positions, key, value, pattern, training):
        """Global tokens see all there is; <float>[batch, heads, num_global, head_size]."""
        kind = _is_row(self.config.num_global)
        row = of_positions[..., FROM_ROW, None]
        own = tf.where(kind[:, None], row, of_positions[..., FROM_COLUMN, None])
        other = of_positions[..., FROM_OTHER, None]
        to_long = tf.where(tf.linalg.matrix_transpose(pattern["own"]), own, other)
        to_global = tf.where(
            kind[:, None] == kind,
            of_positions[..., SAME_KIND, None],
            of_positions[..., OTHER_KIND, None],
        )
        itself = np.eye(self.config.num_global, dtype=bool)
        to_global = tf.where(itself, of_positions[..., ITSELF, None], to_global)
        bias = tf.concat(
            [to_global + pattern["global_bias"], to_long + pattern["long_bias"]], axis=-1
        )
        scores = tf.matmul(query, key, transpose_b=True) + bias
        return tf.matmul(self.dropout(tf.nn.softmax(scores), training=training), value)

    def _from_long(
        self, query, of_positions, key, value, global_key, global_value, pattern, training
    ):
        """Others see the global tokens and their surroundings; <float>[batch, heads, seq, size]."""
        num_global, radius = self.config.num_global, self.config.local_radius
        batch, heads, seq, size = shape_list(query)
        num_blocks = shape_list(pattern["window_bias"])[2]
        filling = num_blocks * radius - seq

        # The global tokens, <float>[batch, heads, seq, num_global]
        row, column = of_positions[..., TO_ROW, None], of_positions[..., TO_COLUMN, None]
        own = tf.where(_is_row(num_global), row, column)
        to_global = tf.where(pattern["own"], own, of_positions[..., TO_OTHER, None])
        to_global += tf.matmul(query, global_key, transpose_b=True) + pattern["global_bias"]

        # The surroundings, <float>[batch, heads, blocks, radius, window]
        def blocks(x, before, after):
            x = tf.pad(x, [[0, 0], [0, 0], [before, after + filling], [0, 0]])
            return tf.reshape(x, [batch, heads, -1, radius, x.shape[-1]])

        keys, values = (window_of_blocks(blocks(x, radius, radius), 3) for x in (key, value))
        to_window = tf.matmul(blocks(query, 0, 0), keys, transpose_b=True)
        to_window += self._by_distance(blocks(of_positions[..., ITSELF + 1 :], 0, 0))
        to_window += pattern["window_bias"]

        scores = tf.concat([blocks(to_global, 0, 0), to_window], axis=-1)
        probabilities = self.dropout(tf.nn.softmax(scores), training=training)
        length = num_blocks * radius
        to_global = tf.reshape(probabilities[..., :num_global], [batch, heads, length, num_global])
        to_window = probabilities[..., num_global:]
        context = tf.matmul(to_global, global_value)
        context += tf.reshape(tf.matmul(to_window, values), [batch, heads, length, size])
        return context[:, :, :seq]

    def _by_distance(self, of_distances):
        """Scores of distances brought to the keys of the window that are so far away.

        Args:
            of_distances: <float>[batch, heads, blocks, radius, 2 * max_distance + 1].

        Returns:
            <float>[batch, heads, blocks, radius, 3 * radius]; without meaning beyond the radius.
        """
        radius, most = self.config.local_radius, self.config.max_distance
        batch, heads, num_blocks, _, _ = shape_list(of_distances)
        # the distances from -radius to radius
        beyond = radius - most
        first, last = of_distances[..., :1], of_distances[..., -1:]
        if beyond > 0:
            parts = [tf.repeat(first, beyond, -1), of_distances, tf.repeat(last, beyond, -1)]
            scores = tf.concat(parts, axis=-1)
        else:
            scores = of_distances[..., -beyond : 2 * most + 1 + beyond]
        # Query q sees distance -radius at key q of the window: row q moves q places to the right,
        # as it does when rows of one number more are read as rows of one number less.
        scores = tf.pad(scores, [[0, 0]] * 4 + [[0, radius]])
        scores = tf.reshape(scores, [batch, heads, num_blocks, radius * (3 * radius + 1)])
        scores = scores[..., : radius * 3 * radius]
        return tf.reshape(scores, [batch, heads, num_blocks, radius, 3 * radius])


def own_global_tokens(context, num_global: int) -> tf.Tensor:
    """Which global tokens stand for the row and the column of a token.

    Returns:
        <bool>[batch, seq, num_global]; none for the question and for padding.
    """
    half = num_global // 2
    in_table = masks.real_tokens(context) & (context.segment_ids == 1) & (context.column_ids > 0)
    numbers = tf.range(half)
    row = (context.row_ids % half)[..., None] == numbers
    column = ((context.column_ids - 1) % half)[..., None] == numbers
    return tf.concat([row, column], axis=-1) & in_table[..., None]


def window_of_blocks(x, axis: int) -> tf.Tensor:
    """Each block but the first and the last, with the ones before and after it.

    Args:
        x: [..., blocks + 2, radius, ...], whose tokens of a block are on `axis`.

    Returns:
        [..., blocks, 3 * radius, ...]
    """
    before = [slice(None)] * (axis - 1)
    parts = [x[(*before, slice(i, j))] for i, j in ((0, -2), (1, -1), (2, None))]
    return tf.concat(parts, axis=axis)


def _is_row(num_global: int) -> np.ndarray:
    """<bool>[num_global]: whether a global token stands for a row."""
    return np.arange(num_global) < num_global // 2
