"""The columns in which a question looks for its answer, by its words.

"When" asks for a date, "how much did it cost" for an amount of money, "which branch" and "the
budget of" for the columns with these names. Does not import TensorFlow.
"""

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import column_nouns, pruning, units
from mate_tf.tables.columns import Column, Kind, has_unit
from mate_tf.tables.pruning import STOP_WORDS
from mate_tf.tables.text import ALIKE, SHORT, stem

IDS = frozenset(pruning.words("id ids no nr number num code key index"))
_GENERAL = IDS | frozenset(pruning.words("name title value type"))
"""Words that are left out of "project name" when a question says "which project"."""

_NAMES = frozenset(pruning.words("name full"))
_LONGEST_SYMBOL = 3
"""Letters of symbols of units, which may be other words too, as "in" and "min"."""

_BRACKETS = re.compile(r"[(\[{].*?[)\]}]|[%$€£]")
_ASKED = re.compile(
    r"\b(?:which|what|whose|list)(?:['’]s| (?:is|was|are|were|all|of))*(?: the| an?)?"
    r"(?P<words>(?: [\w'’-]+){1,4})"
)
_OF_ROW = re.compile(
    r"what(?:['’]?s| is| was| are| were) the (?P<noun>[\w'’-]+) (?:of|for|on|in|at)\b"
)
_EXTREME = re.compile(
    r"(?:what(?:['’]?s| is| was) )?(?:the |our )?(?:[a-z]{3,}est|most|least) (?P<noun>[\w'’-]+)"
)
"""Begins with what is largest or smallest, as "coldest temperature"."""
_IN_BRACKETS = re.compile(r"\((?:just |only )?(?:the |its |their )?(?P<words>\w+(?: \w+)?)\)\W*$")
"""Ends a question with the column, as in "the longest film? (title)"."""
_ABOUT = re.compile(r"what(?:['’]?s| is| was| did| does| do)\b")
"""Begins a question about a row that it names, not for the rows."""

_OF_VALUES = frozenset(
    pruning.words("total sum average mean count difference result answer rest last first next only")
)
_UNITS = re.compile(r"[%$€£]|\b(?:per ?cent|percentage|dollars?|euros?|pounds?|usd|eur|gbp)\b")
_ENDS = re.compile(
    r" (?:of|for|on|in|at|by|with|from|to|did|does|do|is|was|are|were|has|have|had|will|can|that|"
    r"who)\b"
)
"""Ends the noun behind "which"."""

_MONEY = re.compile(r"\b(?:costs?|pay|paid|price[ds]?|money|spen[dt]|charged?|earns?|earned)\b")
MONEY_NAMES = frozenset(
    pruning.words(
        "price cost fee pay paid amount total spent charge rent fare salary wage budget revenue "
        "income earnings payment expense sales value worth usd eur gbp chf dollars euros"
    )
)
_TIME_NAMES = frozenset(
    pruning.words(
        "date year month day time week quarter season period born birth founded built opened "
        "released since until due start started end ended begin began created updated published "
        "deadline"
    )
)
_LONG_NAMES = frozenset(
    pruning.words(
        "length duration distance runtime time hours minutes min mins seconds days weeks months "
        "years km miles m cm mm meters metres feet ft long span term period age tenure"
    )
)

MEASURES = (
    MONEY_NAMES | _LONG_NAMES | frozenset(pruning.words("temperature age weight height score"))
)
"""Words that say what is measured."""


class Expected(NamedTuple):
    """The columns in which a question looks for its answer.

    Attributes:
        words: words of the question that tell it.
        columns: the columns; none if the table has none of this kind.
    """

    words: str
    columns: frozenset[int]


def expected(sheet: Sheet, meaning: Meaning, program: Program) -> Expected | None:
    """Returns the columns of the cells that a question asks for, or None if its words do not tell.

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: the one of its programs that selects the rows.
    """
    text = " ".join(meaning.question.lower().split())
    by_kind, by_name = _by_kind(sheet, text), _by_name(sheet, meaning, program, text)
    if by_kind is not None and by_kind.words == "who":
        keys = {n for n in by_kind.columns if sheet.is_key(n) and sheet.has_people(n)}
        keys -= {*program.columns}
        by_kind = by_kind._replace(columns=frozenset(keys)) if keys else by_kind
    if by_kind is None or by_name is None:
        return by_kind or by_name
    both = by_kind.columns & by_name.columns
    return by_name._replace(columns=both) if both else by_kind


