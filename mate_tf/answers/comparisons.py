"""Words of questions that compare values, and words that ask for the largest or smallest one."""

import re
from typing import NamedTuple

from mate_tf.tables import numbers, pruning
from mate_tf.tables.columns import SaidValue

EQUAL, LEAST, MOST = (numbers.EQ,), (numbers.LT, numbers.EQ), (numbers.GT, numbers.EQ)
ABOVE, BELOW = (numbers.LT,), (numbers.GT,)
"""How the value of a question compares to the cells that it means: "above 5" is LT of 7."""

SIGNS = {EQUAL: "is", LEAST: "≥", MOST: "≤", ABOVE: ">", BELOW: "<"}

_BEFORE = tuple(
    (bits, re.compile(rf"\b(?P<said>{words})(?: the)?(?: year)?$"))
    for bits, words in (
        (LEAST, "at least|(?:no|not) less than|(?:no|not) fewer than|since|minimum of"),
        (MOST, "at most|(?:no|not) more than|(?:no|not) higher than|up to|until|maximum of"),
        (
            ABOVE,
            "(?:more|greater|higher|larger|longer|later|older|bigger|better|heavier|taller|warmer|"
            "hotter|wider|deeper|dearer|more expensive|more recent|newer|stronger|farther|further)"
            " than|over|above|after|exceed(?:s|ing)?|beyond|>",
        ),
        (
            BELOW,
            "(?:less|fewer|lower|smaller|shorter|earlier|younger|cheaper|lighter|colder|cooler|"
            "narrower|nearer|closer|less expensive|weaker) than|under|"
            "below|before|<",
        ),
    )
)
_UNIT = r"^(?:[a-z€$£%]+ )?(?P<said>(?:or|and) "
_BEHIND = (
    (LEAST, re.compile(_UNIT + "(?:more|later|above|higher|over|newer))")),
    (MOST, re.compile(_UNIT + "(?:less|fewer|earlier|below|lower|under|older))")),
)
# Those "from 2015 on" are of this year or later, and those "from 2015" of this year.
_FROM = re.compile(r"\bfrom(?: the)?(?: year)?$")
_ON = re.compile(
    r"(?:on|onwards?|upwards?|and up)(?=$|[ ?,.])(?! (?:the|a|mon|tue|wed|thu|fri|sat|sun))",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\b(?:between|from)(?: the)?(?: years?)?$")
_TO = re.compile(r"(?:and|to|-|–|until)(?: the)?")
NEGATED = re.compile(
    r"\b(?:not(?! by (?:value|number|count|amount|weight)\b)|except|excluding|other than|without|"
    r"never|non)\b|n['’]t\b"
)
WITHOUT_ANY = re.compile(
    r"\b(?:have|has|had|with|are|were|is) no (?!(?:more|less|fewer|later)\b)[a-z]"
)
WITHOUT = re.compile(
    r"\b(?:no|without(?: an?| any)?|missing(?: an?)?|lack(?:s|ing)?(?: an?)?|empty|blank|"
    r"nobody|no ?one|(?:not|n['’]t) have (?:an?|any))(?P<what>(?: [\w-]+){1,5})"
)
"""Asks for rows without a value, as in "who has no manager?"; the group is what they lack."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_HIGH = _words(
    "highest most largest biggest greatest maximum max longest tallest heaviest latest newest last "
    "richest deepest farthest strongest peak leading best top recent recently"
)
_LOW = _words(
    "lowest least fewest smallest minimum min shortest cheapest earliest first lightest poorest "
    "slowest bottom nearest closest worst"
)
_ONLY_OF_VALUES = frozenset(
    _words(
        "largest biggest greatest smallest highest lowest longest shortest tallest heaviest "
        "lightest"
    )
)
_ONLY_OF_DATES = frozenset(_words("latest newest recent recently earliest"))
_THAN = re.compile(r"\b[a-z]+er than(?: the)?$|\b(?:more|less) [a-z]+ than(?: the)?$")
# The oldest one has the largest age or the earliest date.
_BOTH = _words("fastest youngest oldest worst best top")
_ENDING = re.compile(r"[a-z]{3,}est")
_NO_SUPERLATIVES = _words("interest forest contest request harvest guest honest modest protest")
# In "who is taller, A or B" they ask for the largest of two.
_HIGHER = _words("more higher larger bigger greater longer taller heavier later better older")
_LOWER = _words("less fewer lower smaller shorter lighter earlier worse younger first")
# These compare, see `_BEFORE` and `_BEHIND`.
_AT = re.compile(
    r"\bat (?:least|most)\b|\b(?:or|and) (?:more|less|fewer|later|earlier|over|under)\b"
)
_MOST_RECENT = re.compile(r"\b(?:most|least) (?=recent)")  # "most" orders nothing itself then
_OF_DATES = _words("latest newest recent recently earliest first last oldest")
_NEXT = _words("next after following follows followed below")
_LOOK_AFTER = re.compile(r"\blook(?:s|ed|ing)? after\b")
_PREVIOUS = _words("previous before prior preceding precedes preceded above")


class Superlative(NamedTuple):
    """A word that asks for the largest or smallest value.

    Attributes:
        word: the word, as `pruning.words` writes it.
        is_largest: it asks for the largest value.
        is_certain: it is not used for the other one too.
        is_of_dates: it is used of dates.
    """

    word: str
    is_largest: bool
    is_certain: bool
    is_of_dates: bool


def superlatives(question: str) -> list[Superlative]:
    """Finds the words of a question, in lower case, that ask for the largest or smallest value."""
    words, result = re.findall(r"[a-z]+", _MOST_RECENT.sub("", _AT.sub(" ", question))), []
    others = {word for word in words if _ENDING.fullmatch(word)}
    others -= {*_HIGH, *_LOW, *_NO_SUPERLATIVES}
    both = [(word, False) for word in sorted({*_BOTH, *others})]
    compared = " or " in question and not others and not any(w in _HIGH + _LOW for w in words)
    for is_largest, known, of_two in ((True, _HIGH, _HIGHER), (False, _LOW, _LOWER)):
        certain = [(word, word not in _BOTH) for word in known]
        for word, is_certain in [*certain, *both] + [(word, True) for word in of_two if compared]:
            if word in words:
                (said,) = pruning.words(word)
                made = Superlative(said, is_largest, is_certain, word in _OF_DATES)
                if made not in result:
                    result.append(made)
    return result


def is_only_of_values(word: str) -> bool:
    """Returns whether a superlative is said of numbers and not of dates, as "largest" is."""
    return word in _ONLY_OF_VALUES


def is_usual(word: str) -> bool:
    """Returns whether a superlative is known, so that it tells which end of an order is meant."""
    return word in (*_HIGH, *_LOW, *_BOTH)


def is_only_of_dates(word: str) -> bool:
    """Returns whether a superlative is said of dates and times only, as "latest" is."""
    return word in _ONLY_OF_DATES


def unresolved(value: SaidValue) -> str:
    """Returns the word that compares with a value in a way that is not known, as "slower than"."""
    if comparison(value)[0] != EQUAL:
        return ""
    match = _THAN.search(value.before)
    return match.group() if match else ""


def steps(question: str) -> list[tuple[int, str]]:
    """Finds the words that ask for the next row, 1, or the previous one, -1, and the step."""
    words = re.findall(r"[a-z]+", _LOOK_AFTER.sub(" ", question.lower()))
    return [
        (step, word) for step, known in ((1, _NEXT), (-1, _PREVIOUS)) for word in known
        if word in words
    ]  # fmt: skip


def comparison(value: SaidValue) -> tuple[tuple[int, ...], frozenset[str]]:
    """Returns which relations to a value the words around it ask for, and these words."""
    if _FROM.search(value.before) and (match := _ON.match(value.behind)):
        return LEAST, frozenset(pruning.words(match.group()))
    for text, patterns in ((value.behind, _BEHIND), (value.before, _BEFORE)):
        for bits, pattern in patterns:
            if match := pattern.search(text):
                return bits, frozenset(pruning.words(match["said"]))
    return EQUAL, frozenset()


def is_of_dates(words: frozenset[str]) -> bool:
    """Returns whether the words of a `comparison` are said of dates."""
    return bool(words & {"after", "before", "since", "later", "earlier", "until"})


def is_range(first: SaidValue, second: SaidValue) -> bool:
    """Returns whether a question asks for what is between two of its values."""
    between = second.before.removeprefix(f"{first.before} {first.text.lower()}").strip()
    return bool(_BETWEEN.search(first.before) and _TO.fullmatch(between))
