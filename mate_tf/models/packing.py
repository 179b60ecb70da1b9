"""Packing: several short examples in one sequence, with less padding and the same outputs.

First-fit decreasing puts the examples of a batch one behind the other into few sequences of the
batch's length. Masks keep them apart (`masks.same_example`), positions count from each example's
start, and the outputs are unpacked again.
"""

import tensorflow as tf

from mate_tf.layers.shapes import shape_list


class Packing:
    """Assignment of the examples of one batch to sequences that they share.

    An example ends with its last real token. The number of sequences depends on the batch, so
    shapes are dynamic and XLA cannot compile it.

    Examples:
        >>> packing = Packing(input_mask=[[1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0]])
        >>> packing.pack([[1, 2, 3, 0], [4, 5, 6, 7], [8, 0, 0, 0]])
        [[4, 5, 6, 7], [1, 2, 3, 8]]

    Args:
        input_mask: <int32>[batch, seq], 1 for real tokens, 0 for padding.

    Attributes:
        starts: <int32>[sequences, seq], position at which the token's example starts; the own
            position for padding.
    """

    def __init__(self, input_mask):
        input_mask = tf.convert_to_tensor(input_mask)
        batch, self._seq = shape_list(input_mask)
        positions = tf.range(self._seq)
        lengths = tf.reduce_max(input_mask * (positions + 1), axis=1)
        sequence, start, self._num_sequences = _first_fit_decreasing(lengths, self._seq)
        within = positions < lengths[:, None]
        to = (sequence * self._seq + start)[:, None] + positions
        # [batch, seq]: index of each token in the flattened sequences; behind all of them = none
        self._to = tf.where(within, to, self._num_sequences * self._seq)
        # [sequences, seq]: index of each token in the flattened batch; behind all of them = none
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
        """Moves <int32>[batch, seq] to <int32>[sequences, seq], 0 outside of the examples."""
        return tf.gather(tf.pad(tf.reshape(values, [-1]), [[0, 1]]), self._from)

    def unpack(self, x: tf.Tensor) -> tf.Tensor:
        """Moves <float>[sequences, seq, hidden] to <float>[batch, seq, hidden], 0 for padding."""
        # [sequences, seq, hidden] -> [sequences * seq + 1, hidden]
        vectors = tf.reshape(x, [-1, shape_list(x)[-1]])
        return tf.gather(tf.pad(vectors, [[0, 1], [0, 0]]), self._to)

    together = pack  # alias of pack, kept for code that uses the old name
    apart = unpack  # alias of unpack, kept for code that uses the old name


def _first_fit_decreasing(lengths, capacity):
    """Assigns examples, the longest first, to the first sequence with enough room.

    Args:
        lengths: <int32>[batch].
        capacity: length of a sequence.

    Returns:
        The sequence of each example, <int32>[batch]; its start in it, <int32>[batch]; the number
        of sequences, <int32>[].
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
