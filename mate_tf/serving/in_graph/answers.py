"""Turns selected cells and an aggregation operation into an answer, inside a TensorFlow graph.

The counterpart in Python is `mate_tf.answers.execution.result`.
"""

import tensorflow as tf

from mate_tf.answers import execution
from mate_tf.answers.execution import AGGREGATIONS
from mate_tf.serving.in_graph import number_texts

_DIGITS = r"\d+(?:_\d+)*"
# What Python's float() reads, but for NaN.
_FLOAT = (
    rf"(?i)[+-]?(?:(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:e[+-]?{_DIGITS})?|inf(?:inity)?)"
)
_COUNT, _AVERAGE = map(AGGREGATIONS.index, (execution.COUNT, execution.AVERAGE))


def result(cells, selected, aggregation, values):
    """Executes the operation on the selected cells.

    Args:
        cells: <string>[batch, rows, columns], texts of the data cells.
        selected: <bool>[batch, rows, columns], true for the cells of the answer.
        aggregation: <int32>[batch], index in `AGGREGATIONS`.
        values: the `ColumnValues` of the cells.

    Returns:
        value: <float64>[batch], result of the operation; NaN for NONE, and for SUM and AVERAGE of
            cells without numbers.
        text: <string>[batch], the value as text; without a value, the texts of the selected cells,
            separated by commas.
    """
    own, is_number = _own_numbers(cells)
    numbers = tf.where(is_number, own, _shortest(values.number))
    used = selected & (is_number | values.has_number)
    number_of = tf.reduce_sum(tf.cast(used, tf.float64), axis=[1, 2])
    total = tf.reduce_sum(tf.where(used, numbers, 0.0), axis=[1, 2])  # infinity times 0 is NaN
    total = tf.where(aggregation == _AVERAGE, tf.math.divide_no_nan(total, number_of), total)
    count = tf.reduce_sum(tf.cast(selected, tf.float64), axis=[1, 2])
    counts = aggregation == _COUNT
    value = tf.where(counts, count, tf.strings.to_number(_digits(total), tf.float64))
    there = (aggregation != 0) & (counts | (number_of > 0)) & tf.math.is_finite(value)
    whole = tf.strings.as_string(value + 0.0, precision=0)
    written = tf.where(value == tf.round(value), whole, _digits(value))
    return tf.where(there, value, float("nan")), tf.where(there, written, _join(cells, selected))


def _digits(values):
    """Formats <float64>[...] as <string>[...] with at most 15 significant digits."""
    return tf.strings.as_string(values, precision=15, shortest=True)


def _shortest(values):
    """Returns the float64 with the fewest digits that rounds to the same float32, as 1.1."""
    short = tf.strings.to_number(
        tf.strings.as_string(values, precision=7, shortest=True), tf.float64
    )
    return tf.where(tf.cast(short, tf.float32) == tf.cast(values, tf.float32), short, values)


def _own_numbers(texts):
    """Reads cells that are one number, by the rules of `text.convert_to_float`.

    Returns <float64>[...], 0 where the text is not a number, and <bool>[...], true where it is.
    """
    decimal = tf.strings.regex_full_match(texts, r"(?s)[^,.]*,[^,.]*")
    grouped = tf.strings.regex_full_match(texts, r"(?s).{3},.*|.*,.{3}")
    has_comma = tf.strings.regex_full_match(texts, r"(?s).*,.*")
    points = tf.strings.regex_full_match(texts, r"(?s)[^,]*\.[^,]*\.[^,]*")
    without = tf.strings.regex_replace(texts, ",", "")
    texts = tf.where(
        decimal & ~grouped,
        tf.strings.regex_replace(texts, ",", "."),
        tf.where(
            has_comma, without, tf.where(points, tf.strings.regex_replace(texts, r"\.", ""), texts)
        ),
    )
    texts = number_texts.ascii_digits(
        tf.strings.regex_replace(
            texts,
            rf"^{number_texts.WHITE_SPACE}|{number_texts.WHITE_SPACE}$",
            "",
            replace_global=True,
        )
    )
    is_number = tf.strings.regex_full_match(texts, _FLOAT)
    digits = tf.where(is_number, tf.strings.regex_replace(texts, "_", ""), "0")
    return tf.strings.to_number(digits, tf.float64), is_number


def _join(cells, selected):
    """Returns <string>[batch]: the texts of the selected cells in table order, with ", "."""
    chosen = tf.ragged.boolean_mask(", " + cells, selected).merge_dims(1, 2)
    # reduce_join with a separator would write no separator after empty texts at the beginning.
    return tf.strings.regex_replace(tf.strings.reduce_join(chosen, axis=-1), "^, ", "")
