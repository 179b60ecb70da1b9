"""Finds out whether a question asks for what no program computes, and says so."""

import dataclasses
import itertools
import re
from collections.abc import Collection

from mate_tf.answers import asked, comparisons, expected
from mate_tf.answers.conditions import is_id, stem
from mate_tf.answers.execution import COUNT
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import NO, YES, Sheet
from mate_tf.tables import column_nouns, columns, pruning
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS

_OPERATIONS = {
    asked.MEDIAN: "medians are not computed",
    asked.DIFFERENCE: "differences are not computed",
    asked.RATIO: "ratios are not computed",
}
_SUPERLATIVE = r"(?:[a-z]+est|most|least|top|fewest)"
_PLACE = re.compile(
    rf"\b(?:second|third|fourth|fifth|\d+(?:nd|rd|th))[- ](?:{_SUPERLATIVE}|last|to last)\b|"
    r"\b(?:top|first|last|bottom) (?:\d+|two|three|four|five|ten)\b"
)
_OFTEN = re.compile(r"\b(?:most|least) (?:often|frequent(?:ly)?|common(?:ly)?|popular)\b")
_BY_NUMBER = re.compile(r"\bby (?:the )?(?:number|count|amount) of\b")
_WHICH = re.compile(r"^(?:which|what) (\w+)")
_TOGETHER = re.compile(r"\b(?:overall|altogether|combined|in total|all together|together)\b")
_OF_GROUPS = re.compile(rf"\b{_SUPERLATIVE} (?:total|average|overall|combined|summed|mean)\b")
_EACH = re.compile(r"\b(?:per|(?:for|by|of|in) each|each|for every|grouped by)(?: of the)? (\w+)")
_MOST_OF = re.compile(r"\b(?:most|fewest|least|highest number of|lowest number of) (\w+)")
_MOST_COME = re.compile(r"\bmost of the \w+ (?!in\b|with\b|than\b)\w+")
_THE_MOST = re.compile(r"\bthe (?:most|least)\W*$")
_SUMS = frozenset(pruning.words("most least order orders ordered"))
_PIECES = frozenset(
    pruning.words("qty quantity stock units pieces pcs available inventory sold count")
)
_RELATIVE = re.compile(
    r"(?<!the )\b(?:last|this|next|past) (?:year|month|week|quarter|season|night|spring|summer|"
    r"autumn|winter)\b|"
    r"\b(?:yesterday|today|tomorrow|ago)\b"
)
_KEY = r"(?:no\.? |nr\.? |number |id |# ?)?(?P<key>(?=[a-z-]*\d)[\w-]+)\b(?!%)"
_WHY = re.compile(r"(?:and )?why\b")
_WILL = re.compile(
    r"\bwill (?:[\w'’-]+ ){0,3}(?:be|have|take|cost|win|reach|need|get|last|earn|sell)\b|"
    r"\b(?:predict|forecast)\b|\bgoing to (?:be|fail|break|happen|win|cost|need|reach|rise|fall)\b"
)
_THAT = re.compile(r"\b(?:that|this) (?:other )?one\b")
_PROPER = re.compile(r"(?<=[\w,] )[A-Z][^\W\d_A-Z]{2,}")
_FLAGS = frozenset(word for key in YES | NO for word in key)
_MOST_WHAT = re.compile(r"\b(?:most|fewest|least) ([a-z]+)")
_LARGEST_WHAT = re.compile(
    r"\b(?:highest|largest|biggest|greatest|lowest|smallest|maximum|minimum) (?P<what>[a-z]+)"
)
_OF_ALL = frozenset(
    pruning.words(
        "highest lowest most least largest smallest biggest greatest fewest maximum max minimum "
        "min latest newest earliest recent recently first last top bottom leading peak "
        "more less higher lower larger smaller bigger greater fewer later earlier better worse"
    )
)
"""Superlatives that are said of columns of all kinds, while "heaviest" says what is measured."""

_PLACES = frozenset(pruning.words("rank pos position place score rating points grade"))
_NOTHING = frozenset(pruning.words("money people time times often in of on at for from by"))
_UN = re.compile(r"\bun(?P<word>[a-z]{3,})")


