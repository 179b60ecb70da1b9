"""Rules of the official WikiTableQuestions evaluator, 1.0.2.

An answer is a set of values: strings, numbers and dates. It is right if it has as many values as
the target, and each value of the target matches a value of the answer. Two values match if their
texts have the same normal form (`tables.text.normalize_denotation`), or if they are the same number
(to 1e-6) or the same date. An unknown part of a date equals only an unknown part.
"""

import calendar
import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mate_tf.tables.text import normalize_denotation

TOLERANCE = 1e-6

Date = tuple[int | None, int | None, int | None]

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if number}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>\d{4})"
_DATES = tuple(
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        rf"(?!may$){_MONTH}",
        rf"{_MONTH} {_YEAR}",
        rf"{_MONTH} {_DAY}(?:, {_YEAR})?",
        rf"{_DAY} {_MONTH}(?: {_YEAR})?",
        rf"(?P<month>\d{{1,2}})/{_DAY}/{_YEAR}",
    )
)
_NUMBER = re.compile(
    r"(?:[$#+]|(?:Season|Stage|Since) )?"
    r"(?P<number>-?(?:\d{1,3}(?:,\d{3})+|\d{1,3} \d{3}|\d+)?(?:\.\d+)?)"
    r"(?:st|nd|rd|th|%|km| (?P<scale>thousand|million|billion|trillion)| [a-z/]+)?(?: \(.*\))?",
    re.ASCII,
)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}


class Value(NamedTuple):
    """One value of an answer.

    Attributes:
        text: its text in the normal form.
        number: the number, if the value is a number.
        date: (year, month, day) with None for an unknown part, if the value is a date.
    """

    text: str
    number: float | None = None
    date: Date | None = None

    def matches(self, other: "Value") -> bool:
        """Returns True if two values match by text, number or date."""
        if self.text == other.text:
            return True
        if self.number is not None and other.number is not None:
            return abs(self.number - other.number) < TOLERANCE
        return self.date is not None and self.date == other.date

    def _identity(self):
        """Returns a key. Values of one answer with equal keys count once."""
        if self.number is not None:
            return self.number
        return self.date or self.text


def value(text: str, canonical: str = "") -> Value:
    """Reads one value.

    Args:
        text: text of the value.
        canonical: the value as a number or as a date "1999-12-31", "xxxx-12-xx", if it is known.
            Otherwise `text` is parsed as one.
    """
    normal, canonical = normalize_denotation(text), canonical or text
    number = _number(canonical)
    if number is not None:
        return Value(normal, number=number)
    date = _date(canonical)
    if date is None:
        return Value(normal)
    year, month, day = date
    if year is not None and month is day is None:
        return Value(normal, number=float(year))
    return Value(normal, date=date)


def values(texts: Iterable[str], canonical: Iterable[str] | None = None) -> list[Value]:
    """Returns the values of an answer, each one once.

    Args:
        texts: one text for each value, see `value`.
        canonical: canonical forms in the same order, see `value`.
    """
    texts = list(texts)
    canonical = [""] * len(texts) if canonical is None else canonical
    parsed = [value(*pair) for pair in zip(texts, canonical, strict=True)]
    return list({(type(v._identity()), v._identity()): v for v in reversed(parsed)}.values())


def is_right(target: Sequence[Value], answer: Sequence[Value]) -> bool:
    """Returns True if an answer is right by the rules of the official evaluator."""
    return len(target) == len(answer) and all(any(t.matches(a) for a in answer) for t in target)


def canonical_form(text: str) -> str:
    """Returns the canonical form of a target that looks like a number or date; else the text.

    The annotations of the official files were made with a tagger. This function knows a few
    patterns only ("17 years", "$1.2 billion", "May 9, 2004").
    """
    text = " ".join(text.split())
    for form in _DATES:
        match = form.fullmatch(text)
        if match:
            parts = match.groupdict()
            month, day, year = parts["month"].lower(), parts.get("day"), parts.get("year")
            month = _MONTHS.get(month) or int(month)
            return f"{year or 'xxxx'}-{month:02}-{f'{int(day):02}' if day else 'xx'}"
    match = _NUMBER.fullmatch(text)
    if match and match["number"] not in ("", "-"):
        number = float(re.sub("[, ]", "", match["number"]))
        return repr(number * _SCALES.get(match["scale"], 1))
    return text


def _number(text: str) -> float | None:
    """Parses a number by the evaluator's rules; returns None for other texts."""
    if "_" in text:  # float() parses "1_000" since Python 3.6; the evaluator is older
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    # The evaluator truncates numbers that are this close to an integer.
    return float(int(number)) if abs(number - round(number)) < TOLERANCE else number


def _date(text: str) -> Date | None:
    """Parses a date such as "1999-12-31" or "xxxx-12-xx"; returns None for other texts."""
    parts = text.lower().split("-")
    if len(parts) != 3 or "_" in text:
        return None
    try:
        year = None if parts[0] in ("xx", "xxxx") else int(parts[0])
        month, day = (None if part == "xx" else int(part) for part in parts[1:])
    except ValueError:
        return None
    in_range = (month is None or 1 <= month <= 12) and (day is None or 1 <= day <= 31)
    return (year, month, day) if in_range and (year, month, day) != (None, None, None) else None
