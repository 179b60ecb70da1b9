"""Reads dates, times of day and durations as people write them.

Whether 03/04/2021 is in March or in April, a single text cannot tell; its column can.
"""

import calendar
import operator
import re
from functools import lru_cache
from typing import NamedTuple


class Moment(NamedTuple):
    """A date, perhaps with a time; unknown parts are None. Years before Christ are negative.

    `second` counts from midnight, in UTC if the text gives an offset.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    second: float | None = None


class Numeric(NamedTuple):
    """A date of two numbers and a year: the order of day and month is open.

    Attributes:
        first, second: day and month, or month and day.
        year: the year.
        time: seconds from midnight; None if there is no time.
        has_points: written as 30.06.2019, where the day comes first.
    """

    first: int
    second: int
    year: int | None
    time: float | None
    has_points: bool

    def moment(self, has_day_first: bool) -> Moment | None:
        """Returns the date in this order of day and month, or in the other one if there is none."""
        day, month = self.first, self.second
        if not has_day_first:
            day, month = month, day
        moment = checked(self.year, month, day, self.time)
        return moment or checked(self.year, day, month, self.time)


class Clock(NamedTuple):
    """Numbers with colons: a time of day or a duration.

    Attributes:
        parts: two or three numbers, the last one perhaps with a fraction.
        is_time: it has am or pm, so it is a time of day.
        days: days before it: "1 day, 2:00:00".
    """

    parts: tuple[float, ...]
    is_time: bool = False
    days: int | None = None

    @property
    def is_length(self) -> bool:
        """Returns whether it can only be a duration: beyond a day, or with parts of a second."""
        return (
            self.days is not None
            or self.parts[0] >= 24
            or (len(self.parts) == 3 and self.parts[0] == 0 and self.parts[2] % 1 != 0)
        )

    def seconds(self, is_length: bool) -> float:
        """Returns seconds. Of two parts, a time has hours and minutes, a duration minutes and
        seconds."""
        sizes = (60, 1) if is_length and len(self.parts) == 2 else (3600, 60, 1)
        return (self.days or 0) * 86400.0 + sum(map(operator.mul, self.parts, sizes))


class Length(NamedTuple):
    """A duration in words, such as 1 h 30 min, in seconds."""

    seconds: float


# Names of months, from the first to the last, of the languages: English, German, French, Spanish,
# Italian, Portuguese, Dutch, Swedish. A name is known by its first letters where no other month
# begins so, from three letters on.
_MONTHS = """
    january february march april may june july august september october november december
    januar februar märz april mai juni juli august september oktober november dezember
    jänner feber maerz april mai juni juli august september oktober november dezember
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
    januari februari maart april mei juni juli augustus september oktober november december
    januari februari mars april maj juni juli augusti september oktober november december
