"""Finds and compares numbers and dates of cells inside a TensorFlow graph.

The counterpart in Python is `mate_tf.tables.numbers`. Here the regular expressions are RE2, which
has no look-around (`number_texts`). The results differ for some texts in which spans overlap, see
docs/reliability.md.
"""

import re
from typing import NamedTuple

import tensorflow as tf

from mate_tf.serving.in_graph import number_texts
from mate_tf.tables import numbers

MAX_QUESTION_VALUES = 8
"""Largest number of numbers, and of dates, in a question that cells are compared with."""

# Days of each month. Month 0 stands for a date without a month.
_MONTH_LENGTHS = (31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PARTS = ("year", "month", "day")
# A date as one number: year * 10000 + month * 100 + day.
_WEIGHTS = (10_000, 100, 1)
_LARGEST, _ABSENT = 1e300, 1e308
_READABLE = r"-?(?:\d+\.?\d*|\.\d+)(?:e\d+)?"


class FirstValues(NamedTuple):
    """The first number and the first date of texts.

    Attributes:
        number: <float64>[...], rounded to float32; 0 where there is none.
        has_number: <bool>[...].
        date: <int32>[..., 3], year, month and day; 0 for a missing part.
        has_date: <bool>[...].
    """

    number: tf.Tensor
    has_number: tf.Tensor
    date: tf.Tensor
    has_date: tf.Tensor


def normalize(texts):
    """Normalizes <string>[...] like `text.normalize_for_match`: lower case, single spaces."""
    return tf.strings.strip(
        tf.strings.regex_replace(number_texts.lower(texts), number_texts.WHITE_SPACE, " ")
    )


def find(texts):
    """Returns the first number and the first date of normalized texts <string>[...]."""
    for_numbers, for_dates = number_texts.prepared(texts)
    return FirstValues(*_number(for_numbers), *_date(_first(for_dates, number_texts.FIRST_DATE)))


def find_all(texts):
    """Finds all numbers and dates of questions.

    Args:
        texts: <string>[batch], normalized questions.

    Returns:
        list of `MAX_QUESTION_VALUES` `FirstValues`: the first ones, the second ones and so on.
    """
    (for_numbers, for_dates), result = number_texts.prepared(texts), []
    for _ in range(MAX_QUESTION_VALUES):
        result.append(
            FirstValues(*_number(for_numbers), *_date(_first(for_dates, number_texts.FIRST_DATE)))
        )
        for_numbers, for_dates = (
            _rest(for_numbers, number_texts.FIRST_NUMBER),
            _rest(for_dates, number_texts.FIRST_DATE),
        )
    return result


def _first(texts, pattern):
    """Returns what the first match of a pattern in each text has in its group; "" without one."""
    there = tf.strings.regex_full_match(texts, rf"(?s).*?{pattern}.*")
    match = tf.strings.regex_replace(texts, rf"(?s)^.*?{pattern}.*$", r"\1")
    return tf.where(there, match, "")


def _rest(texts, pattern):
    """Returns the text after the first match.

    A "~" is put in front of it. Otherwise "^" would match there, and a sign at that point would
    be read as the sign of a number.
    """
    return tf.strings.regex_replace(texts, rf"(?s)^.*?{pattern}(.*)$", r"~\2")


def _number(texts):
    """Returns the first number, <float64>[...] rounded to float32, and <bool>[...] if found."""
    match = number_texts.in_ascii(_first(texts, number_texts.FIRST_NUMBER))
    words = tf.constant(list(numbers.NUMBER_WORDS))
    named = tf.cast(match[..., tf.newaxis] == words, tf.float64)
    values = tf.constant(list(numbers.NUMBER_WORDS.values()), tf.float64)
    digits = tf.strings.regex_replace(match, r"[\s,+]|st|nd|rd|th", "")
    readable = tf.strings.regex_full_match(digits, _READABLE)
    digits = tf.where(readable, digits, "0")
    number = tf.strings.to_number(digits, tf.float64)
    # Python reads no positive infinity: of 1e999 it reads 1, and of 400 digits nothing.
    mantissa = tf.strings.to_number(tf.strings.regex_replace(digits, "e.*", ""), tf.float64)
    number = tf.where(number == float("inf"), mantissa, number)
    readable &= number < float("inf")
    number += tf.reduce_sum(named * values, axis=-1)
    there = tf.logical_or(readable, tf.reduce_any(named > 0, axis=-1))
    return tf.cast(tf.cast(number, tf.float32), tf.float64), there


def _date(matches):
    """Parses texts that match a date pattern.

    Returns <int32>[..., 3], year, month and day, and <bool>[...], true for dates that exist.
    """
    for form in number_texts.FORMS:
        pattern = number_texts.re2(form, names=True)
        groups = re.findall(r"\?P<(\w+)>", pattern)
        parts = [rf"\{groups.index(part) + 1}" if part in groups else "0" for part in _PARTS]
        pattern = pattern.replace("?P<year>", "").replace("?P<month>", "").replace("?P<day>", "")
        matches = tf.strings.regex_replace(matches, rf"^{pattern}$", "/".join(parts))
    for month, number in numbers.MONTH_NUMBERS.items():
        matches = tf.strings.regex_replace(matches, rf"/{month}[a-z]*/", f"/{number}/")
    matches = number_texts.in_ascii(matches)
    there = tf.strings.regex_full_match(matches, r"\d+/\d+/\d+")
    pattern = r"^(\d+)/(\d+)/(\d+)$"
    year, month, day = (
        tf.strings.to_number(
            tf.where(there, tf.strings.regex_replace(matches, pattern, rf"\{group}"), "0"), tf.int32
        )
        for group in (1, 2, 3)
    )
    # Of the multiples of 100 only 2000 is a leap year. `numbers` puts 1900 for a missing year, and
    # here a missing year is 0: neither is a leap year.
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year == 2000))
    length = tf.gather(_MONTH_LENGTHS, month) + tf.cast((month == 2) & leap, tf.int32)
    there &= day <= length
    parts = tf.stack([year, month, day], axis=-1)
    return parts * tf.cast(there, tf.int32)[..., tf.newaxis], there