def problem(sheet: Sheet, meaning: Meaning) -> str:
    """Says in words what a question asks for that no program computes; "" if it is nothing.

    Args:
        sheet: the table.
        meaning: what the question may mean.
    """
    text = " ".join(meaning.question.lower().split())
    operation = asked.operation(text, sheet.names, sheet.columns)
    if operation in _OPERATIONS:
        return _OPERATIONS[operation]
    if _PLACE.search(text):
        return "of an order only the first or last value is found"
    if problem := unknowable(text):
        return problem
    if problem := _no_such_key(sheet, text):
        return problem
    groups = [*_EACH.findall(text), *_repeated(sheet, text), *_summed(sheet, meaning, text)]
    is_group = any(_names_groups(sheet, word) for word in groups)
    patterns = (_OFTEN, _OF_GROUPS, _BY_NUMBER, _MOST_COME)
    is_group |= _counts_rows(sheet, text) or _adds_up(sheet, text)
    if any(pattern.search(text) for pattern in patterns) or is_group:
        return "groups of rows are not compared"
    return ""


def _no_such_key(sheet: Sheet, text: str) -> str:
    """Says that no column of ids has the one of "lot 431"; "" if one does."""
    for column, name in enumerate(sheet.names):
        nouns = [word for word in pruning.words(name) if not is_id(word)]
        is_key = len(sheet.distinct[column]) == sheet.num_rows or is_id(name)
        match = re.search(rf"\b{re.escape(nouns[0])} {_KEY}", text) if nouns and is_key else None
        if match is None:
            continue
        said = {*pruning.words(match["key"])}
        if not any(said & {*key} for texts in sheet.distinct for key in texts):
            return f"{name!r} has no {match['key']!r}"
    return ""


def unknowable(text: str) -> str:
    """Says in words what a question, in lower case, asks for that no table tells; "" if nothing."""
    if _WHY.match(text):
        return "reasons are not known"
    if _WILL.search(text):
        return "what will be is not known"
    if match := _THAT.search(text):
        return f"what {match.group()!r} refers to is not known"
    if match := _RELATIVE.search(text):
        return f"{match.group()!r} is about today, which is not known"
    return ""


