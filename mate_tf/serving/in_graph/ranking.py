"""Ranks columns and rows of tables for questions, inside a TensorFlow graph.

The counterpart in Python is `mate_tf.tables.pruning`, which gives the reasons.
"""

import tensorflow as tf

from mate_tf.serving.in_graph import number_texts
from mate_tf.tables import pruning


def words(texts):
    """Splits texts into words in the form in which they are compared, like `pruning.words`.

    Args:
        texts: <string>[num_texts], UTF-8.

    Returns:
        <string>[num_texts, (words)], ragged.
    """
    split = tf.strings.split(
        tf.strings.regex_replace(number_texts.lower(texts), r"[^\pL\pN]+", " ")
    )
    plural = split.flat_values
    singular = tf.where(
        tf.strings.regex_full_match(plural, ".{2,}ies"),
        tf.strings.regex_replace(plural, "ies$", "y"),
        tf.strings.regex_replace(plural, "^(.{2,}[^s])s$", r"\1"),
    )
    return split.with_flat_values(singular)


class Ranking:
    """Columns and rows of one table, ordered by relevance for a question.

    Args:
        question: <int32>[words], numbers of the question's words.
        words: <int32>[words], numbers of the words of all cells, the header's first.
        rows, columns: <int32>[words], row (0 is the header) and column (from 0) of each of them.
        shape: number of rows, the header included, and of columns; <int32>[] each.
        num_words: <int32>[], number of different words.

    Attributes:
        rows: <int32>[num_rows], data rows from 0, the best first.
        columns: <int32>[num_columns], the best first.
        num_matching_rows, num_matching_columns: <int32>[], how many of them match the question.
        wanted_rows: <int32>[], as in `pruning.Ranking`.
    """

    def __init__(self, question, words, rows, columns, shape, num_words):
        asked, _ = tf.unique(question[: pruning.QUESTION_WORDS])
        there = tf.scatter_nd(words[:, tf.newaxis], tf.ones_like(words), [num_words])
        asked = tf.boolean_mask(asked, tf.gather(there, asked) > 0)
        num_asked = tf.size(asked)
        # <int32>[num_words]: position of a word in `asked`, from 1; 0 if it is not there.
        number = tf.scatter_nd(asked[:, tf.newaxis], tf.range(1, num_asked + 1), [num_words])
        number = tf.gather(number, words) - 1
        matches = number >= 0
        number, rows, columns = (tf.boolean_mask(each, matches) for each in (number, rows, columns))

        def incidence(lines, count):
            at = tf.stack([lines, number], axis=1)
            return tf.scatter_nd(at, tf.ones_like(number), [count, num_asked]) > 0

        in_rows = incidence(rows, shape[0])[1:]
        self.rows, self.num_matching_rows = _rows(in_rows)
        self.wanted_rows = _wanted_rows(in_rows)
        in_header = tf.cast(rows == 0, tf.int32)[:, tf.newaxis]
        in_name = tf.scatter_nd(
            tf.stack([columns, number], axis=1), in_header[:, 0], [shape[1], num_asked]
        )
        self.columns, self.num_matching_columns = _columns(
            incidence(columns, shape[1]), in_name > 0
        )


def _rows(has):
    """Returns the order of rows and the number of matching ones, of <bool>[rows, words]."""
    words = _sum(has, _weights(has))
    order = tf.argsort(words, direction="DESCENDING", stable=True)
    return order, tf.math.count_nonzero(words, dtype=tf.int32)


def _wanted_rows(has):
    """Returns how many rows are wanted, of <bool>[rows, words]."""
    frequency = tf.reduce_sum(tf.cast(has, tf.int32), axis=0)
    named = tf.reduce_any((frequency > 0) & (frequency <= pruning.NAMED_ROWS))
    return tf.where(named, pruning.FEWEST_ROWS, pruning.MOST_ROWS)


def _columns(has, in_name):
    """Returns the order of columns and the number of matching ones.

    Args:
        has, in_name: <bool>[columns, words], true for words of the column, and of its name.
    """
    weights = _weights(has)
    order = tf.argsort(_sum(has, weights), direction="DESCENDING", stable=True)
    names = tf.gather(_sum(in_name, weights), order)
    order = tf.gather(order, tf.argsort(names, direction="DESCENDING", stable=True))
    has, count = tf.gather(has, order), tf.size(order)

    def take(number, weights, places):
        best = tf.argmax(_sum(has, weights), output_type=tf.int32)
        places = tf.tensor_scatter_nd_update(places, [[best]], [number])
        return number + 1, tf.where(has[best], tf.zeros_like(weights), weights), places

    number, _, places = tf.while_loop(
        lambda number, weights, places: tf.reduce_any(_sum(has, weights) > 0),
        take,
        [tf.constant(0), weights, tf.range(count, 2 * count)],
    )
    return tf.gather(order, tf.argsort(places)), number


def _weights(has):
    """Returns <int64>[words], the weights of words in <bool>[columns or rows, words]."""
    count = tf.cast(tf.shape(has)[0], tf.float64)
    frequency = tf.maximum(tf.reduce_sum(tf.cast(has, tf.float64), axis=0), 1.0)
    return tf.cast(tf.round(pruning.WEIGHT_UNIT * tf.math.log1p(count / frequency)), tf.int64)


def _sum(has, weights):
    """Returns <int64>[columns or rows], the sums of the weights of their words."""
    return tf.reduce_sum(tf.where(has, weights, tf.zeros_like(weights)), axis=1)


def select(costs, budget, columns, rows, num_matching_columns, wanted_rows):
    """Counts the best columns and rows that fit a budget, like `pruning.select`.

    Args:
        costs: <int32>[1 + rows, columns], tokens of each cell, the header and the best columns and
            rows first.
        budget: <int32>[], tokens that fit.
        columns, rows: bool, whether columns and rows may be dropped.
        num_matching_columns, wanted_rows: <int32>[].

    Returns:
        number of columns and of rows to keep, <int32>[] each.
    """
    num_rows, num_columns = tf.shape(costs)[0] - 1, tf.shape(costs)[1]
    totals = tf.cumsum(tf.cumsum(costs, axis=0), axis=1)
    fitting = tf.reduce_sum(tf.cast(totals <= budget, tf.int32), axis=0) - 1
    fewest_rows = tf.constant(0) if rows else num_rows
    wanted_rows = tf.minimum(num_rows, wanted_rows) if rows else num_rows
    best_columns = num_columns
    if columns:
        counts = tf.range(1, num_columns + 1)
        needed = tf.where(counts > num_matching_columns, wanted_rows, fewest_rows)
        possible = tf.where(fitting >= needed, counts, tf.ones_like(counts))
        best_columns = tf.reduce_max(tf.concat([[0], possible], axis=0))
    best_rows = tf.concat([[0], fitting], axis=0)[best_columns]
    return best_columns, tf.maximum(best_rows, fewest_rows)