class ColumnValues:
    """Numbers or dates of the columns, found by the rules of `numbers.column_values`.

    Args:
        cells: <string>[batch, rows, columns].
        present: <bool>[batch, rows, columns], False for padding.

    Attributes:
        number: <float64>[batch, rows, columns], the first number of each cell.
        has_value: <bool>[batch, rows, columns], true for cells with a value of the column's kind.
        has_number: <bool>[batch, rows, columns], true if that value is a number.
    """

    def __init__(self, cells, present):
        result = find(normalize(cells))
        count = tf.reduce_sum(tf.cast(present, tf.int32), axis=1, keepdims=True)
        num_numbers, num_dates = (
            tf.reduce_sum(tf.cast(has & present, tf.int32), axis=1, keepdims=True)
            for has in (result.has_number, result.has_date)
        )
        self._dates = num_dates >= num_numbers
        enough = tf.cast(tf.maximum(num_dates, num_numbers), tf.float64) >= (
            tf.cast(count, tf.float64) * numbers.MIN_CONSOLIDATION_FRACTION
        )
        there = tf.where(self._dates, result.has_date, result.has_number)
        self.has_value = there & present & enough
        self.has_number = self.has_value & ~self._dates
        self.number = result.number
        self._date = result.date
        lacks_no_part = (result.date > 0) | ~self.has_value[..., tf.newaxis]
        # <bool>[batch, 1, columns, 3]: the parts (year, month, day) in all dates of the column.
        self._common = tf.reduce_all(lacks_no_part, axis=1, keepdims=True)

    def ranks(self):
        """Ranks the values of each column, equal values with equal ranks.

        Returns:
            ascending and descending ranks, <int32>[batch, rows, columns], from 1; 0 for cells
            without a value.
        """
        comparable = ~self._dates | tf.reduce_any(self._common, axis=-1)
        there = self.has_value & comparable
        keys = tf.where(self._dates, _as_number(self._date, self._common), self.number)
        keys = tf.where(there, tf.clip_by_value(keys, -_LARGEST, _LARGEST), _ABSENT)
        keys = tf.transpose(keys, [0, 2, 1])
        order = tf.argsort(keys, stable=True)
        keys = tf.gather(keys, order, batch_dims=2)
        new = tf.concat([tf.ones_like(keys[..., :1], tf.bool), keys[..., 1:] > keys[..., :-1]], -1)
        dense = tf.cumsum(tf.cast(new, tf.int32), axis=-1)
        ranks = tf.gather(dense, tf.argsort(order), batch_dims=2)
        ranks = tf.transpose(ranks, [0, 2, 1]) * tf.cast(there, tf.int32)
        most = tf.reduce_max(tf.pad(ranks, [[0, 0], [0, 1], [0, 0]]), axis=1, keepdims=True)
        return ranks, (most + 1 - ranks) * tf.cast(there, tf.int32)

    def relations(self, question_values):
        """Compares cells with the numbers and dates of the question, like `numbers.relations`.

        Args:
            question_values: list of `FirstValues` with fields <dtype>[batch, ...], of `find_all`.

        Returns:
            <int32>[batch, rows, columns], sum of `numbers.EQ`, `numbers.LT` and `numbers.GT`.
        """
        bits = tf.zeros_like(self.number, tf.int32)
        for asked in question_values:
            number = asked.number[:, tf.newaxis, tf.newaxis]
            with_number = asked.has_number[:, tf.newaxis, tf.newaxis] & ~self._dates
            date = asked.date[:, tf.newaxis, tf.newaxis]
            common = self._common & (date > 0)
            with_date = tf.reduce_any(common, axis=-1) & self._dates
            for takes_part, own, others in (
                (with_number, number, self.number),
                (with_date, _as_number(date, common), _as_number(self._date, common)),
            ):
                relation = tf.where(
                    others == own, numbers.EQ, tf.where(own < others, numbers.LT, numbers.GT)
                )
                there = tf.cast(takes_part & self.has_value, tf.int32)
                bits = tf.bitwise.bitwise_or(bits, relation * there)
        return bits


def _as_number(date, common):
    """Encodes dates as numbers of the same order, by the parts that all of them have.

    Args:
        date: <int32>[..., 3], year, month and day.
        common: <bool>[..., 3], the parts to compare by.

    Returns:
        <float64>[...].
    """
    return tf.cast(tf.reduce_sum(date * tf.cast(common, tf.int32) * _WEIGHTS, axis=-1), tf.float64)
