"""Packing: several short examples in one sequence, with less padding and the same outputs.

The examples of a batch are concatenated into fewer sequences of the same length by first-fit
decreasing. Masks separate the examples of a sequence (`masks.same_example`), positions count from
the start of each example, and the outputs are unpacked again.
"""

import tensorflow as tf

from mate_tf.attention.table_context import PackedExamples, TableContext
from mate_tf.layers.shapes import shape_list


class Packing:
    """Assignment of the examples of a batch to shared sequences.

    An example ends with its last real token. The number of sequences depends on the batch unless it
    is given, as XLA needs it.

    Examples:
        >>> packing = Packing(input_mask=[[1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0]])
        >>> packing.pack([[1, 2, 3, 0], [4, 5, 6, 7], [8, 0, 0, 0]])
        [[4, 5, 6, 7], [1, 2, 3, 8]]

    Args:
        input_mask: <int32>[batch, seq], 1 for real tokens, 0 for padding.
        num_sequences: number of sequences; None = as many as the batch needs.

    Attributes:
        fits: <bool>[], whether the batch needs no more sequences than there are. If not, nothing
            else here has a meaning.
        starts: <int32>[sequences, seq], position at which the token's example starts. For padding
            it is the token's own position.
    """

    def __init__(self, input_mask, num_sequences: int | None = None):
        input_mask = tf.convert_to_tensor(input_mask)
        batch, self._seq = shape_list(input_mask)
        positions = tf.range(self._seq)
        lengths = tf.reduce_max(input_mask * (positions + 1), axis=1)
        sequence, start, needed = _first_fit_decreasing(lengths, self._seq)
        self._num_sequences = needed if num_sequences is None else num_sequences
        self.fits = needed <= self._num_sequences
        within = (positions < lengths[:, None]) & (sequence < self._num_sequences)[:, None]
        to = (sequence * self._seq + start)[:, None] + positions
        # [batch, seq]: index of each token in the flattened sequences; padding gets the index after
        # the last token
        self._to = tf.where(within, to, self._num_sequences * self._seq)
        # [sequences, seq]: index of each token in the flattened batch; padding gets the index after
        # the last token
        tokens = tf.range(batch * self._seq)
        shape = [self._num_sequences * self._seq + 1]
        come_from = tf.tensor_scatter_nd_update(
            tf.fill(shape, batch * self._seq),
            tf.reshape(self._to, [-1, 1]),
            tf.where(tf.reshape(within, [-1]), tokens, batch * self._seq),
        )
        self._from = tf.reshape(come_from[:-1], [self._num_sequences, self._seq])
        starts = self.pack(tf.broadcast_to(start[:, None] + 1, [batch, self._seq])) - 1
        self.starts = tf.where(starts < 0, positions, starts)

    def pack(self, values: tf.Tensor) -> tf.Tensor:
        """Packs values of tokens.

        Args:
            values: <int32>[batch, seq].

        Returns:
            <int32>[sequences, seq], 0 for padding.
        """
        # [batch * seq + 1] -> [sequences, seq]
        return tf.gather(tf.pad(tf.reshape(values, [-1]), [[0, 1]]), self._from)

    def unpack(self, x: tf.Tensor) -> tf.Tensor:
        """Unpacks vectors of tokens.

        Args:
            x: <float>[sequences, seq, hidden].

        Returns:
            <float>[batch, seq, hidden], 0 for padding.
        """
        # [sequences, seq, hidden] -> [sequences * seq + 1, hidden]
        vectors = tf.reshape(x, [-1, shape_list(x)[-1]])
        # [sequences * seq + 1, hidden] -> [batch, seq, hidden]
        return tf.gather(tf.pad(vectors, [[0, 1], [0, 0]]), self._to)

    def examples(self, context: TableContext) -> PackedExamples:
        """Returns the examples, each for itself, and where their tokens are."""
        return PackedExamples(context, self._to, self._from)


def _first_fit_decreasing(lengths, capacity):
    """Assigns examples of <int32>[batch] tokens, the longest first, to sequences of `capacity`.

    Returns each example's sequence and its start there, <int32>[batch]; number of sequences.
    """
    batch = shape_list(lengths)[0]
    order = tf.argsort(lengths, direction="DESCENDING", stable=True)

    def put(number, used, sequence, start):
        example = order[number]
        first = tf.argmax(used + lengths[example] <= capacity, output_type=tf.int32)
        at = [[example]]
        sequence = tf.tensor_scatter_nd_update(sequence, at, [first])
        start = tf.tensor_scatter_nd_update(start, at, [used[first]])
        used = tf.tensor_scatter_nd_add(used, [[first]], [lengths[example]])
        return number + 1, used, sequence, start

    empty = tf.zeros([batch], tf.int32)
    _, _, sequence, start = tf.while_loop(
        lambda number, *_: number < batch, put, (0, empty, empty, empty)
    )
    return sequence, start, tf.reduce_max(sequence) + 1
