"""Reads numbers as people write them: signs, groups, decimal signs, scales, units, footnotes.

A single text cannot tell whether "1.234" is 1234 or 1.234; its column can. So `read` gives both
values where both are possible, and `columns` chooses.
"""

import math
import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from mate_tf.tables import units
from mate_tf.tables.units import Unit


class Amount(NamedTuple):
    """A number found in a text.

    Attributes:
        point: its value where the point is the decimal sign; None if it cannot be read so.
        comma: its value where the comma is the decimal sign; None if it cannot be read so.
        unit: its unit; a word that is not a known unit is its own unit. None without.
        prefix: text before it, such as "No."; "" for none.
        is_whole: no other digits are in the text.
        decimals: places after the decimal sign, once the scale was applied.
        scale: the word or letter that it was multiplied by, in lower case; "" for none.
    """

    point: float | None
    comma: float | None
    unit: Unit | None = None
    prefix: str = ""
    is_whole: bool = True
    decimals: int = 0
    scale: str = ""


_TRANSLATED = {
    **dict.fromkeys(map(ord, "\u2212\u2010\u2011\u2012\u2013\u2014\u2015\ufe58\ufe63\uff0d"), "-"),
    **dict.fromkeys(map(ord, "\u2019\u2018\u02bc\u00b4\u2032\u02b9`"), "'"),
    **dict.fromkeys(map(ord, "\u200b\u200e\u200f\ufeff\u2060\u00ad"), None),
}