"""


def _months() -> dict[str, int]:
    result: dict[str, set[int]] = {}
    for line in _MONTHS.strip().splitlines():
        for number, name in enumerate(line.split(), start=1):
            for length in range(3, len(name) + 1):
                result.setdefault(name[:length], set()).add(number)
    return {name: numbers.pop() for name, numbers in result.items() if len(numbers) == 1}


MONTHS = _months()
# A month alone: names in full, or the three letters of English ones.
_NAMES = {
    name: number
    for line in _MONTHS.strip().splitlines()[:5]
    for number, name in enumerate(line.split(), start=1)
} | {name[:3]: number for number, name in enumerate(_MONTHS.split()[:12], start=1)}
_LONGEST = 60
_MONTH = r"(?P<month>[^\W\d_]{3,12})\.?"
_YEAR = r"(?P<year>\d{4}|'\d\d)"
_DAY = r"(?P<day>\d{1,2})"
_ORDINAL = r"(?:st|nd|rd|th|er|\.|º)?"
_OF = r"(?:\s*(?:of|de|del|di|den)\b)?"
_WEEKDAY = r"(?:[^\W\d_]{2,10}\.?,?\s+)?"
_ZONE = r"(?P<zone>Z|\s?UTC|\s?[+-]\d\d:?\d\d)?"
_TIME = (
    r"(?:(?:T|,?\s+)(?P<clock>\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?)"
    rf"\s?(?P<half>[ap]\.?m\.?)?{_ZONE})?"
)


def _compiled(pattern: str) -> re.Pattern:
    return re.compile(pattern, re.IGNORECASE)


_ISO = _compiled(
    rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_TIME}"
)
_COMPACT = _compiled(r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?:T?(?P<clock>\d{6}))?")
_NUMERIC = _compiled(
    rf"{_WEEKDAY}(?P<first>\d{{1,2}})(?P<mark>[-/.])\s?(?P<second>\d{{1,2}})(?P=mark)\s?(?P<year>\d{{4}}|\d\d){_TIME}"
)
_NAMED = tuple(
    _compiled(pattern)
    for pattern in (
        rf"{_WEEKDAY}(?:the\s+)?{_DAY}{_ORDINAL}{_OF}[\s-]*{_MONTH}{_OF}(?:,?[\s-]*(?P<year>\d{{4}}|'?\d\d))?{_TIME}",
        rf"{_WEEKDAY}{_MONTH}\s*{_DAY}{_ORDINAL}(?:,?\s+{_YEAR})?{_TIME}",
        rf"{_MONTH}{_OF},?[\s-]+(?P<year>\d{{4}}|'\d\d)",
        rf"{_MONTH}-(?P<year>\d\d)",
        rf"{_YEAR}[\s-]+{_MONTH}(?:[\s-]+{_DAY})?",
    )
)
_CJK = _compiled(r"(?P<year>\d{4})[年년]\s?(?P<month>\d{1,2})[月월](?:\s?(?P<day>\d{1,2})[日일])?")
_FRENCH_CLOCK = _compiled(r"(?P<hour>\d{1,2})\s?h\s?(?P<minute>[0-5]\d)")
_YEAR_MONTH = _compiled(r"(?P<year>\d{4})[-/](?P<month>0[1-9]|1[0-2])")
_MONTH_YEAR = _compiled(r"(?P<month>0?[1-9]|1[0-2])/(?P<year>\d{4})")
_QUARTERS = tuple(
    _compiled(pattern)
    for pattern in (
        r"Q(?P<quarter>[1-4])\s?[-/ ']?\s?(?P<year>\d{4}|\d\d)",
        r"(?P<year>\d{4})\s?[-/ ]?\s?Q(?P<quarter>[1-4])",
        r"(?P<quarter>[1-4])Q\s?[-/ ']?\s?(?P<year>\d{4}|\d\d)",
    )
)
_ERA = _compiled(r"(?P<before>AD\s)?(?P<year>\d{1,4})\s?(?P<after>BCE?|B\.C\.|CE|AD|A\.D\.)?")
_CLOCK = _compiled(
    r"(?:(?P<days>\d+) days?,? )?(?P<hour>\d{1,3}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d(?:[.,]\d+)?)|(?P<fraction>[.,]\d+))?\s?(?P<half>[ap]\.?m\.?)?"
)
_HOUR = _compiled(r"(?P<hour>1[0-2]|0?[1-9])\s?(?P<half>[ap]\.?m\.?)")
_NAMES_OF_LENGTHS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sekunden"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "minuten"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "std", "stunden"), 3600.0),
    **dict.fromkeys(("d", "day", "days", "tage", "tag"), 86400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604800.0),
}
_LENGTH = re.compile(r"(\d+(?:[.,]\d+)?)\s?([a-z]+)\.?,?(?:\s+and)?\s*")
_ISO_LENGTH = re.compile(
    r"P(?:(\d+)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)


def _full_year(text: str | None) -> int | None:
    """Returns a year; of two digits, 69 to 99 are in the 20th century, as in POSIX."""
    if text is None:
        return None
    digits = text.lstrip("'")
    year = int(digits)
    if len(digits) == 2:
        year += 1900 if year >= 69 else 2000
    return year


def _seconds(clock: str | None, half: str | None = None, zone: str | None = None):
    """Returns seconds from midnight, in UTC if there is a zone; None without or beyond a day."""
    if not clock:
        return None
    if ":" not in clock:
        clock = f"{clock[:2]}:{clock[2:4]}:{clock[4:]}"
    hour, minute, *second = clock.split(":")
    hour, minute, second = int(hour), int(minute), float(second[0]) if second else 0.0
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.lower().startswith("p") else 0)
    if hour > 24 or minute > 59 or second >= 61:
        return None
    offset = 0
    zone = (zone or "").strip()
    if zone and zone[0] in "+-":
        offset = (int(zone[1:3]) * 60 + int(zone[-2:])) * (1 if zone[0] == "+" else -1)
    return hour * 3600 + (minute - offset) * 60 + second


def checked(year, month, day, second=None) -> Moment | None:
    """Returns a moment; None if there is no such day."""
    if year is not None and not 1 <= abs(year) <= 9999:
        return None
    if month is not None and not 1 <= month <= 12:
        return None
    if day is not None:
        longest = (
            29
            if month == 2 and year is None
            else (calendar.monthrange(abs(year or 2000), month)[1] if month else 31)
        )
        if not 1 <= day <= longest:
            return None
    return Moment(year, month, day, second)


@lru_cache(maxsize=65536)
def read(text: str):
    """Reads a date, a time or a duration that is the whole text.

    Args:
        text: the text, as `amounts.normalize` returns it.

    Returns:
        `Moment`, `Numeric`, `Clock` or `Length`; None for other texts.
    """
    if len(text) > _LONGEST:
        return None
    if not any(map(str.isdigit, text)):
        month = _NAMES.get(text.lower().rstrip("."))
        return None if month is None else Moment(month=month)
    if text.isdigit() and len(text) != 8:
        return None
    for pattern in (_ISO, _COMPACT):
        if match := pattern.fullmatch(text):
            parts = match.groupdict()
            time = _seconds(parts["clock"], parts.get("half"), parts.get("zone"))
            if parts["clock"] and time is None:
                return None
            moments = checked(int(parts["year"]), int(parts["month"]), int(parts["day"]), time)
            if moments and (pattern is _ISO or 1700 <= int(parts["year"]) <= 2200):
                return moments
    if match := _NUMERIC.fullmatch(text):
        first, second = int(match["first"]), int(match["second"])
        year = _full_year(match["year"])
        time = _seconds(match["clock"], match["half"], match["zone"])
        if checked(year, second, first) or checked(year, first, second):
            return Numeric(first, second, year, time, match["mark"] == ".")
        return None
    if match := _CLOCK.fullmatch(text):
        return _clock(match)
    if match := _CJK.fullmatch(text):
        day = match["day"]
        return checked(int(match["year"]), int(match["month"]), int(day) if day else None)
    if match := _FRENCH_CLOCK.fullmatch(text):
        return Clock((int(match["hour"]), int(match["minute"])))
    if match := _HOUR.fullmatch(text):
        seconds = _seconds(f"{match['hour']}:00", match["half"])
        return None if seconds is None else Clock((seconds / 3600, 0.0), True)
    if match := _YEAR_MONTH.fullmatch(text) or _MONTH_YEAR.fullmatch(text):
        return checked(int(match["year"]), int(match["month"]), None)
    for pattern in _QUARTERS:
        if match := pattern.fullmatch(text):
            return Moment(_full_year(match["year"]), 3 * int(match["quarter"]) - 2)
    if text[-1].isalpha() or text[-1] == ".":
        match = _ERA.fullmatch(text)
        if match and match["after"]:
            year = int(match["year"])
            return checked(-year if match["after"].upper().startswith("B") else year, None, None)
    if (match := _ERA.fullmatch(text)) and match["before"]:
        return checked(int(match["year"]), None, None)
    return _named(text) or _length(text)


def _named(text: str) -> Moment | None:
    for pattern in _NAMED:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        parts = match.groupdict()
        month = MONTHS.get(parts["month"].lower().rstrip("."))
        if month is None:
            continue
        day = parts.get("day")
        time = _seconds(parts.get("clock"), parts.get("half"), parts.get("zone"))
        moment = checked(_full_year(parts["year"]), month, int(day) if day else None, time)
        if moment:
            return moment
    return None


def _clock(match: re.Match) -> Clock | None:
    hour, minute = int(match["hour"]), int(match["minute"])
    days = int(match["days"]) if match["days"] else None
    if match["half"]:
        second = _seconds(
            f"{hour}:{minute:02}" + (f":{match['second']}" if match["second"] else ""),
            match["half"],
        )
        return None if second is None else Clock((second // 3600, second % 3600 / 60), True)
    if minute > 59:
        return None
    if match["second"]:
        return Clock((hour, minute, float(match["second"].replace(",", "."))), False, days)
    if match["fraction"]:  # minutes, seconds and a fraction
        return Clock((0, hour, minute + float(match["fraction"].replace(",", "."))), False, days)
    return Clock((hour, minute), False, days)


def _length(text: str) -> Length | None:
    low = text.lower()
    if (match := _ISO_LENGTH.fullmatch(text)) and any(match.groups()):
        parts = (float(each or 0) for each in match.groups())
        return Length(sum(map(operator.mul, parts, (86400, 3600, 60, 1))))
    position, total, count = 0, 0.0, 0
    while match := _LENGTH.match(low, position):
        size = _NAMES_OF_LENGTHS.get(match[2])
        if size is None:
            return None
        total += float(match[1].replace(",", ".")) * size
        position, count = match.end(), count + 1
    return Length(total) if count > 1 and position == len(low) else None