def is_asked_for(
    sheet: Sheet, meaning: Meaning, program: Program, column: int, has_keys: bool = True
) -> bool:
    """Returns whether the words of a question may ask for the cells of a column.

    They name it, or it tells what the rows are about, as "which" asks for it (`has_keys`).
    """
    words = {*pruning.words(meaning.question)}
    own = own_words(sheet, column)
    is_about = program.order is None and _ABOUT.match(meaning.question.lower())
    return bool(
        (has_keys and sheet.is_key(column) and not is_about)
        or meaning.named(column)
        or column in named(sheet, words - STOP_WORDS)
        or any(own & pruning.synonyms().get(word, frozenset()) for word in words)
        or column_nouns.answers(sheet.names[column], words)
        or column in _with_unit(sheet, words)
        or ("where" in words and _is_person(sheet, column))
    )


def _with_unit(sheet: Sheet, words: Collection[str]) -> list[int]:
    """Returns the column whose unit words say, as "euros"; none if several have it."""
    found = [
        n for n, read in enumerate(sheet.columns) if any(is_unit_of(word, read) for word in words)
    ]
    return found if len(found) == 1 else []


def is_unit_of(word: str, column: Column) -> bool:
    """Returns whether a word is the name of the unit of a column's numbers, as "litre" of "l"."""
    return len(word) > _LONGEST_SYMBOL and has_unit(column, word)


def mask(sheet: Sheet, meaning: Meaning, program: Program) -> np.ndarray | None:
    """Returns the columns of `expected` as <bool>[columns]; None if any column may be asked for."""
    found = expected(sheet, meaning, program)
    if found is None or not found.columns:
        return None
    return np.isin(np.arange(len(sheet.names)), [*found.columns])


def _by_kind(sheet: Sheet, text: str) -> Expected | None:
    for pattern, is_kind in _KINDS:
        if match := pattern.search(text):
            columns = frozenset(
                column for column in range(len(sheet.names)) if is_kind(sheet, column)
            )
            return Expected(match.group(), columns)
    return None


def _names(sheet: Sheet, column: int) -> set[str]:
    return set(pruning.words(sheet.names[column]))


def _is_moment(sheet: Sheet, column: int) -> bool:
    kind = sheet.columns[column].kind
    is_named = kind is not Kind.DURATION and bool(_TIME_NAMES & _names(sheet, column))
    is_named = is_named and not sheet.has_flags(column)  # "first time: yes"
    return kind in (Kind.DATE, Kind.TIME) or sheet.has_dates(column) or is_named


def _is_length(sheet: Sheet, column: int) -> bool:
    kind, is_named = sheet.columns[column].kind, bool(_LONG_NAMES & _names(sheet, column))
    return kind is Kind.DURATION or (is_named and kind not in (Kind.DATE, Kind.TIME))


def is_money(sheet: Sheet, column: int) -> bool:
    """Returns whether a column has amounts of money, by its unit or name."""
    read = sheet.columns[column]
    is_named = bool(MONEY_NAMES & _names(sheet, column))
    return read.unit.lower() in units.CURRENCIES or (is_named and read.kind is Kind.NUMBER)


def _is_amount(sheet: Sheet, column: int) -> bool:
    return sheet.columns[column].kind in (Kind.NUMBER, Kind.DURATION)


def _is_person(sheet: Sheet, column: int) -> bool:
    return sheet.columns[column].kind is Kind.TEXT and not sheet.has_codes(column)


_KINDS: tuple[tuple[re.Pattern, Callable[[Sheet, int], bool]], ...] = (
    (re.compile(r"^when\b|^(?:(?:on |in )?(?:what|which) |the )?(?:date|day)\b"), _is_moment),
    (re.compile(r"^how long\b"), _is_length),
    (re.compile(rf"^how much (?:.*?){_MONEY.pattern}"), is_money),
    (re.compile(r"^how (?:much|many)\b"), _is_amount),
    (re.compile(r"^who\b"), _is_person),
)