def normalize(text: str) -> str:
    """Returns a text with one kind of dash, space, apostrophe and digit."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_TRANSLATED)
        if not text.isascii():
            text = "".join(
                str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text
            )
    return " ".join(text.split())


# fmt: off
MISSING = frozenset({
    "-", "--", "---", ".", "..", "...", "?", "n/a", "na", "n.a.", "n/d", "nd", "none", "null",
    "nil", "nan", "tbd", "tba", "tbc", "unknown", "missing", "not available", "not applicable",
    "#n/a", "#na", "#ref!", "#value!", "#div/0!", "#null!", "#num!", "#name?",
})
"""Normalized texts in lower case that stand for a missing value."""


_SCALES = {
    **dict.fromkeys(("k", "thousand", "thousands", "tsd", "tausend", "mille", "mil"), 3),
    **dict.fromkeys(("lakh", "lakhs", "lac"), 5),
    **dict.fromkeys(("m", "mm", "million", "millions", "mio", "mln", "mn", "mill", "millionen",
                     "millones"), 6),
    **dict.fromkeys(("crore", "crores", "cr"), 7),
    **dict.fromkeys(("b", "bn", "bln", "billion", "billions", "mrd", "md", "milliarden",
                     "milliards"), 9),
    **dict.fromkeys(("t", "tn", "trn", "trillion", "trillions"), 12),
}
# Scales next to a currency and as a capital M only: "5 m" are metres, "5 mm" millimetres.
_SCALES_OF_MONEY = frozenset({"m", "mm", "t", "mil", "mille", "md", "cr"})
_CARDINALS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)
# fmt: on
_WORDS = {word: float(number) for number, word in enumerate(_CARDINALS)}
_LONGEST_PREFIX = 12
_LONGEST = 200
"""Longer texts are not numbers, whatever they have in them."""

_ABOUT = (
    r"(?:[~≈≃±<>≥≤=]+|(?:circa|ca|c|about|approx|approximately|around|over|under|up\ to|est)\b\.?)"
)
_CURRENCY = "|".join(sorted(map(re.escape, units.CURRENCIES), key=len, reverse=True))
_BEGIN = re.compile(
    rf"""(?P<open>\()?\ ?
    (?:{_ABOUT}\ ?)?
    (?P<sign>[+-])?\ ?
    (?:(?P<currency>(?i:{_CURRENCY}))(?![a-z])\ ?(?P<inner_sign>[+-])?\ ?(?P<inner_open>\()?\ ?)?
    (?P<body>\d(?:[\d.,'\ ]*\d)?|[.,]\d+)
    """,
    re.VERBOSE,
)
_BODY = re.compile(r"\d(?:[\d.,'\ ]*\d)?")
_MARK = re.compile(r"\D")
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:\D\d{3})+")
_LAKHS = re.compile(r"\d{1,2}(?:\D\d{2})+\D\d{3}")
_LEADING_ZERO = re.compile(r"0\d")
_EXPONENT = re.compile(r"[eE]([+-]?\d{1,3})(?![\w.,])")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
# What stands for zero decimals after an amount, "5,-" and "20.–", or ends a list number, "1.".
_DASHES = re.compile(r"[.,](?:-{1,2}|(?!\d))")
_FOOTNOTES = re.compile(r"(?: ?\[[^\]]*\]| ?[*†‡§¶]+| ?\((?! ?[-+]?\d)[^()]*\))+$")
_UNIT = re.compile(
    r"""\ ?(per\ cent\b
    |(?:sq\.?|square)\ [A-Za-z]+
    |[^\W\d_]+[²³]?(?:/[^\W\d_]+²?|[23](?!\d))?\.?
    |[%‰°″′$€£¥₹₩₽₺₴₫฿₱₪₦₿]+[CF]?)""",
    re.VERBOSE,
)
_FEET = re.compile(r"(\d+) ?' ?(\d+(?:\.\d+)?) ?(?:\"|''|″)")
_SMALLER_UNIT = re.compile(r"(\d+(?:\.\d+)?) ?([^\W\d_]+\.?|[″′\"'])")
# What makes the digits before it something else than a number: 3-4, 1/2, 16:9, 2x4, 5 to 10.
_JOINED = re.compile(r" ?(?:[-/:×x⁄] ?[+]?\d|(?:to|bis|and|or|vs\.?|of) \d|-[^\W\d_])")
_NOT_BEFORE_A_NUMBER = re.compile(r"\d|[-/:]$|^[+]")


_CODE = re.compile(r"\d+([A-Z])")
_UNITS_OF_ONE_LETTER = (frozenset("KMBTG"), frozenset("CFK"), frozenset("VAW"), frozenset("LG"))
_NAMED = re.compile(r"\d+(?:k?m|yd|mi|ml|k?g) ([^\W\d_]{3,}(?: [^\W\d_]+)*)", re.IGNORECASE)


def is_missing(text: str) -> bool:
    """Returns whether a cell is empty, or has a mark for a missing value."""
    return not text.strip() or normalize(text).lower() in MISSING


def are_names(texts: Collection[str]) -> bool:
    """Returns whether texts that begin with numbers are names: "10A" and "10B", "50m Freestyle".

    They are if different letters, or different words behind a unit, tell them apart.
    """
    letters = {match[1] for match in map(_CODE.fullmatch, texts) if match}
    if len(letters) > 1 and all(map(_CODE.fullmatch, texts)):
        return not any(letters <= units for units in _UNITS_OF_ONE_LETTER)
    kinds = {match[1].lower() for match in map(_NAMED.fullmatch, texts) if match}
    return len(kinds) > 1 and all(map(_NAMED.fullmatch, texts))


def value_of(amount: Amount, has_decimal_comma: bool = False) -> float:
    """Returns the value of an amount with this decimal sign, or with the other one if need be."""
    both = (amount.comma, amount.point) if has_decimal_comma else (amount.point, amount.comma)
    return next(value for value in both if value is not None)


@lru_cache(maxsize=65536)
def read(text: str) -> Amount | None:
    """Reads the first number of a text.

    Scores, fractions, ratios, ranges, versions, addresses, telephone numbers and ids with leading
    zeros are not numbers.

    Args:
        text: the text, as `normalize` returns it.

    Returns:
        the number; None if there is none, or it is beyond the range of floats.
    """
    if len(text) > _LONGEST:
        return None
    if not any(map(str.isdigit, text)):
        word = _WORDS.get(text.lower())
        return None if word is None else Amount(word, word)
    if feet := _FEET.fullmatch(text):
        value = float(feet[1]) + float(feet[2]) / 12
        return Amount(value, value, units.find("ft"), decimals=2)
    begin = _BEGIN.match(text)
    match, prefix = begin or _BODY.search(text), ""
    if match is None:
        return None
    if begin is None:
        prefix = text[: match.start()].strip()
        if len(prefix) > _LONGEST_PREFIX or text[match.start() - 1].isalpha():
            return None  # a name, as A4
    parts = begin.groupdict() if begin else {}
    number = _number(parts.get("body") or match.group())
    if number is None:
        return None
    rest = text[match.end() - number.left_over :]
    if _JOINED.match(rest) or (prefix and _NOT_BEFORE_A_NUMBER.search(prefix)):
        return None
    return _finished(number, parts, prefix, rest)


class _Number(NamedTuple):
    """Digits with separators: values by decimal point and comma, decimals, characters behind."""

    point: float | None
    comma: float | None
    decimals: int
    left_over: int = 0


def _number(body: str) -> _Number | None:
    """Reads digits with separators; None if they are not a number, as 1.2.3 or 007."""
    if _LEADING_ZERO.match(body):
        return None
    marks = _MARK.findall(body)
    if not marks:
        return _Number(float(body), float(body), 0)
    if len(set(marks)) > 1:
        return _with_groups_and_decimals(body, marks)
    mark, whole = marks[0], float(_MARK.sub("", body))
    is_grouped = bool(_GROUPS.fullmatch(body))
    if mark in " '":
        if is_grouped:
            return _Number(whole, whole, 0)
        if mark == " " and len(marks) == 1:  # "4 12": two numbers
            first, _, second = body.partition(" ")
            return _Number(float(first), float(first), 0, left_over=len(second) + 1)
        return None
    if len(marks) > 1:
        if is_grouped or (mark == "," and _LAKHS.fullmatch(body)):
            return _Number(whole, None, 0) if mark == "," else _Number(None, whole, 0)
        return None
    fraction, places = float(body.replace(",", ".")), len(body) - body.index(mark) - 1
    grouped = whole if is_grouped else None
    if mark == ".":
        return _Number(fraction, grouped, places)
    return _Number(grouped, fraction, places)


def _with_groups_and_decimals(body: str, marks: list[str]) -> _Number | None:
    """Reads digits with two kinds of separators, the last one for decimals: 1.234,5."""
    sign = marks[-1]
    if sign not in ".," or marks.count(sign) > 1 or len(set(marks)) > 2:
        return None
    head, _, tail = body.rpartition(sign)
    if not (_GROUPS.fullmatch(head) or (sign == "." and _LAKHS.fullmatch(head))):
        return None
    value = float(f"{_MARK.sub('', head)}.{tail}")
    return _Number(value, None, len(tail)) if sign == "." else _Number(None, value, len(tail))


def _finished(number: _Number, parts: dict, prefix: str, rest: str) -> Amount | None:
    """Applies what surrounds the digits: signs, brackets, exponent, scale and unit.

    Args:
        number: the digits.
        parts: groups of `_BEGIN`; empty for a number after a prefix.
        prefix: text before the number.
        rest: text after its digits.
    """
    point, comma, decimals, _ = number
    is_negative = "-" in (parts.get("sign"), parts.get("inner_sign"))
    power, scale = 0, ""
    if exponent := _EXPONENT.match(rest):
        power, rest = int(exponent[1]), rest[exponent.end() :]
    if parts.get("open") or parts.get("inner_open"):  # accountants' negative numbers
        inside, closing, behind = rest.partition(")")
        if not closing or (behind.strip() and not inside.strip() and not parts["inner_open"]):
            return None  # (555) 123
        is_negative, rest = True, inside.strip() + behind
    unit = units.find(parts["currency"]) if parts.get("currency") else None
    rest = _DASHES.sub("", _FOOTNOTES.sub("", rest), count=1) if rest else rest
    if ordinal := _ORDINAL.match(rest):
        rest = rest[ordinal.end() :]
    while word := _UNIT.match(rest):
        name = word[1].replace("per cent", "percent")
        short, known = name.lower().rstrip("."), units.find(name)
        is_money = unit is not None and unit.is_currency
        if (
            not scale
            and short in _SCALES
            and (is_money or name == "M" or short not in _SCALES_OF_MONEY)
        ):
            power, scale = power + _SCALES[short], short
        elif known is not None and unit in (None, known):
            unit = known
        else:
            break
        rest = rest[word.end() :]
    rest = rest.strip()
    if unit is not None and (smaller := _SMALLER_UNIT.fullmatch(rest)):  # 5 ft 10 in
        other = units.find(smaller[2])
        if other is not None and other.kind == unit.kind and other.factor < unit.factor:
            added = float(smaller[1]) * other.factor / unit.factor
            point, comma = (None if each is None else each + added for each in (point, comma))
            rest, decimals = "", 2
    if rest == "-":
        is_negative, rest = True, ""
    rest = rest.lstrip("+").strip(" .,;:")
    is_whole = not any(map(str.isdigit, rest))
    if unit is None and is_whole and any(map(str.isalpha, rest)):
        unit = Unit(rest.lower(), f"word {rest.lower()}")
    point, comma = (_scaled(each, power, is_negative) for each in (point, comma))
    if any(each is not None and math.isinf(each) for each in (point, comma)):
        return None
    return Amount(point, comma, unit, prefix, is_whole, max(0, decimals - power), scale)


def _scaled(value: float | None, power: int, is_negative: bool) -> float | None:
    """Returns value * 10^power with its sign, without the noise of the last digit."""
    if value is None:
        return None
    value = float(f"{value:.15g}e{power}") if "e" not in f"{value:.15g}" else value * 10.0**power
    return -value if is_negative and value else value
