"""Patterns of numbers and dates for RE2, and the forms of texts in which they can be searched.

RE2 has no look-around and its `\\b` knows ASCII only. So what a pattern of `mate_tf.tables.numbers`
looks around for is separated, marked or taken away before.
"""

import functools
import re
import sys
import unicodedata

import tensorflow as tf

from mate_tf.tables import numbers

WHITE_SPACE = r"[\s\v\x1c-\x1f\x{85}\pZ]+"
"""Pattern of what `str.split` splits at."""

# Texts are in lower case, so capital letters are free to stand for digits of other scripts. In
# Python \d matches these, but the month of "5.6.1999" must be written in ASCII.
_OTHER_DIGITS = "ABCDEFGHIJ"
_DIGIT = rf"[0-9{_OTHER_DIGITS[0]}-{_OTHER_DIGITS[-1]}]"


def _digits(pattern: str) -> str:
    """Returns a pattern in which each ASCII digit stands for that digit of any script."""
    return re.sub(r"\d", lambda digit: digit[0] + _OTHER_DIGITS[int(digit[0])], pattern)


_YEAR = rf"(?:{_digits('[1][789]')}{_DIGIT}{{2}}|{_digits('[2][0][0]')}{_DIGIT}" + (
    rf"|{_digits('[2][0][1][0123456]')})"
)
_LEAP_YEAR = (
    rf"(?:{_digits('[1][789]')}(?:{_digits('[0][48]|[2468][048]|[13579][26]')})"
    rf"|{_digits('[2][0]')}(?:{_digits('[0][048]|[1][26]')}))"
)


def re2(form: str, names: bool) -> str:
    """Returns `numbers.date_pattern` in lower case, limited to the years 1700 to 2016.

    Args:
        form: one of `numbers.DATE_FORMS`.
        names: keep the names of the groups.
    """
    pattern = numbers.date_pattern(form).replace("(?ai:", "(?:").replace("|Sept", "")
    pattern = pattern.replace(r"\d{4}", _YEAR).replace(r"\d", _DIGIT)
    return pattern if names else re.sub(r"\?P<\w+>", "?:", pattern)


FORMS = sorted(numbers.DATE_FORMS, key=lambda form: -len(numbers.date_pattern(form)))
"""`numbers.DATE_FORMS`, the longest patterns first."""
_DATE = "|".join(rf"{re2(form, names=False)}\b" for form in FORMS if form != "YEAR")
_SIGN = r"(?:^|\s)[+-]"
# Dates, and numbers with a year in them, which is then no date: signed, with decimals, grouped.
_DATES_AND_NUMBERS = (
    rf"(?:{_SIGN})?\.?\b({_DATE})|{_SIGN}{_YEAR}\b|{_DIGIT}+(?:,{_DIGIT}{{3}})*\.{_DIGIT}*"
    rf"|\.{_DIGIT}+|{_DIGIT}+(?:,{_DIGIT}{{3}})+\b|{_YEAR},{_DIGIT}{{3}}|\b({_YEAR})\b"
)
FIRST_DATE = "<([^<>]+)>"
"""Pattern of a date, as its group, in the second result of `prepared`."""
# Two dates with the month in common.
_OVERLAPPING_DATES = rf"{re2('DAY MONTH', names=False)} {re2('DAY', names=False)}\b(?:, {_YEAR}\b)?"
_NUMBER = rf"{_DIGIT}+(?:,{_DIGIT}{{3}})*(?:\.{_DIGIT}*)?"
_OVERLAPPING_NUMBERS = (
    (rf"((?:{_SIGN}\.?|\.)(?:{_DATE}))", r"<\1>"),
    (rf"<(\s?[+-]?(?:\.{_DIGIT}+|{_NUMBER}))[^<>]*>", r"\1~"),
    ("[<>]", ""),
    (rf"\b((?:{_DATE})(?:(?:,{_DIGIT}{{3}})+(?:\.{_DIGIT}*)?|\.{_DIGIT}*))", r"<\1>"),
    (rf"<[^<>]*?[ ,-]({_NUMBER})>", r"~\1"),
    ("[<>]", ""),
)
"""Pairs of a pattern and what replaces it, in this order: of a date and a number that begins in
front of it or ends after it, they leave the number, as Python reads both."""
FIRST_NUMBER = (
    rf"(\b(?:{'|'.join(numbers.NUMBER_WORDS)})\b|\b{_DIGIT}+e{_DIGIT}+(?:st|nd|rd|th)?\b"
    rf"|(?:{_SIGN})?(?:\.{_DIGIT}+|{_NUMBER}))"
)
"""Pattern of a number, as its group, in the first result of `prepared`."""
_LATE_DAY = r"(?:2[9J]|3[01])\b"


