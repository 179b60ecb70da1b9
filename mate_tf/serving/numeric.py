"""Numbers and dates in cells, and how they compare, as part of a graph.

What `mate_tf.tables.numbers` does, in regular expressions without look-around. It differs where
spans overlap in unusual ways, in digits of other scripts and in days that do not exist.
"""

import re
from typing import NamedTuple

import tensorflow as tf

from mate_tf.tables import numbers

MAX_QUESTION_VALUES = 8
"""Numbers, and dates, of a question that cells are compared with."""

_WHITE_SPACE = r"[\s\v\x1c-\x1f\x{85}\pZ]+"
# From 0, a month that a date lacks.
_MONTH_LENGTHS = (31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PARTS = ("year", "month", "day")
# Of a date as one number: years, months and days do not run into each other.
_WEIGHTS = (10_000, 100, 1)
_LARGEST, _ABSENT = 1e300, 1e308


def _re2(form: str, names: bool) -> str:
    """`numbers.date_pattern` in lower case and without years that no date has."""
    pattern = numbers.date_pattern(form).replace("(?ai:", "(?:").replace("|Sept", "")
    pattern = pattern.replace(r"\d{4}", r"(?:1[789]\d\d|200\d|201[0-6])")
    return pattern if names else re.sub(r"\?P<\w+>", "?:", pattern)


_FORMS = sorted(numbers.DATE_FORMS, key=lambda form: -len(numbers.date_pattern(form)))
_YEAR = _re2("YEAR", names=False)
_DATE = "|".join(rf"{_re2(form, names=False)}\b" for form in _FORMS if form != "YEAR")
# Years that belong to a longer number are in it so that they are passed over.
_FIRST_DATE = rf"(?:^|\s)[+-]{_YEAR}\b|\b(?:{_DATE}|{_YEAR}(?:\.|,\d\d\d)|{_YEAR}\b)"
_FIRST_NUMBER = (
    rf"\b(?:{'|'.join(numbers.NUMBER_WORDS)})\b|\b\d+e\d+\b"
    r"|(?:(?:^|\s)[+-])?(?:\.\d+|\d+(?:,\d\d\d)*(?:\.\d*)?)"
)
_READABLE = r"-?(?:\d{1,300}\.?\d{0,300}|\.\d{1,300})(?:e\d{1,2})?"


class Found(NamedTuple):
    """The first number and the first date of texts.

    Attributes:
        number: <float64>[...], rounded to float32; 0 where there is none.
        has_number: <bool>[...].
        date: <int32>[..., 3], year, month and day; 0 where it lacks one.
        has_date: <bool>[...].
    """

    number: tf.Tensor
    has_number: tf.Tensor
    date: tf.Tensor
    has_date: tf.Tensor


def normalize(texts):
    """Lower case, one space for white space: what `text.normalize_for_match` gives."""
    texts = tf.strings.lower(texts, encoding="utf-8")
    return tf.strings.strip(tf.strings.regex_replace(texts, _WHITE_SPACE, " "))


def find(texts):
    """The first number and the first date in normalised texts, as a `Found`."""
    texts = _plain(texts)
    number, has_number = _number(tf.strings.regex_replace(texts, rf"\b(?:{_DATE})", "~"))
    date, has_date = _date(_first(texts, _FIRST_DATE))
    return Found(number, has_number, date, has_date)


def find_all(texts):
    """Numbers and dates one after the other, of a question: a list of `Found`."""
    texts = _plain(texts)
    for_numbers, found = tf.strings.regex_replace(texts, rf"\b(?:{_DATE})", "~"), []
    for _ in range(MAX_QUESTION_VALUES):
        found.append(Found(*_number(for_numbers), *_date(_first(texts, _FIRST_DATE))))
        for_numbers, texts = _rest(for_numbers, _FIRST_NUMBER), _rest(texts, _FIRST_DATE)
    return found


def _plain(texts):
    """With the letter q for letters and digits beyond ASCII, so that \\b is where words end."""
    texts = tf.strings.regex_replace(texts, "_", "~")
    for others in (r"[^\x00-\x7f\PL]", r"[^\x00-\x7f\PN]"):
        texts = tf.strings.regex_replace(texts, others, "q")
    return texts


def _first(texts, pattern):
    """The first match; "" if there is none."""
    there = tf.strings.regex_full_match(texts, rf"(?s).*?(?:{pattern}).*")
    match = tf.strings.regex_replace(texts, rf"(?s)^.*?({pattern}).*$", r"\1")
    return tf.where(there, match, "")


def _rest(texts, pattern):
    """What comes after the first match; it is no beginning where a sign could stand."""
    return tf.strings.regex_replace(texts, rf"(?s)^.*?(?:{pattern})(.*)$", r"~\1")


def _number(texts):
    """<float64>, rounded to float32, and <bool>, whether there is one."""
    match = _first(texts, _FIRST_NUMBER)
    words = tf.constant(list(numbers.NUMBER_WORDS))
    named = tf.cast(match[..., tf.newaxis] == words, tf.float64)
    values = tf.constant(list(numbers.NUMBER_WORDS.values()), tf.float64)
    digits = tf.strings.regex_replace(match, r"[\s,+]", "")
    readable = tf.strings.regex_full_match(digits, _READABLE)
    number = tf.strings.to_number(tf.where(readable, digits, "0"), tf.float64)
    number += tf.reduce_sum(named * values, axis=-1)
    there = tf.logical_or(readable, tf.reduce_any(named > 0, axis=-1))
    return tf.cast(tf.cast(number, tf.float32), tf.float64), there


def _date(matches):
    """<int32>[..., 3] and <bool>, whether it is a date that exists."""
    for form in _FORMS:
        pattern = _re2(form, names=True)
        groups = re.findall(r"\?P<(\w+)>", pattern)
        parts = [rf"\{groups.index(part) + 1}" if part in groups else "0" for part in _PARTS]
        pattern = pattern.replace("?P<year>", "").replace("?P<month>", "").replace("?P<day>", "")
        matches = tf.strings.regex_replace(matches, rf"^{pattern}$", "/".join(parts))
    for month, number in numbers.MONTH_NUMBERS.items():
        matches = tf.strings.regex_replace(matches, rf"/{month}[a-z]*/", f"/{number}/")
    there = tf.strings.regex_full_match(matches, r"\d+/\d+/\d+")
    pattern = r"^(\d+)/(\d+)/(\d+)$"
    year, month, day = (
        tf.strings.to_number(
            tf.where(there, tf.strings.regex_replace(matches, pattern, rf"\{group}"), "0"), tf.int32
        )
        for group in (1, 2, 3)
    )
    # 1900, for dates without a year, is none; neither is any other multiple of 100 but 2000.
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year == 2000))
    length = tf.gather(_MONTH_LENGTHS, month) + tf.cast((month == 2) & leap, tf.int32)
    there &= day <= length
    parts = tf.stack([year, month, day], axis=-1)
    return parts * tf.cast(there, tf.int32)[..., tf.newaxis], there


