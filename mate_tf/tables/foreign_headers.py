"""English words for names of columns that are German, French, Spanish, Italian, Dutch or short.

Questions and models are English: "Umsatz (EUR)" is read as "Umsatz / revenue (EUR)", and "acct id"
as "acct id / account". Words are those of header_words.txt, with compounds of them, and of
abbreviations.txt. Does not import TensorFlow.
"""

import functools
import re
import unicodedata
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

JOINT = " / "
"""Stands between a name and its English words."""

_LANGUAGES = ("German", "French", "Spanish", "Italian", "Dutch")
_REVERSED = _LANGUAGES[1:4]  # "fecha inscripción" is the registration date
_COMPOUNDS = ("German", "Dutch")
_LINK = re.compile(r"(?:s|e?n|e)$")
_LEAST_COLUMNS, _LEAST_SHARE = 2, 0.25
"""Columns, and their share of all, with words of a language that tell that a table is in it."""

_SHORTEST = 4
"""Letters of words that tell a language, and of the last part of a compound: the "ort" of "Antwort"
is not a place."""

_UNIT = re.compile(r"(?: ?\([^()]*\)| [€$£%])$")
_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_PREPOSITION = re.compile(r" (?:au|par|por|al|pro|per|je) ")


class _Words(NamedTuple):
    """Words of a language.

    Attributes:
        english: English words for each word, the likelier ones first.
        telling: the words that are not English too, and not short.
        shared: English words that are taken as they are in compounds.
    """

    english: dict[str, str]
    telling: frozenset[str]
    shared: frozenset[str]


def with_english(names: Sequence[str]) -> tuple[str, ...]:
    """Returns names of columns with English words behind those of another language.

    Of an English table, or of one in a language that is not known, abbreviations are spelled out.
    """
    tells = {
        language: sum(bool(_telling(name, language)) for name in names) for language in _LANGUAGES
    }
    language = max(tells, key=lambda each: tells[each])
    if tells[language] < max(_LEAST_COLUMNS, _LEAST_SHARE * len(names)):
        return tuple(map(_spelled_out, names))
    return tuple(_with_english(name, language) for name in names)


def _telling(name: str, language: str) -> bool:
    telling = _words()[language].telling
    compounds = (_compound(word, language) for word in _split(name))
    is_compound = any(all(each) and telling.intersection(each) for each in compounds)
    return is_compound or not telling.isdisjoint(_split(name))


def _with_english(name: str, language: str) -> str:
    translated = [_english(word, language) for word in _split(name)]
    known = [*dict.fromkeys(each for each in translated if each)]
    if language in _REVERSED and len(known) == 2 and not _PREPOSITION.search(name.lower()):
        known.reverse()
    return _joined(name, known)


def _spelled_out(name: str) -> str:
    return _joined(name, [each for each in map(_abbreviations().get, _split(name)) if each])


def _joined(name: str, english: Sequence[str]) -> str:
    """Returns a name with English words before its unit; as it is if it has them."""
    words = " ".join(english).split()
    if {*words} <= {*re.findall(r"[^\W\d_]+", name.lower())}:
        return name
    unit = _UNIT.search(name)
    begin = len(name) if unit is None else unit.start()
    return f"{name[:begin]}{JOINT}{' '.join(words)}{name[begin:]}"


def _english(word: str, language: str) -> str:
    """Returns the English for a word or a compound; "" if it is not known."""
    english = _words()[language].english
    if word in english:
        return english[word]
    first, last = _compound(word, language)
    return f"{english.get(first, '')} {english.get(last, '')}".strip()


def _compound(word: str, language: str) -> tuple[str, str]:
    """Returns the first part of a compound, "" if it is not known, and the last; "" without one."""
    english, _, shared = _words()[language]
    for begin in range(2, len(word) - 1) if language in _COMPOUNDS else ():
        first, last = word[:begin], word[begin:]
        if last in english and (len(last) >= _SHORTEST or last == "nr"):
            known = (each for each in (first, _LINK.sub("", first)) if each in english)
            first = next(known, "")
            is_english = first in shared and last in shared  # "birthdate"
            return ("", "") if is_english else (first, last)
    return "", ""


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
            for each in row[number].removeprefix("-").split():
                word = _folded(each.rstrip("*"))
                english.setdefault(word, []).append(row[0])
                if not each.endswith("*") and word not in of_english and len(word) >= _SHORTEST:
                    telling.add(word)
        shared = {word: word for word in of_english if word not in english}
        joined = {word: " ".join(dict.fromkeys(words)) for word, words in english.items()}
        found[language] = _Words(shared | joined, frozenset(telling), frozenset(shared))
    return found


@functools.cache
def _abbreviations() -> dict[str, str]:
    text = (resources.files("mate_tf.tables") / "abbreviations.txt").read_text("utf-8")
    return dict(line.split(" ", 1) for line in text.splitlines()[1:])