def _false_days() -> tuple[tuple[str, str], ...]:
    """Returns pairs of a pattern and what replaces it, which separate days that do not exist.

    "30 february 2001" becomes "30~february 2001", where only the month is a date, as in Python.
    The 29th of February of a leap year is hidden as "K" while the others are separated.
    """
    twenty_ninth, february = "2[9J]", "(?:february|feb)"
    pairs = [
        (rf"\b{twenty_ninth}( {february} {_LEAP_YEAR})\b", r"K\1"),
        (rf"\b({february} ){twenty_ninth}(, {_LEAP_YEAR})\b", r"\1K\2"),
        (rf"\b(0?2-){twenty_ninth}(-{_LEAP_YEAR})\b", r"\1K\2"),
        (rf"\b({_LEAP_YEAR}-0?2-){twenty_ninth}\b", r"\1K"),
        (rf"\b{twenty_ninth}(\.0?2\.{_LEAP_YEAR})\b", r"K\1"),
        # A date without a year has none on this day, whatever follows.
        (rf"(day),( {february} K)", r"\1~,\2"),
    ]
    short = "(?:april|apr|june|jun|september|sep|november|nov)"
    for days, months, number in (
        ("(?:2[9J]|3[01])", february, "0?2"),
        ("31", short, "(?:0?[469]|11)"),
    ):
        pairs += [
            (rf"\b({days}) ({months})\b", r"\1~\2"),
            (rf"\b({months}) ({days})\b", r"\1~\2"),
            (rf"\b({number}-{days})-({_YEAR})\b", r"\1~\2"),
            (rf"\b({_YEAR}-{number})-({days})\b", r"\1~\2"),
            (rf"\b({days}\.{number})(\.{_YEAR})\b", r"\1~\2"),
        ]
    return (*pairs, ("K", "29"))


def lower(texts):
    """Returns <string>[...] in lower case. A NUL, where ICU would end a text, becomes \\x01."""
    return tf.strings.lower(tf.strings.regex_replace(texts, r"\x00", "\x01"), encoding="utf-8")


def ascii_digits(texts, digits="0123456789"):
    """Replaces decimal digits of other scripts in <string>[...] by other characters.

    Args:
        texts: UTF-8.
        digits: what replaces the digits 0 to 9.
    """

    def replaced(texts):
        for same, digit in zip(_digits_of_scripts(), digits, strict=True):
            texts = tf.strings.regex_replace(texts, same, digit)
        return texts

    return _where(texts, r"[^\x00-\x7f]", replaced)


@functools.cache
def _digits_of_scripts() -> tuple[str, ...]:
    """Returns for each of 0 to 9 the class of its characters beyond ASCII, as Python has them."""
    result = [[] for _ in range(10)]
    for code in range(128, sys.maxunicode + 1):
        digit = unicodedata.decimal(chr(code), None)
        if digit is not None:
            result[digit].append(rf"\x{{{code:x}}}")
    return tuple(f"[{''.join(codes)}]" for codes in result)


def _where(texts, pattern, change):
    """Returns <string>[...] in which the texts with a match are changed by a function."""
    indices = tf.where(tf.strings.regex_full_match(texts, rf"(?s).*{pattern}.*"))
    return tf.tensor_scatter_nd_update(texts, indices, change(tf.gather_nd(texts, indices)))


def prepared(texts):
    """Returns normalized texts <string>[...] twice: without dates, and with each date as "<...>".

    RE2's \\b knows ASCII words only, so letters and numbers beyond ASCII become "q".
    """

    def plain(texts):
        texts = ascii_digits(texts, _OTHER_DIGITS)
        for others in (r"[^\x00-\x7f\PL]", r"[^\x00-\x7f\PN]"):
            texts = tf.strings.regex_replace(texts, others, "q")
        return texts

    def separated(texts):
        for pattern, separate in _false_days():
            texts = tf.strings.regex_replace(texts, pattern, separate)
        return texts

    def overlapping(texts):
        for pattern, left in _OVERLAPPING_NUMBERS:
            texts = tf.strings.regex_replace(texts, pattern, left)
        return texts

    texts = tf.strings.regex_replace(texts, "[_<>]", "~")
    texts = _where(texts, r"[^\x00-\x7f]", plain)
    texts = _where(texts, _LATE_DAY, separated)
    for_numbers = _where(texts, rf"(?:{_SIGN}|[.,]).*", overlapping)
    for_numbers = tf.strings.regex_replace(for_numbers, rf"\b(?:{_OVERLAPPING_DATES}|{_DATE})", "~")
    return for_numbers, tf.strings.regex_replace(texts, _DATES_AND_NUMBERS, r"<\1\2>")


def in_ascii(texts):
    """Returns <string>[...] with the digits that `_OTHER_DIGITS` stand for."""

    def replaced(texts):
        for digit, other in enumerate(_OTHER_DIGITS):
            texts = tf.strings.regex_replace(texts, other, str(digit))
        return texts

    return _where(texts, "[A-J]", replaced)