def _by_name(sheet: Sheet, meaning: Meaning, program: Program, text: str) -> Expected | None:
    """Returns the columns that the words behind "which" name, or else the rest of the question."""
    order, match = program.order, _EXTREME.match(text)
    if order is not None and order.column is not None and match is not None:
        short = tuple(word for word in own_words(sheet, order.column) if len(word) > SHORT)
        noun = {*pruning.words(match["noun"])}
        if noun & meaning.named(order.column) or match["noun"].startswith(short):
            return Expected(match.group(), frozenset([order.column]))
    if match := _IN_BRACKETS.search(text):
        columns = named(sheet, frozenset(pruning.words(match["words"])) - STOP_WORDS)
        if len(columns) == 1:
            return Expected(match["words"], columns)
    said = meaning.texts_of(program)
    used = {each.column for each in program.conditions if each.column in said}
    for match in _ASKED.finditer(text):
        words = _ENDS.split(match["words"])[0]
        asked = frozenset(pruning.words(words)) - STOP_WORDS
        if columns := named(sheet, asked) - used:
            columns = _without_ids(sheet, columns, text)
            return Expected(match.group().strip(), _names_of(sheet, columns, text))
        break
    if (match := _OF_ROW.match(text)) and _is_lacking(sheet, match["noun"]):
        return Expected(match.group(), frozenset())
    values = frozenset().union(*said.values())
    free = frozenset(pruning.words(text)) - STOP_WORDS - values
    used = {*program.columns}
    columns = named(sheet, free) - used
    if not program.conditions or program.order is not None or not columns:
        return None
    stems = {stem(word) for column in columns for word in own_words(sheet, column)}
    words = {word for word in free if stem(word) in stems}
    return Expected(" ".join(sorted(words)), _without_ids(sheet, columns, text))


def _is_lacking(sheet: Sheet, noun: str) -> bool:
    """Returns whether neither a column nor a cell has a noun, nor a word that means the same."""
    (word, *_) = pruning.words(noun)
    alike = {word, stem(word), *pruning.synonyms().get(word, ())}
    if word in _GENERAL | _TIME_NAMES | MONEY_NAMES | _LONG_NAMES | STOP_WORDS | _OF_VALUES:
        return False
    for column, name in enumerate(sheet.names):
        own = {*pruning.words(name), *column_nouns.words(name)}
        if alike & (own | {*map(stem, own)}) or any(word in key for key in sheet.distinct[column]):
            return False
    return True


def own_words(sheet: Sheet, column: int) -> frozenset[str]:
    """Returns the words of a column's name without units, nor "name" if there are others."""
    name = sheet.names[column]
    known = frozenset(pruning.words(_BRACKETS.sub(" ", name)) or pruning.words(name)) - STOP_WORDS
    return (known - _GENERAL) or known


def named(sheet: Sheet, words: Collection[str]) -> frozenset[int]:
    """Returns the columns that words name: all words of the name, or one that no other column has.

    Of several columns those are left out whose words another one has among more: "unit price" is
    not the column "Unit".
    """
    own = [own_words(sheet, column) for column in range(len(sheet.names))]
    known = frozenset().union(*own)
    # "Renews" names "Next renewal", and "submission" names "Submitted on".
    stems = {stem(word)[:ALIKE] for word in {*words} - known}
    said = {word for word in known if word in words or stem(word)[:ALIKE] in stems}
    shared = [each & said for each in own]
    best = [
        column
        for column, each in enumerate(own)
        if shared[column]
        and (
            shared[column] == each
            or any(sum(word in other for other in own) == 1 for word in shared[column])
        )
    ]
    return frozenset(
        column for column in best if not any(shared[column] < shared[other] for other in best)
    )


def _without_ids(sheet: Sheet, columns: frozenset[int], text: str) -> frozenset[int]:
    """Leaves out "project id" for "which project" if the table has "project name" too."""
    if IDS & {*pruning.words(text)}:
        return columns
    others = frozenset(column for column in columns if not IDS & _names(sheet, column))
    return others or columns


def _names_of(sheet: Sheet, columns: frozenset[int], text: str) -> frozenset[int]:
    """Returns the column of names for "which members" if the table has only ids of members."""
    if IDS & {*pruning.words(text)} or not all(IDS & _names(sheet, each) for each in columns):
        return columns
    names = (n for n in range(len(sheet.names)) if {"name"} <= _names(sheet, n) <= _NAMES)
    return frozenset(names) or columns


def find_same_name(sheet: Sheet, found: Expected, column: int, question: str) -> str:
    """Returns the name of another column that is named as well, as "Change (%)" is by "change".

    "" if there is none, or the question says a unit.
    """
    is_name = question.lower().startswith("who") and "name" in _names(sheet, column)
    if is_name or _UNITS.search(question.lower()):
        return ""
    own = own_words(sheet, column)
    others = (
        sheet.names[each]
        for each in sorted(found.columns - {column})
        if own_words(sheet, each) == own and sheet.names[each] != sheet.names[column]
    )
    return next(others, "")
