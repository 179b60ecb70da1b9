"""Several short examples in one sequence: less padding to compute, and the same outputs.

Examples of a batch are put one behind the other into as few sequences of the batch's length as
first-fit decreasing finds. Masks keep them apart (`attention.masks.apart`), positions count from
each one's own start, and what comes out is taken apart again.
"""

import tensorflow as tf

from mate_tf.layers.shapes import shape_list


class Packing:
    """Where the examples of one batch stand in sequences that they share.

    An example is what lies between its first and its last real token. Neither the number of
    sequences nor, hence, the shape of what is computed is known before it runs: XLA cannot have it.

    Examples:
        >>> packing = Packing(input_mask=[[1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0]])
        >>> packing.together([[1, 2, 3, 0], [4, 5, 6, 7], [8, 0, 0, 0]])
        [[4, 5, 6, 7], [1, 2, 3, 8]]

    Args:
        input_mask: <int32>[batch, seq], 1 for real tokens, 0 for padding.
    """

    def __init__(self, input_mask):
        input_mask = tf.convert_to_tensor(input_mask)
        batch, self._seq = shape_list(input_mask)
        places = tf.range(self._seq)
        lengths = tf.reduce_max(input_mask * (places + 1), axis=1)
        sequence, start, self._num_sequences = _first_fit_decreasing(lengths, self._seq)
        within = places < lengths[:, None]
        to = (sequence * self._seq + start)[:, None] + places
        # <int32>[batch, seq]: rows of the tokens among all sequences; the last one is of zeros
        self._to = tf.where(within, to, self._num_sequences * self._seq)
        # <int32>[sequences, seq]: the opposite
        tokens = tf.range(batch * self._seq)
        shape = [self._num_sequences * self._seq + 1]
        come_from = tf.tensor_scatter_nd_update(
            tf.fill(shape, batch * self._seq),
            tf.reshape(self._to, [-1, 1]),
            tf.where(tf.reshape(within, [-1]), tokens, batch * self._seq),
        )
        self._from = tf.reshape(come_from[:-1], [self._num_sequences, self._seq])
        starts = self.together(tf.broadcast_to(start[:, None] + 1, [batch, self._seq])) - 1
        self.starts = tf.where(starts < 0, places, starts)

    def together(self, values: tf.Tensor) -> tf.Tensor:
        """<int32>[batch, seq] -> <int32>[sequences, seq], 0 where there is no example."""
        return tf.gather(tf.pad(tf.reshape(values, [-1]), [[0, 1]]), self._from)

    def apart(self, x: tf.Tensor) -> tf.Tensor:
        """<float>[sequences, seq, hidden] -> <float>[batch, seq, hidden], 0 for padding."""
        rows = tf.reshape(x, [-1, shape_list(x)[-1]])
        return tf.gather(tf.pad(rows, [[0, 1], [0, 0]]), self._to)


def _first_fit_decreasing(lengths, capacity):
    """The longest first, each into the first sequence that has room for it.

    Returns:
        <int32>[batch], the sequence of each example and where it starts there; how many sequences
        there are, an <int32>[].
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
