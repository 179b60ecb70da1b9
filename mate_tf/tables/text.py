"""Normalizes and splits text before it is compared or parsed.

The results equal those of the public TAPAS code for every string, also for odd ones, so that
records and scores made with either code are equal. No function fails on unusual text.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from typing import Any

EMPTY = "EMPTY"

# A maximal run of characters with str.isalnum(): \w without the underscore.
WORD = re.compile(r"[^\W_]+")
_WITHIN = re.compile(r"(?<=[a-z]{2})(?=[A-Z])|(?<=[a-z]{2})(?=\d)|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_CODED = re.compile(r"[A-Za-z0-9]*[a-z]{2}[A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z]{2}[A-Za-z0-9]*")
_WORD_OR_PUNCTUATION = re.compile(r"\w+|[^\w\s]+")

_QUOTES_AND_DASHES = str.maketrans(
    {**dict.fromkeys("‘’´`", "'"), **dict.fromkeys("“”", '"'), **dict.fromkeys("‐‑‒–—−", "-")}
)
# These two take linear time per start position, since no two alternatives match the same text. The
# published patterns take exponential time on "x[1][1][1]…y".
_FINAL_CITATIONS = re.compile(r"(?:(?!^)\[[^\]]*\]|^\[\d+\]|[•♦†‡*#+])+$")
_FINAL_PARENTHESES = re.compile(r"(?: \([^)]*\))+$")
_OUTER_QUOTES = re.compile(r'^"([^"]*)"$')
_MARKUP = re.compile(r"<[^<][^<>]*>")


ALIKE = 5
"""Letters at the beginning that two forms of a word share: "earnings", "earned"."""

SHORT = 3
"""Letters of words that have no other form."""


def is_unicode(text: str) -> bool:
    """Returns whether a text can be written as UTF-8: it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def normalize_for_match(text: str) -> str:
    """Lower-cases and collapses white space. Positions of numeric spans refer to this form."""
    return " ".join(text.lower().split())


def format_text(text: str) -> str:
    """Returns the lower-cased words without punctuation; `EMPTY` for "n/a" and without words."""
    text = text.lower()
    if text.strip() == "n/a":
        return EMPTY
    return " ".join(WORD.findall(text)) or EMPTY


def tokenize_string(text: str) -> list[str]:
    """Splits lower-cased text into words and runs of punctuation."""
    return _WORD_OR_PUNCTUATION.findall(text.lower())


def wtq_normalize(text: str) -> str:
    """Applies `normalize_denotation` and removes markup, like the reference's cells of WTQ."""
    return _MARKUP.sub("", normalize_denotation(text))


@lru_cache(maxsize=65536)
def normalize_denotation(text: str) -> str:
    """Returns the normal form by which the WikiTableQuestions evaluator compares strings.

    Removes diacritics, citations and parentheses at the end, outer quotation marks and a final full
    stop. Replaces special quotes and dashes. Lower-cases and collapses white space.
    """
    text = unicodedata.normalize("NFKD", text)
    text = "".join(char for char in text if unicodedata.category(char) != "Mn")
    text = text.translate(_QUOTES_AND_DASHES)
    previous = None
    while text != previous:
        previous = text
        text = _FINAL_CITATIONS.sub("", text.strip())
        text = _FINAL_PARENTHESES.sub("", text.strip())
        text = _OUTER_QUOTES.sub(r"\1", text.strip())
    return " ".join(text.removesuffix(".").split()).lower()


# Normal forms for comparing the text of an answer with cells, from the strictest to the loosest.
NORMALIZERS: tuple[Callable[[str], Hashable], ...] = (
    str,
    str.lower,
    lambda text: tuple(tokenize_string(text)),
    wtq_normalize,
)


def convert_to_float(value: str | float) -> float:
    """Reads a number with thousands separators (1,000.7) or a decimal comma (5,25).

    Raises:
      ValueError: if the text is not a number. "nan" and "inf" are numbers.
    """
    if isinstance(value, (int, float)):
        return float(value)
    if not isinstance(value, str):
        raise ValueError("Argument value is not a string. Can't parse it as float")
    parts = value.split(",")
    if len(parts) == 2 and "." not in value and not any(len(part) == 3 for part in parts):
        value = value.replace(",", ".")
    elif len(parts) > 1:
        value = value.replace(",", "")
    elif value.count(".") > 1:
        value = value.replace(".", "")
    try:
        return float(value)
    except ValueError:
        raise ValueError("Unable to convert value to float") from None


def normalize_answers(answers: Iterable[str | float | None]) -> list[str]:
    """Returns the sorted normal forms of a set of answers: numbers as floats, text lower-cased.

    None and NaN are left out. Two sets of answers are the same denotation if their lists are equal.
    """
    normalized = []
    for answer in answers:
        if answer is None:
            continue
        try:
            number = convert_to_float(answer)
        except ValueError:
            normalized.append(str(answer).lower())
        else:
            if not math.isnan(number):
                normalized.append(str(number))
    return sorted(normalized)


def percent(share: float) -> str:
    """Formats a share, from 0 to 1, in per cent; with one decimal below 10 %."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


def counted(count: int, noun: str) -> str:
    """Formats a number with its noun: "1 row", "2,000 rows"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def spoken(name: str) -> str:
    """Returns a name such as "NetAmountEUR" as "Net Amount EUR"; others as they are.

    Underscores stay: they divide words wherever texts are compared.
    """
    return _WITHIN.sub(" ", name) if _CODED.fullmatch(name) else name


def is_gap(value: Any) -> bool:
    """Returns whether a value is missing: None, NaN (also Decimal's), NaT or pandas.NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # pandas.NA has no truth value, Decimal("sNaN") raises
        return True
    except ValueError:  # an array in a cell
        return False


def stem(word: str) -> str:
    """Returns a word without the ending of a verb, so that "rated" names the column "Rating"."""
    for ending in ("ing", "ed", "es", "al", "e", "s"):
        if word.endswith(ending) and len(word) >= len(ending) + 3 and word[-2:] != "ss":
            return word[: -len(ending)]
    return word
