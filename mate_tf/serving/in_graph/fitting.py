"""Selects the tokens of tables that fit, inside a TensorFlow graph.

The counterpart in Python is in `mate_tf.tables.linearize`, which gives the reasons.
"""

import tensorflow as tf

from mate_tf.serving.in_graph import ranking
from mate_tf.tables import linearize
from mate_tf.tables.conversion import ConversionConfig


class Fitting:
    """Selection of the tokens of a table that fit a budget.

    Args:
        config: options of the conversion; all `..._to_fit` options are taken as set.
        rows, columns: <int32>[tokens], row (0 is the header) and column (from 0) of each token.
        first: <bool>[tokens], true for the first piece of each word.
        word_begins: <int32>[tokens], position, in its cell, of the first piece of a token's word.
        shape: <int32>[2], 1 + rows and columns of the table.
    """

    def __init__(self, config: ConversionConfig, rows, columns, first, word_begins, shape):
        self._config, self._shape = config, shape
        self._rows, self._columns, self._first = rows, columns, first
        self._levels = word_begins
        needed = config.cell_trim_length if config.cell_trim_length >= 0 else 1
        self._costs = self._costs_of(word_begins < needed)

    def _costs_of(self, counted):
        """Counts the tokens <bool>[tokens] in each cell, <int32>[1 + rows, columns]."""
        num_rows, num_columns = tf.unstack(self._shape)
        cells = self._rows * num_columns + self._columns
        sums = tf.math.unsorted_segment_sum(
            tf.cast(counted, tf.int32), cells, num_rows * num_columns
        )
        return tf.reshape(sums, self._shape)

    def smallest_cost(self):
        """Returns the tokens that header and first row need at least, <int32>[]."""
        return tf.reduce_sum(self._costs[:2, : self._config.max_column_id - 1])

    def kept(self, budget, ranked: ranking.Ranking | None):
        """Selects the tokens that fit `budget`, <int32>[], tokens.

        Args:
            budget: <int32>[], tokens that fit.
            ranked: the ranking of rows and columns; None if there is no pruning.

        Returns:
            <int32>[kept tokens], indices in ascending order.
            <bool>[rows] and <bool>[columns], true for those that are kept.
        """
        rows, columns = self._candidates(budget, ranked)
        if ranked is not None:
            rows, columns = self._pruned(rows, columns, budget, ranked)
        rows = tf.sort(rows)
        by_row = tf.cumsum(tf.reduce_sum(_select_costs(self._costs, rows, columns), axis=1))
        rows = rows[: tf.reduce_sum(tf.cast(by_row <= budget, tf.int32))]
        in_rows, in_columns = _mark(rows, self._shape[0]), _mark(columns, self._shape[1])
        inside = tf.gather(in_rows, self._rows) & tf.gather(in_columns, self._columns)
        return self._tokens(inside, budget), in_rows[1:], in_columns

    def _candidates(self, budget, ranked):
        """Returns the rows and columns that the model has ids for, the best first.

        Returns:
            <int32>[1 + rows], row 0 is the header, and <int32>[columns].
        """
        config, (num_rows, num_columns) = self._config, tf.unstack(self._shape)
        rows = ranked.rows if config.prune_rows else tf.range(num_rows - 1)
        rows = tf.concat([[0], rows[: config.max_row_id - 1] + 1], axis=0)
        if config.prune_columns:
            return rows, ranked.columns[: config.max_column_id - 1]
        top = tf.reduce_sum(self._costs[:2, : config.max_column_id - 1], axis=0)
        fitting = tf.reduce_sum(tf.cast(tf.cumsum(top) <= budget, tf.int32))
        return rows, tf.range(num_columns)[:fitting]

    def _pruned(self, rows, columns, budget, ranked):
        """Returns the best of the candidates, as far as they fit; arguments as there."""
        config = self._config
        if config.prune_rows and config.cell_trim_length < 0:
            self._need_best_rows(rows, columns, budget, ranked)
        num_columns, num_rows = ranking.select(
            _select_costs(self._costs, rows, columns),
            budget,
            config.prune_columns,
            config.prune_rows,
            ranked.num_matching_columns,
            ranked.wanted_rows,
        )
        return rows[: num_rows + 1], columns[:num_columns]

    def _need_best_rows(self, rows, columns, budget, ranked):
        """Makes all words of the best rows needed, as far as they fit their share of the budget."""
        full = self._costs_of(tf.ones_like(self._first))
        too_long = tf.reduce_sum(_select_costs(self._costs, rows, columns)) > budget
        too_large = (tf.size(rows) < self._shape[0]) | (tf.size(columns) < self._shape[1])
        matching = rows[1 : ranked.num_matching_rows + 1]
        costs = tf.cumsum(tf.reduce_sum(_select_costs(full, matching, columns), axis=1))
        fitting = (costs <= budget // linearize.SHARE_OF_BEST_ROWS) & (too_long | too_large)
        whole = _mark(matching[: tf.reduce_sum(tf.cast(fitting, tf.int32))], self._shape[0])
        self._costs = tf.where(whole[:, tf.newaxis], full, self._costs)
        self._levels = tf.where(tf.gather(whole, self._rows), 0, self._levels)

    def _tokens(self, inside, budget):
        """Selects the tokens inside rows and columns that are kept.

        Args:
            inside: <bool>[tokens].
            budget: <int32>[], tokens that fit.

        Returns:
            <int32>[kept tokens], indices in ascending order.
        """
        length = self._config.cell_trim_length
        if length < 0 and self._config.fill_cells:
            return self._filled(tf.cast(tf.where(inside)[:, 0], tf.int32), budget)
        if length < 0:
            at = tf.math.bincount(tf.boolean_mask(self._levels, inside), minlength=1)
            length = tf.reduce_sum(tf.cast(tf.cumsum(at) <= budget, tf.int32))
        return tf.cast(tf.where(inside & (self._levels < length))[:, 0], tf.int32)

    def _filled(self, tokens, budget):
        """Selects words of the tokens <int32>[n] by their position until the next does not fit."""
        cells = tf.stack([self._rows, self._columns], axis=1)
        lengths = tf.gather_nd(self._costs_of(tf.ones_like(self._first)), cells)
        # Shorter cells come later, but before the next level.
        keys = tf.cast(self._levels, tf.int64) * tf.cast(tf.reduce_max(lengths), tf.int64)
        keys = tf.gather(keys - tf.cast(lengths, tf.int64), tokens)
        order = tf.gather(tokens, tf.argsort(keys, stable=True))
        starts = tf.cast(tf.where(tf.gather(self._first, order))[:, 0], tf.int32)
        ends = tf.concat([[0], starts, [tf.size(order)]], axis=0)  # of the words before
        return tf.sort(order[: tf.reduce_max(tf.boolean_mask(ends, ends <= budget))])


def _select_costs(costs, rows, columns):
    """Returns <int32>[n, m], the costs <int32>[1 + rows, columns] of some rows and columns."""
    return tf.gather(tf.gather(costs, rows), columns, axis=1)


def _mark(indices, count):
    """Returns <bool>[count], true at the indices <int32>[n]."""
    return tf.scatter_nd(indices[:, tf.newaxis], tf.ones_like(indices), [count]) > 0
