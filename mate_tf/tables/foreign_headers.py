"""English words for German, French, Spanish, Italian and Dutch names of columns.

Questions and models are English: "Umsatz (EUR)" is read as "Umsatz / revenue (EUR)". Words are
those of header_words.txt, and compounds of them. Does not import TensorFlow.
"""

import functools
import re
import unicodedata
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

_LANGUAGES = ("German", "French", "Spanish", "Italian", "Dutch")
_REVERSED = _LANGUAGES[1:4]  # "fecha inscripción" is the registration date
_COMPOUNDS = ("German", "Dutch")
_LINK = re.compile(r"(?:s|e?n|e)$")
_LEAST_COLUMNS, _LEAST_SHARE = 2, 0.25
"""Columns, and their share of all, with words of a language that tell that a table is in it."""

_SHORTEST = 4
"""Letters of the last part of a compound: the "ort" of "Antwort" is not a place."""

_UNIT = re.compile(r"(?: ?\([^()]*\)| [€$£%])$")
_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_PREPOSITION = re.compile(r" (?:au|par|por|al|pro|per|je) ")


class _Words(NamedTuple):
    """Words of a language.

    Attributes:
        english: English words for each word, the likelier ones first.
        telling: the words that are not English too.
    """

    english: dict[str, str]
    telling: frozenset[str]


def with_english(names: Sequence[str]) -> tuple[str, ...]:
    """Returns names of columns with English words behind those of another language.

    The names of an English table, or of one in a language that is not known, are returned as they
    are.
    """
    tells = {
        language: sum(bool(_telling(name, language)) for name in names) for language in _LANGUAGES
    }
    language = max(tells, key=lambda each: tells[each])
    if tells[language] < max(_LEAST_COLUMNS, _LEAST_SHARE * len(names)):
        return tuple(names)
    return tuple(_with_english(name, language) for name in names)


def _telling(name: str, language: str) -> bool:
    return any(word in _words()[language].telling for word in _split(name))


def _with_english(name: str, language: str) -> str:
    translated = [_english(word, language) for word in _split(name)]
    known = [*dict.fromkeys(each for each in translated if each)]
    if {*" ".join(known).split()} <= {*name.lower().split()}:
        return name
    if language in _REVERSED and len(known) == 2 and not _PREPOSITION.search(name.lower()):
        known.reverse()
    unit = _UNIT.search(name)
    begin = len(name) if unit is None else unit.start()
    return f"{name[:begin]} / {' '.join(known)}{name[begin:]}"


def _english(word: str, language: str) -> str:
    """Returns the English for a word or a compound; "" if it is not known."""
    english = _words()[language].english
    if word in english or language not in _COMPOUNDS:
        return english.get(word, "")
    for begin in range(2, len(word) - 1):
        last, first = english.get(word[begin:], ""), word[:begin]
        if last and (len(word) - begin >= _SHORTEST or word[begin:] == "nr"):
            first = english.get(first) or english.get(_LINK.sub("", first), "")
            return f"{first} {last}".strip()
    return ""


def _split(name: str) -> list[str]:
    return re.findall(r"[^\W\d_]+°?", _folded(name))


def _folded(text: str) -> str:
    """Returns a text in lower case without accents: "Größe" and "Groesse" are the same."""
    text = text.lower().replace("ß", "ss").translate(_TRANSCRIBED)
    parts = unicodedata.normalize("NFKD", text)
    return "".join(each for each in parts if not unicodedata.combining(each))


@functools.cache
def _words() -> dict[str, _Words]:
    text = (resources.files("mate_tf.tables") / "header_words.txt").read_text("utf-8")
    rows = [[each.strip() for each in line.split("|")] for line in text.splitlines()[1:]]
    of_english = {word for english, *_ in rows for word in english.split()}
    found = {}
    for number, language in enumerate(_LANGUAGES, start=1):
        english: dict[str, list[str]] = {}
        telling = set()
        for row in rows:
            for each in row[number].replace("-", " ").split():
                word = _folded(each.rstrip("*"))
                english.setdefault(word, []).append(row[0])
                if not each.endswith("*") and word not in of_english:
                    telling.add(word)
        shared = {word: word for word in of_english if word not in english}
        joined = {word: " ".join(dict.fromkeys(words)) for word, words in english.items()}
        found[language] = _Words(shared | joined, frozenset(telling))
    return found
