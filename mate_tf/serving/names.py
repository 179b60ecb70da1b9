"""Names in a question that its table does not have, as "rent" in "total cost of rent".

A name is a word after a preposition, after "which", "who" or "list", after "Ann's", "the highest"
or "how much", before the verb of "which treatment room was", or with a capital letter within the
question. Words that questions often use although tables do not have them are not names, as "total".
"""

import itertools
import random
import re
from collections.abc import Sequence, Set

from mate_tf.evaluation.associations import Associations
from mate_tf.tables import amounts, moments, pruning
from mate_tf.tables.pruning import STOP_WORDS
from mate_tf.tables.text import ALIKE, stem

MOST = 2
"""Names that count; more of them say no more."""

_ASKING = frozenset(("which", "what", "what's", "whats", "whose", "who", "list", "show"))
"""Words that what is asked for follows. "What" names nothing in "what did she do"."""

_BEFORE = frozenset(("of", "on", "for", "from", "in", "by", "with", "at", "to", "about", "without"))
_HIGHEST = frozenset(("highest", "lowest"))
_OF_OPERATIONS = frozenset(
    ("mean", "median", "single", "overall", "combined", "altogether", "else", "everything")
)
_ARTICLES = frozenset(
    ("the", "all", "a", "an", "is", "was", "are", "were", "our", "my", "your", "their", "its")
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_VERBS = r"(?:is|was|are|were|did|does|do|has|have|had|will|can)\b"
_HEAD = re.compile(
    rf"\b(?:which|what|whose)(?: (?!{_VERBS}|(?:{'|'.join(sorted(_BEFORE))})\b)[\w'’-]+){{0,3}}? "
    rf"(?P<head>[\w'’-]+) {_VERBS}",
    re.IGNORECASE,
)
"""The last word of what is asked for, as "room" in "which treatment room was it in"."""

_POSSESSIVE = re.compile(r"['’]s?$")


def unknown(
    question: str,
    table: Set[str],
    associations: Associations | None = None,
    with_asked: bool = True,
) -> list[str]:
    """Returns the names in a question that are not in its table, in order, without repetition.

    Args:
        question: its text.
        table: words of the table, see `unanswerable.table_words`.
        associations: see `associations.count`.
        with_asked: a word after "which" or "who" is a name too; it may name the rows themselves.
    """
    asking = _ASKING if with_asked else frozenset()
    begins = {word[:ALIKE] for word in table if len(word) >= ALIKE}
    heads = {match.start("head") for match in _HEAD.finditer(question)} if with_asked else ()
    names, is_name = [], False
    for number, match in enumerate(_WORD.finditer(question)):
        text = match.group()
        low = _POSSESSIVE.sub("", text.lower())
        is_small = low in STOP_WORDS or low in _ARTICLES or low.endswith(("n't", "n’t"))
        if text.lower() in asking or low in _BEFORE or is_small:
            begins_name = text.lower() in asking or low in _BEFORE or low == "much"
            is_name = begins_name or (is_name and low in _ARTICLES)
            continue
        is_proper = number > 0 and text[0].isupper() and text != "I"
        if (is_name or is_proper or match.start() in heads) and not _is_value(low):
            words = pruning.words(low)
            known = all(
                word in table
                or word in pruning.usual_words()
                or word in _OF_OPERATIONS
                or word[:ALIKE] in begins
                or stem(word) in table  # "basses"
                or any(name in table for name in (associations or {}).get(word, ()))
                or not pruning.synonyms().get(word, frozenset()).isdisjoint(table)
                for word in words
            )
            if not known and low not in names:
                names.append(low)
        is_name = is_name and low in pruning.usual_words()
        is_name |= low in _HIGHEST or (with_asked and low != text.lower())
    return names


def exchanged(
    question: str, table: Set[str], others: Sequence[str], draw: random.Random
) -> str | None:
    """Returns a question with one of its names replaced by another word; None if it has none.

    Args:
        question: its text, all of whose names are in the table.
        table: words of the table.
        others: words that it does not have.
        draw: source of the choices.
    """
    behind = [
        second
        for first, second in itertools.pairwise(_WORD.finditer(question))
        if first.group().lower() in _BEFORE
        and not _is_value(second.group().lower())
        and set(pruning.words(second.group())) <= table
    ]
    others = [
        word
        for word in others
        if word.isalpha() and len(word) > 3 and word not in pruning.usual_words()
    ]
    if not behind or not others or unknown(question, table):
        return None
    match = draw.choice(behind)
    return f"{question[: match.start()]}{draw.choice(others)}{question[match.end() :]}"


def _is_value(word: str) -> bool:
    return amounts.read(word) is not None or moments.read(word) is not None or word[0].isdigit()