def _ordered_by(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Says that a program orders by another column than "the fewest appointments" means."""
    order, match = program.order, _MOST_WHAT.search(meaning.question.lower())
    if order is None or order.column is None:
        return ""
    superlatives = comparisons.superlatives(meaning.question.lower())
    if measured := [each.word for each in superlatives if each.word not in _OF_ALL]:
        word, name = measured[0], sheet.names[order.column]
        use = "highest" if order.is_largest else "lowest"
        is_known = word in column_nouns.words(name, use) or meaning.named(order.column)
        is_known = is_known or bool(_PLACES & {*pruning.words(name)})
        if not comparisons.is_usual(word) and word not in column_nouns.words(name, use):
            return f"what {word!r} orders by is not known"
        if not is_known and sheet.columns[order.column].kind is Kind.NUMBER:
            return f"what {word!r} orders by is not known"
    if match is None:
        return _measured(sheet, meaning, order.column)
    (word,) = pruning.words(match[1])
    if word in STOP_WORDS | _NOTHING or meaning.named(order.column) & {word}:
        return ""
    named = pruning.synonyms().get(word, frozenset()) | {word}
    if named & {*pruning.words(order.text)}:
        return ""
    return f"what {match.group()!r} orders by is not known"


def _measured(sheet: Sheet, meaning: Meaning, column: int) -> str:
    """Says that a column does not have what "the highest price" measures; "" if it may."""
    match = _LARGEST_WHAT.search(meaning.question.lower())
    if match is None:
        return ""
    (word, *_), own = pruning.words(match["what"]), {*pruning.words(sheet.names[column])}
    alike = pruning.synonyms().get(word, frozenset()) | {word}
    is_known = alike & own or word in column_nouns.words(sheet.names[column])
    is_known = is_known or (word in expected.MONEY_NAMES and expected.is_money(sheet, column))
    if is_known or word not in expected.MEASURES:
        return ""
    return f"what {match.group()!r} orders by is not known"


def _find_pieces(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Returns the column of pieces if "how many" is followed by a cell, as "how many chairs"."""
    said = asked.words_of_count(meaning.question)
    is_cell = any(said & words for words in meaning.texts_of(program).values())
    return column_of_pieces(sheet) if is_cell else ""


def column_of_pieces(sheet: Sheet) -> str:
    """Returns the name of a column of numbers of pieces, which rows do not tell; "" if none is."""
    pieces = (
        name
        for name, read in zip(sheet.names, sheet.columns, strict=True)
        if read.kind is Kind.NUMBER and _PIECES & {*pruning.words(name)}
    )
    return next(pieces, "")


def _ambiguous_amount(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Says that "over $200" may be about several columns, none of which is named."""
    said = {each.text: each for each in columns.said(meaning.question)}
    for each in program.conditions:
        if each.is_named or each.value not in said or sheet.columns[each.column].kind is Kind.DATE:
            continue
        names = [
            sheet.names[column]
            for column, read in enumerate(sheet.columns)
            if read.kind is sheet.columns[each.column].kind
            and columns.relation(said[each.value], read) is not None
            and not is_id(sheet.names[column])
        ]
        if len(names) > 1:
            return f"{each.value!r} may be meant of {' or '.join(map(repr, names))}"
    return ""


def _ambiguous_flag(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Says that "yes" or "no" may be a cell of several columns, none of which is named."""
    for each in program.conditions:
        if each.is_named or each.value or not each.said <= _FLAGS:
            continue
        columns_said = [
            sheet.names[column]
            for column, conditions in meaning.conditions.items()
            if any(other.said == each.said for other in conditions)
        ]
        if len(columns_said) > 1:
            (word, *_) = each.said
            return f"{word!r} may be meant of {' or '.join(map(repr, columns_said))}"
    return ""


def _unused_name(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Returns a word with a capital letter, as "Italian", that a program over all rows ignores."""
    if program.conditions or program.order is not None or program.step:
        return ""
    names = {stem(word) for name in sheet.names for word in pruning.words(name)}
    known = names | {*map(stem, STOP_WORDS | pruning.usual_words())}
    said = (match.group() for match in _PROPER.finditer(meaning.question))
    return next((w for w in said if not {*map(stem, pruning.words(w))} <= known), "")


def _denied_by_prefix(sheet: Sheet, meaning: Meaning) -> str:
    """Returns a word such as "unpaid" if the table has the word without its "un"."""
    known = {stem(word) for word in sheet.words}
    said = (match for match in _UN.finditer(meaning.question.lower()))
    lacking = (match.group() for match in said if stem(match["word"]) in known)
    return next((word for word in lacking if stem(word) not in known), "")


def _find_key(sheet: Sheet, program: Program) -> str:
    """Returns the cell if a program selects one row by a text that no other row has.

    "How many sick days did Ann take" does not ask for the number of rows about Ann then.
    """
    for each in program.conditions:
        is_one = each.rows.sum() == 1 and not each.value and " is " in each.text
        if is_one and len(sheet.distinct[each.column]) == sheet.num_rows > 1:
            return sheet.texts[each.column][int(each.rows.argmax())]
    return ""


def _compared(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Says that a value that a question compares with is not in a program, or in an unclear one."""
    # A part of a text, as the 7 of "7 Wonders", is not compared.
    whole = tuple(each for each in program.conditions if " has " not in each.text)
    text = str(dataclasses.replace(program, conditions=whole))
    said = columns.said(meaning.question)
    ranges = {
        each for pair in itertools.pairwise(said) for each in pair if comparisons.is_range(*pair)
    }
    for value in said:
        if word := comparisons.unresolved(value):
            return f'what "{word} {value.text}" compares is not known'
        bits, _ = comparisons.comparison(value)
        is_compared = bits != comparisons.EQUAL or isinstance(value.value, columns.Moment)
        is_compared |= value in ranges
        if is_compared and value.text not in text and _is_meant(sheet, value):
            return f"what is compared with {value.text!r} is not known"
    for each in program.conditions:
        if each.value and sheet.columns[each.column].kind is Kind.DATE:
            if meaning.is_date_named(each.column):
                continue
            others = [
                sheet.names[column]
                for column, conditions in meaning.conditions.items()
                if column != each.column and sheet.columns[column].kind is Kind.DATE
                if any(other.value == each.value for other in conditions)
            ]
            if others:
                names = " or ".join(map(repr, [sheet.names[each.column], *others]))
                return f"{each.value!r} may be meant of {names}"
    return ""


def _is_meant(sheet: Sheet, value: columns.SaidValue) -> bool:
    """Returns whether a value may be one of the table, not a part of its texts."""
    return value.text not in ("one", "two") and any(
        read.kind is not Kind.TEXT for read in sheet.columns
    )


def in_program(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Says in words what a program leaves out of what a question asks for; "" if it is nothing.

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: one of its programs.
    """
    if problem := in_conditions(sheet, meaning, program):
        return problem
    wanted = asked.operation(meaning.question, sheet.names, sheet.columns)
    if problem := _ordered_by(sheet, meaning, program):
        return problem
    if word := _unused_name(sheet, meaning, program):
        return f"what {word!r} says of the rows is not known"
    if wanted == COUNT and (key := _find_key(sheet, program)):
        return f"what is counted in one row, {key!r}, is not known"
    if wanted == COUNT and (name := _find_pieces(sheet, meaning, program)):
        return f"it may ask for {name!r}, not for a number of rows"
    if wanted == COUNT and program.order is not None and not program.step:
        return "how many rows have the largest or smallest value is not asked for"
    return ""


def in_conditions(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Says in words what the conditions of a program leave out or may not mean; "" if nothing.

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: one of its programs.
    """
    if meaning.is_denied(program):
        return 'what "not" or "no" leaves out is not known'
    if problem := _compared(sheet, meaning, program):
        return problem
    if problem := _ambiguous_amount(sheet, meaning, program):
        return problem
    if problem := _ambiguous_flag(sheet, meaning, program):
        return problem
    if word := _denied_by_prefix(sheet, meaning):
        return f"what {word!r} leaves out is not known"
    for each in program.conditions:
        read = sheet.columns[each.column]
        if each.value and read.other_units:
            others = ", ".join(sorted(set(read.other_units.values())))
            return (
                f"{sheet.names[each.column]}: cells in {others} are not compared with {read.unit}"
            )
    return ""


def _repeated(sheet: Sheet, text: str) -> list[str]:
    """Returns the words that name groups in "which city has the most orders", where rows count."""
    for match in _MOST_OF.finditer(text):
        named = _named(sheet, match[1])
        if named and (_TOGETHER.search(text) or not _has_amounts(sheet, named)):
            before = text[: match.start()]
            return [each for each in before.split() if each not in STOP_WORDS]
    return []


def _counts_rows(sheet: Sheet, text: str) -> bool:
    """Returns whether "the most tickets" counts rows, since the word only names their ids."""
    named = [_named(sheet, match[1]) for match in _MOST_OF.finditer(text)]
    return any(
        columns_named and all(is_id(sheet.names[column]) for column in columns_named)
        for columns_named in named
    )


def _adds_up(sheet: Sheet, text: str) -> bool:
    """Returns whether "which shop sold the most altogether" names groups whose sums it compares."""
    is_ordered = re.search(rf"\b{_SUPERLATIVE}\b", text)
    asked_for = _WHICH.match(text)
    return bool(
        is_ordered and asked_for and _TOGETHER.search(text) and _names_groups(sheet, asked_for[1])
    )


def _has_amounts(sheet: Sheet, named: Collection[int]) -> bool:
    """Returns whether one of some columns has amounts; ids and dates are none."""
    amounts = (Kind.NUMBER, Kind.DURATION)
    return any(
        sheet.columns[column].kind in amounts and not is_id(sheet.names[column]) for column in named
    )


def _summed(sheet: Sheet, meaning: Meaning, text: str) -> list[str]:
    """Returns the words that name groups in "which customer ordered the most", which names no sum.

    "Which employee earns the most" names one: a word for the highest value of a column.
    """
    if not _THE_MOST.search(text):
        return []
    numbers = [index for index, read in enumerate(sheet.columns) if read.kind is not Kind.TEXT]
    if any(meaning.named(index, "highest") - _SUMS - STOP_WORDS for index in numbers):
        return []
    return text.split()


def _names_groups(sheet: Sheet, word: str) -> bool:
    """Returns whether a word names a column of texts in which several rows have the same text."""
    return any(
        sheet.columns[column].kind is Kind.TEXT and len(sheet.distinct[column]) < sheet.num_rows
        for column in _named(sheet, word)
    )


def _named(sheet: Sheet, word: str) -> list[int]:
    said = set(pruning.words(word))
    return [index for index, name in enumerate(sheet.names) if said & set(pruning.words(name))]
