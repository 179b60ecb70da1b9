"""Cells: sums and means of tokens by cell and column, and values of cells for tokens.

A cell is a (row, column) pair. Row 0 is the header. Column 0 is outside the table: the question,
titles and separators. Rows and columns beyond the limits are merged into the last one, as in the
reference (google-research/tapas).

All operations are segment sums with static sizes, which compile for TPU. Sums are exact in float32;
a one-hot matmul would be rounded to bfloat16 on TPU.
"""

import tensorflow as tf


class Cells:
    """Assignment of tokens to cells, with sums and means over the tokens of a cell.

    Padding belongs to no cell. (The reference averages it into cell (0, 0), so its logit of column
    0 depends on the length of the padding.)

    Examples:
        >>> cells = Cells(row_ids=[[0, 1, 1, 2]], column_ids=[[0, 1, 1, 1]],
        ...               input_mask=[[1, 1, 1, 1]], max_num_rows=3, max_num_columns=2)
        >>> cells.mean([[9.0, 1.0, 3.0, 5.0]])[0, :, 1]
        [0., 2., 5.]

    Args:
        row_ids: <int32>[batch, seq], 0 for the header and outside the table.
        column_ids: <int32>[batch, seq], 0 outside the table.
        input_mask: <int32>[batch, seq], 0 for padding.
        max_num_rows: largest number of rows, with the header. Later rows are merged into the last.
        max_num_columns: largest number of columns, with column 0. Later columns are merged into
            the last.

    Attributes:
        present: <float32>[batch, rows, columns], 1 for each cell that has a token.
        in_table: <float32>[batch, rows, columns], `present` without column 0 and without header.
    """

    def __init__(self, row_ids, column_ids, input_mask, max_num_rows=64, max_num_columns=32):
        rows = tf.minimum(tf.convert_to_tensor(row_ids, tf.int32), max_num_rows - 1)
        columns = tf.minimum(tf.convert_to_tensor(column_ids, tf.int32), max_num_columns - 1)
        self._num_rows, self._num_columns = max_num_rows, max_num_columns
        self._ids = rows * max_num_columns + columns
        self._token_mask = tf.cast(input_mask, tf.float32)
        self._num_tokens = self.sum(self._token_mask)
        self.present = tf.cast(self._num_tokens > 0, tf.float32)
        table = tf.ones([max_num_rows - 1, max_num_columns - 1])
        self.in_table = self.present * tf.pad(table, [[1, 0], [1, 0]])

    def sum(self, values):
        """Sums over the tokens of each cell.

        Args:
            values: <float32>[batch, seq].

        Returns:
            <float32>[batch, rows, columns], 0 for cells without tokens.
        """
        batch = tf.shape(self._ids)[0]
        num_cells = self._num_rows * self._num_columns
        # [batch, seq]: index of each token's cell among all cells of the batch
        segments = self._ids + num_cells * tf.range(batch)[:, tf.newaxis]
        sums = tf.math.unsorted_segment_sum(
            tf.reshape(values * self._token_mask, [-1]),
            tf.reshape(segments, [-1]),
            batch * num_cells,
        )
        # [batch * cells] -> [batch, rows, columns]
        return tf.reshape(sums, [batch, self._num_rows, self._num_columns])

    def mean(self, values):
        """Averages over the tokens of each cell.

        Args:
            values: <float32>[batch, seq].

        Returns:
            <float32>[batch, rows, columns], 0 for cells without tokens.
        """
        return tf.math.divide_no_nan(self.sum(values), self._num_tokens)

    def labelled(self, labels):
        """Finds the cells with a token of label 1: <float32>[batch, rows, columns] of 0 and 1.

        Args:
            labels: <int>[batch, seq].
        """
        return tf.cast(self.sum(tf.cast(labels, tf.float32)) > 0, tf.float32)

    def to_tokens(self, values):
        """Gathers the value of each token's cell: [batch, rows, columns] -> [batch, seq]."""
        # [batch, rows, columns] -> [batch, cells]
        flat = tf.reshape(values, [-1, self._num_rows * self._num_columns])
        return tf.gather(flat, self._ids, batch_dims=1)

    def column_mean(self, values):
        """Averages over the present cells of each column, header included.

        Args:
            values: <float32>[batch, rows, columns].

        Returns:
            <float32>[batch, columns], 0 for columns without cells.
        """
        total = tf.reduce_sum(values * self.present, axis=1)
        return tf.math.divide_no_nan(total, tf.reduce_sum(self.present, axis=1))

    @property
    def column_present(self):
        """Columns with at least one cell, <bool>[batch, columns]."""
        return tf.reduce_sum(self.present, axis=1) > 0
