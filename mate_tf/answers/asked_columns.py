"""Finds out whether cells are in the column that is asked for, and says so if they are not.

"Who" asks for people, "how old" for an age, "how many litres" for the sum of a column.

Does not import TensorFlow.
"""

import re
from collections.abc import Collection

from mate_tf.answers import asked, expected
from mate_tf.answers.conditions import is_id
from mate_tf.answers.execution import SUM
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import column_nouns, pruning, units
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS

# Not "how long", which asks for a length as well as for a time.
_HOW = re.compile(r"how (?!many|much|long)([a-z]+)")
_ADJECTIVES = frozenset(("old", "tall", "deep", "heavy", "wide", "fast", "hot", "cold", "thick"))
_FAR = frozenset(pruning.words("distance length km mile miles range"))
_DAY = 86400.0
_HOW_MANY = re.compile(r"\bhow many (?P<word>[^\W\d_]{2,})")
_AMOUNTS = (Kind.NUMBER, Kind.DURATION)
_WHO = re.compile(r"who\b")


def problem(sheet: Sheet, meaning: Meaning, program: Program, column: int) -> str:
    """Says that cells are not whom "who" asks for, or ids where names are asked for; or "".

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: the one of its programs that selects the rows.
        column: the column of the cells.
    """
    if problem := _id_or_name(sheet, meaning, column):
        return problem
    words = {*pruning.words(meaning.question)}
    is_named = meaning.named(column) or column in expected.named(sheet, words - STOP_WORDS)
    if not _WHO.match(meaning.question.strip().lower()) or is_named:
        return ""
    used = {*program.columns}
    people = [n for n in range(len(sheet.names)) if n not in used and sheet.has_people(n)]
    names = " or ".join(repr(sheet.names[each]) for each in people)
    if people and column not in people:
        return f"'who' asks for {names}, but the cells are in {sheet.names[column]!r}"
    if not people and sheet.is_of_things(column):
        return f"whether {sheet.names[column]!r} is asked for is not known"
    if len(people) > 1 and not sheet.is_key(column):
        return f"'who' may be {names}"
    return ""


def _id_or_name(sheet: Sheet, meaning: Meaning, column: int) -> str:
    """Says that "heaviest animal" may ask for the name, not for the id; "" if only one is there."""
    words = {*pruning.words(meaning.question)}
    if not is_id(sheet.names[column]) or words & expected.IDS:
        return ""
    names = [name for name in sheet.names if pruning.words(name) == ["name"]]
    return f"{sheet.names[column]!r} or {names[0]!r} may be meant" if names else ""


def other_column(sheet: Sheet, question: str, selected: Collection[int]) -> str:
    """Says that cells are in another column than the one that "how old" names; "" if not.

    Args:
        sheet: the table.
        question: the question.
        selected: columns of the cells that a model selects for it.
    """
    asked_for = _HOW.match(question.strip().lower())
    if not asked_for or not selected:
        return ""
    word = set(pruning.words(asked_for[1]))
    known = (
        _FAR & set(pruning.words(name))
        if "far" in word
        else word & column_nouns.words(name, "lookup")
        for name in sheet.names
    )
    named = [index for index, words in enumerate(known) if words]
    if not named:
        is_known = asked_for[1] not in _ADJECTIVES
        return "" if is_known else f"no column has what {asked_for[0]!r} asks for"
    if set(named) & set(selected):
        return ""
    names = " or ".join(repr(sheet.names[index]) for index in named)
    said = " and ".join(repr(sheet.names[index]) for index in sorted(selected))
    return f"{asked_for[0]!r} asks for {names}, but the cells are in {said}"


def added_up(sheet: Sheet, meaning: Meaning, program: Program, column: int) -> str:
    """Says that the values of a column are not those that a question adds up; "" if they may be.

    They are if its words name the column, or no other column has numbers.
    """
    own = "|".join(map(re.escape, pruning.words(sheet.names[column])))
    if re.search(rf"\b(?:per|for each|for every) (?:{own})s?\b", meaning.question.lower()):
        return f"what is measured per {sheet.names[column]!r} is not known"
    numbers = [n for n, read in enumerate(sheet.columns) if read.kind in _AMOUNTS and n != column]
    found = expected.expected(sheet, meaning, program)
    named = expected.is_asked_for(sheet, meaning, program, column, has_keys=False)
    if not numbers or named or (found is not None and column in found.columns):
        return ""
    return f"whether {sheet.names[column]!r} is asked for is not known"


def count_of_values(sheet: Sheet, meaning: Meaning, program: Program, column: int) -> str:
    """Says that "how many gold medals in total" adds up the column "Gold", and "how many litres"
    does not count rows; "" if it counts them."""
    wanted = asked.operation(meaning.question, sheet.names, sheet.columns)
    nouns = (match["word"] for match in _HOW_MANY.finditer(meaning.question.lower()))
    words = pruning.words(" ".join(nouns))
    said = asked.words_of_count(meaning.question)
    numbers = [n for n, read in enumerate(sheet.columns) if read.kind in _AMOUNTS]
    is_named = any(
        expected.own_words(sheet, n) <= said
        for n in numbers
        if n not in program.columns and not sheet.is_key(n)
    )
    is_named = is_named and not is_id(sheet.names[column]) and wanted == asked.AMOUNT
    is_of_unit = any(_is_of_unit(sheet, word) for word in words)
    if wanted != SUM and not is_of_unit and not is_named:
        return ""
    return "whether rows or values are counted is not known"


def _is_of_unit(sheet: Sheet, word: str) -> bool:
    """Returns whether a word is a unit, and not what rows are about, as "days" may be."""
    unit = units.find(word)
    is_of_days = unit is not None and unit.kind == "duration" and unit.factor >= _DAY
    return (
        unit is not None
        and not is_of_days
        and not any((word,) in texts for texts in sheet.distinct)
    )


def counted(
    sheet: Sheet, meaning: Meaning, program: Program, column: int, is_repeated: bool
) -> str:
    """Says that the values of a column are not those that "how many different" counts; or "".

    "How many visits were in May" does not tell whether a visit that several rows name counts once.

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: the one of its programs that selects the rows.
        column: the column.
        is_repeated: several of the rows have the same value.
    """
    is_distinct = asked.DISTINCT.search(meaning.question.lower())
    if is_repeated and program.conditions and not is_distinct:
        return f"whether each {sheet.names[column]!r} counts once is not known"
    named = meaning.named(column) & asked.words_of_count(meaning.question)
    named = named or column in asked.counted(meaning.question, sheet.names)
    return "" if named else "what counts once is not known"