class ColumnValues:
    """The numbers or dates of columns, as `numbers.column_values` finds them.

    Args:
        cells: <string>[batch, rows, columns].
        present: <bool>[batch, rows, columns], False for padding.

    Attributes:
        number: <float64>[batch, rows, columns].
        has_value: <bool>[batch, rows, columns].
        has_number: <bool>[batch, rows, columns], has a value and it is a number.
    """

    def __init__(self, cells, present):
        found = find(normalize(cells))
        count = tf.reduce_sum(tf.cast(present, tf.int32), axis=1, keepdims=True)
        num_numbers, num_dates = (
            tf.reduce_sum(tf.cast(has & present, tf.int32), axis=1, keepdims=True)
            for has in (found.has_number, found.has_date)
        )
        self._dates = num_dates >= num_numbers
        enough = tf.cast(tf.maximum(num_dates, num_numbers), tf.float64) >= (
            tf.cast(count, tf.float64) * numbers.MIN_CONSOLIDATION_FRACTION
        )
        there = tf.where(self._dates, found.has_date, found.has_number)
        self.has_value = there & present & enough
        self.has_number = self.has_value & ~self._dates
        self.number = found.number
        self._date = found.date
        lacks_no_part = (found.date > 0) | ~self.has_value[..., tf.newaxis]
        # <bool>[batch, 1, columns, 3]: parts that all dates of the column have.
        self._common = tf.reduce_all(lacks_no_part, axis=1, keepdims=True)

    def ranks(self):
        """<int32>[batch, rows, columns] twice: dense ranks from below and from above, or 0."""
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
        """<int32>[batch, rows, columns], as `numbers.relations`.

        Args:
            question_values: a list of `Found` of <string>[batch].
        """
        bits = tf.zeros_like(self.number, tf.int32)
        for found in question_values:
            number = found.number[:, tf.newaxis, tf.newaxis]
            with_number = found.has_number[:, tf.newaxis, tf.newaxis] & ~self._dates
            date = found.date[:, tf.newaxis, tf.newaxis]
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
    """<float64>[...] in the order of the dates <int32>[..., 3], by their common parts."""
    return tf.cast(tf.reduce_sum(date * tf.cast(common, tf.int32) * _WEIGHTS, axis=-1), tf.float64)
