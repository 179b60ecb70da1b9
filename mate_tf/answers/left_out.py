"""Finds out what a program leaves out of what a question asks for, or may not mean, and says so."""

import dataclasses
import itertools
import re

from mate_tf.answers import asked, comparisons, expected
from mate_tf.answers.conditions import is_id
from mate_tf.answers.execution import COUNT
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import NO, YES, Sheet
from mate_tf.tables import column_nouns, columns, pruning
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS
from mate_tf.tables.text import stem

_PIECES = frozenset(
    pruning.words("qty quantity stock units pieces pcs available inventory sold count")
)
_PROPER = re.compile(r"(?<=[\w,] )[A-Z][^\W\d_A-Z]{2,}")
_NOUN_OF_COUNT = re.compile(
    r"\b(?:how many|number of) [^,?]*?(?P<noun>\w{3,})(?:[?.]?$| (?:is|are|was|were|did|does|do|"
    r"has|have|had|went|go|came|come|in|at|of|from|by|with|on|for|that|which|who|to|over|under|"
    r"between|since|until|before|after)\b)"
)
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
_RECENT = frozenset(pruning.words("recent recently"))
_BUT_NOT = re.compile(r"\bbut (?:not|never|no|\w+n['’]t)\b")
_AS_WELL = re.compile(r"\b(?:ones? too|too\)|as well\)|or not\b)")
_UN = re.compile(r"\bun(?P<word>[a-z]{3,})")


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
    dates = [n for n, read in enumerate(sheet.columns) if read.kind is Kind.DATE]
    if word in _RECENT and (dates == [order.column] or meaning.is_date_named(order.column)):
        return ""
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
    if _counts_rows(sheet, meaning.question):
        return ""
    is_cell = any(said & words for words in meaning.texts_of(program).values())
    return column_of_pieces(sheet) if is_cell else ""


def _counts_rows(sheet: Sheet, question: str) -> bool:
    """Returns whether "how many red chairs" ends in a noun that names ids, as "orders" may."""
    match = _NOUN_OF_COUNT.search(question.lower())
    if match is None:
        return False
    (noun, *_) = pruning.words(match["noun"])
    ids = (name for column, name in enumerate(sheet.names) if sheet.is_key(column) or is_id(name))
    return any(noun in pruning.words(name) for name in ids)


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
        if _is_told(sheet, said[each.value], each.column):
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


def _is_told(sheet: Sheet, value: columns.SaidValue, column: int) -> bool:
    """Returns whether the word before a value says its column, as "week 3" or "episode 22" may.

    Cells are "Week 3" then, or the column's name is "Ep" and no other begins so.
    """
    before = value.before.lower().split()[-1:]
    key = tuple(pruning.words(" ".join([*before, value.text])))
    if len(key) > 1 and key in sheet.distinct[column]:
        return True
    names = [
        number
        for number, name in enumerate(sheet.names)
        if any(
            len(word) > 1 and each.startswith(word)
            for word in pruning.words(name)
            for each in before
        )
    ]
    return names == [column]


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


def _denied_by_prefix(sheet: Sheet, meaning: Meaning, program: Program) -> str:
    """Returns a word such as "unpaid" if the table has the word without its "un"."""
    known = {stem(word) for word in sheet.words}
    said = (match for match in _UN.finditer(meaning.question.lower()))
    lacking = (match.group() for match in said if stem(match["word"]) in known)
    known |= {*map(stem, program.said)}
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
    if _BUT_NOT.search(meaning.question.lower()) and len(program.conditions) < 2:
        return "what stands before 'but' is not known"
    if match := _AS_WELL.search(meaning.question.lower()):
        return f"what {match.group()!r} adds is not known"
    if problem := _compared(sheet, meaning, program):
        return problem
    if problem := _ambiguous_amount(sheet, meaning, program):
        return problem
    if problem := _ambiguous_flag(sheet, meaning, program):
        return problem
    if word := _denied_by_prefix(sheet, meaning, program):
        return f"what {word!r} leaves out is not known"
    for each in program.conditions:
        read = sheet.columns[each.column]
        if each.value and read.other_units:
            others = ", ".join(sorted(set(read.other_units.values())))
            return (
                f"{sheet.names[each.column]}: cells in {others} are not compared with {read.unit}"
            )
    return ""
