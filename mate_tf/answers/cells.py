"""Finds out whether cells are what a question asks for, and says so if they are not."""

import re
from collections.abc import Collection

from mate_tf.answers import asked, asked_columns, expected
from mate_tf.answers.execution import AVERAGE, COUNT, NONE, SUM
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import amounts, column_nouns, pruning
from mate_tf.tables.columns import Kind
from mate_tf.tables.pruning import STOP_WORDS
from mate_tf.tables.text import ALIKE, SHORT, stem

_FOR_WHAT = re.compile(r"what (?:is|was|were|did)\b.*\bfor\W*$")
_WON = re.compile(r"^(?:who|which|what) (?:\w+ )?won\b")
_COUNTED = re.compile(
    r"\b(?:how many|number of|count of) (?:of (?:the|our|these|those) )?(?:[\w'’-]+ )??"
    r"(?P<word>[\w'’]+s|people|children)\b(?!-)"
)
_KINDS_OF_PEOPLE = frozenset(
    pruning.words("girls boys females males ladies adults seniors juniors")
)
_SUBJECTS = frozenset(("who", "i", "he", "she", "we", "you", "they"))
_PUT_ASIDE = re.compile(r"\bput (?!in|into\b)")
_OF_WHOM = re.compile(r"\bhow many (?:[\w'’-]+ ){1,2}(?:did|does|do) ")
"""Asks for what somebody has or does, which need not be the rows."""

_CHOSEN = re.compile(r"\bwhich (?P<word>[\w'’-]+) ")
_TELLS = re.compile(r"(?:which|what|whose|when|where|who)\b")
_BEFORE_NOUN = r"\b(?:the|an?|our|my|your|their|its|of|in|by|for|with|per|from|to|at|on)"
_WHO = re.compile(r"^who (?P<word>[a-z]+)")
_NAME = re.compile(r"\bnames?\b")
_FEW = 3
_LISTED = re.compile(r"\b(?:all|list|every|each|names?)\b")
_SEVERAL = re.compile(r"\b(?:are|were|which|list|show|all|each|every|values)\b")
_NO_VERB = r"(?!(?:is|was|has|does)\b)"
_WHICH_ONES = re.compile(rf"(?:which|what) (?:{_NO_VERB}\w+ )?{_NO_VERB}\w+(?<![us'])s {_NO_VERB}")
"""Asks for several, as "which pupils" and "what red cars", not "which bus"."""
_CHOICE_OF = re.compile(r"\bor\b|\b(?:any|all|list|show|same)\b")
_YES_NO = re.compile(r"(?:is|are|was|were|does|do|did|has|have|had|can|could)\b")
_CHOICE = re.compile(r"\b(?:or|who|which|what|when|where|how)\b")
_AMOUNTS = (Kind.NUMBER, Kind.DURATION)
_OPERATORS = {
    SUM: frozenset(pruning.words("sum summed add added adding up total altogether combined")),
    AVERAGE: frozenset(pruning.words("average avg mean averge avrage per")),
    COUNT: asked.OF_ROWS,
}
"""Words that say an operation, misspelt ones too."""

_WEAK = frozenset(
    pruning.words(
        "put fill filled run ran work worked sit sitting sat say says weigh learn learning teach "
        "teaching own owned hold held look looked find found use using used write wrote written "
        "drive drove driven wear spend spent back stuff thing things"
    )
)
"""Words that say little of rows that others name, if neither columns nor cells have them."""

_READINGS = frozenset(pruning.words("reading readings value values figure figures mark marks"))
"""Words for a number that its column need not have, as in "odometer reading"."""

_SMALL = frozenset(
    pruning.words(
        "everything everyone however know marked work go leave right i you he she we it they my "
        "your our his her its their me us them one ones s t re ll ve d m am is was are were be "
        "been being does did has had having will would can could should may might must shall don "
        "doesn didn isn aren wasn weren haven hasn hadn couldn this there here any each every "
        "other another same some such both either very just only even take taken took part do "
        "done doing give gave need going through keep kept carry sent look hit also too so yet "
        "still already ever please pls thanks hi hey ok tell find show list name what whats when "
        "where why because since if then but or and about across along per via within between "
        "among during until till out up down in into over under off away together all alltogether "
        "single overall whole entire exactly inclusive respectively called named known given "
        "recorded listed noted file data sheet table id ids included including everybody anyone "
        "anybody told us"
    )
)
"""Words that say nothing about a table, besides `STOP_WORDS` and `usual_words`."""


def problem(
    sheet: Sheet,
    meaning: Meaning,
    program: Program,
    rows: Collection[int],
    column: int,
    operation: str,
    num_distinct_of: int | None,
) -> str:
    """Says in words why an answer is not what a question asks for; "" if it may be.

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: the one of its programs that selects the rows.
        rows, column: the cells of the answer.
        operation: "NONE", "SUM", "AVERAGE" or "COUNT" of them.
        num_distinct_of: number of rows of which each value counts once; None: all rows count.
    """
    text = " ".join(meaning.question.lower().split())
    if is_yes_no(text):
        is_said = operation == NONE and len(rows) == 1 and sheet.has_flags(column)
        is_said = is_said and meaning.named(column) and program.conditions
        return "" if is_said else "yes and no are not answered"
    if operation == NONE:
        misread = asked_columns.other_column(sheet, meaning.question, {column})
        found = misread or elsewhere(sheet, meaning, program, rows, column)
    elif num_distinct_of is not None:
        found = asked_columns.counted(sheet, meaning, program, column, len(rows) != num_distinct_of)
    else:
        counts = operation == COUNT
        find = asked_columns.count_of_values if counts else asked_columns.added_up
        found = find(sheet, meaning, program, column)
    if found:
        return found
    unused = ", ".join(map(repr, left_over(sheet, meaning, program, rows, column, operation)))
    return f"the answer does not depend on {unused}" if unused else ""


def is_yes_no(text: str) -> bool:
    """Returns whether a question, in lower case, is answered by yes or no."""
    return bool(_YES_NO.match(text)) and not _CHOICE.search(text)


def asks_for_several(question: str) -> bool:
    """Returns whether a question asks for a list, as "which pupils" does."""
    return bool(_WHICH_ONES.match(question.strip().lower()))


def left_over(
    sheet: Sheet,
    meaning: Meaning,
    program: Program,
    rows: Collection[int],
    column: int,
    operation: str,
    said: Collection[str] = (),
    columns: Collection[int] = (),
) -> list[str]:
    """Returns the words of a question that neither rows, column nor operation of an answer explain.

    With them the question means something else than the answer: "who bought V-1003" is not the
    make of this van. What names a column that tells rows apart says what these are.

    Args:
        sheet, meaning, program, rows, column, operation: as for `problem`.
        said: more words that explain it.
        columns: more columns that it is about.
    """
    used = {column, *program.columns, *columns}
    names = [sheet.names[each] for each in used]
    own = {word for name in names for word in pruning.words(name)}
    keys = {n for n in range(len(sheet.names)) if sheet.is_key(n)}
    said = {*said, *program.said, *sheet.title_words, *_OPERATORS.get(operation, ())}
    said = said.union(STOP_WORDS, *(meaning.named(each) for each in used | keys))
    if not program.said and len(rows) <= _FEW:  # the words of the rows tell why the model took them
        said = said.union(*(pruning.words(each[row]) for row in rows for each in sheet.texts))
    said |= unimportant(sheet, meaning.question, program, column, operation)
    said |= _before_keys(sheet, meaning.question, program)
    # "Which bill" has the number R-17.
    if operation != COUNT and sheet.is_key(column) and sheet.has_codes(column):
        said |= _word(_CHOSEN, meaning.question)
    begins = {stem(word)[:ALIKE] for word in own | sheet.title_words}  # "donated": donations.csv
    short = tuple(word for word in own if len(word) > SHORT)  # "dept"
    of_columns = {stem(word) for name in sheet.names for word in pruning.words(name)}
    usual = {
        word
        for word in pruning.usual_words()
        if stem(word) not in of_columns and word not in sheet.words
    }
    if program.order is None and not column_nouns.answers(sheet.names[column], {"who"}):
        usual -= _word(_WHO, meaning.question)  # "who bought it" asks for a buyer
    unused = [
        word
        for word in dict.fromkeys(pruning.words(meaning.question))
        if word not in said | usual
        and (len(word) > 1 or word.isdigit())
        and stem(word)[:ALIKE] not in begins
        and not word.startswith(short)
        and own.isdisjoint(pruning.synonyms().get(word, ()))
        and not any(column_nouns.answers(name, {word}) for name in names)
    ]
    if (
        operation == NONE
        and len(unused) == 1
        and _is_verb(sheet, meaning, program, column, *unused)
    ):
        return []
    return unused


def _is_verb(sheet: Sheet, meaning: Meaning, program: Program, column: int, word: str) -> bool:
    """Returns whether a word only says what happens, as "treat" in "which patients does she treat".

    So it does where "which patients" or "when" tells the only column that may be meant, or where a
    column of the one row with an id is named.
    """
    found = expected.expected(sheet, meaning, program)
    is_told = found is not None and found.columns == {column} and _TELLS.match(found.words)
    is_named = any(
        stem(word) == stem(other) for name in sheet.names for other in pruning.words(name)
    )
    own = sheet.spoken_words(column) <= {*pruning.words(meaning.question)}
    is_told = is_told or (own and _is_of_key(sheet, program) and not is_named)
    is_ordered = program.order is not None and not meaning.orders_dates
    # "The address", and "the delivery address", which is not the delivery.
    names = "|".join(map(re.escape, pruning.words(sheet.names[column])))
    before = rf"{_BEFORE_NOUN}(?: (?:{names}))*"
    is_noun = re.search(rf"{before} {re.escape(word)}", meaning.question.lower())
    return bool(is_told) and not is_ordered and not is_noun and word not in sheet.words


def _is_of_key(sheet: Sheet, program: Program) -> bool:
    """Returns whether a condition selects one row by what tells rows apart."""
    return any(
        sheet.is_key(each.column) and each.rows.sum() == 1 and " is " in each.text
        for each in program.conditions
    )


def _before_keys(sheet: Sheet, question: str, program: Program) -> frozenset[str]:
    """Returns the nouns before ids, as "parcel" in "parcel PX70213", which say what rows are."""
    words, nouns = pruning.words(question), set()
    for each in program.conditions:
        is_id_said = sheet.is_key(each.column) and sheet.has_codes(each.column)
        if is_id_said and each.rows.sum() == 1 and " is " in each.text:
            first = min((words.index(word) for word in each.said if word in words), default=0)
            before = words[max(0, first - 2) : first]
            is_verb = before[-1:] and (before[-1].endswith("ed") or before[0] in _SUBJECTS)
            nouns.update(() if is_verb else before[-1:])
    return frozenset(nouns)


def unimportant(
    sheet: Sheet, question: str, program: Program, column: int, operation: str
) -> frozenset[str]:
    """Returns words of a question that a table need not have.

    They are small ones, the unit of the answer's column, verbs such as "use" and words such as
    "reading" that neither columns nor cells have, and what is counted; but if all rows are counted,
    "how many wins" has to name them.
    """
    is_count = operation == COUNT and program.conditions
    is_count = is_count and not _OF_WHOM.search(question.lower())
    counted = _word(_COUNTED, question) - _KINDS_OF_PEOPLE
    said = {*pruning.words(question)}
    units = {word for word in said if expected.is_unit_of(word, sheet.columns[column])}
    weak = _WEAK if program.conditions or program.order is not None else frozenset()
    weak -= frozenset(["put"]) if _PUT_ASIDE.search(question.lower()) else frozenset()
    if sheet.columns[column].kind is Kind.NUMBER:
        weak |= _READINGS
    return _SMALL.union(units, weak - sheet.words, counted if is_count else ())


def _word(pattern: re.Pattern, question: str) -> set[str]:
    """Returns the word behind "how many" or "which", as "cars" in "how many red cars"."""
    match = pattern.search(question.lower())
    return {*pruning.words(match["word"])} if match else set()


def elsewhere(
    sheet: Sheet, meaning: Meaning, program: Program, rows: Collection[int], column: int
) -> str:
    """Says that cells are not what a question asks for; "" if they may be.

    They are in another column than its words name, or it says them itself.

    Args:
        sheet: the table.
        meaning: what the question may mean.
        program: the one of its programs that selects the rows.
        rows: rows of the cells.
        column: their column.
    """
    found = expected.expected(sheet, meaning, program)
    if found is not None and column not in found.columns:
        if not found.columns:
            return f"no column has what {found.words!r} asks for"
        names = " or ".join(repr(sheet.names[index]) for index in sorted(found.columns))
        return f"{found.words!r} asks for {names}, but the cells are in {sheet.names[column]!r}"
    if found is not None and (
        other := expected.find_same_name(sheet, found, column, meaning.question)
    ):
        return f"{sheet.names[column]!r} or {other!r} may be meant"
    if _NAME.search(meaning.question.lower()) and sheet.has_codes(column):
        own = {*pruning.words(sheet.names[column])}
        if "name" not in own and not {*pruning.words(meaning.question)} & own - {"name"}:
            return f"{sheet.names[column]!r} has codes, not names"
    if problem := asked_columns.problem(sheet, meaning, program, column):
        return problem
    if len(rows) and all(amounts.is_missing(sheet.texts[column][row]) for row in rows):
        return f"{sheet.names[column]!r} has no value there"
    if len(rows) > 1 and sheet.has_flags(column):
        return f"what yes and no in {sheet.names[column]!r} list is not known"
    if _FOR_WHAT.match(meaning.question.lower()) and sheet.columns[column].kind is Kind.DATE:
        return f"whether {sheet.names[column]!r} is asked for is not known"
    if problem := _several_or_other(sheet, meaning, program, len(rows), column):
        return problem
    won = _WON.match(meaning.question.lower())
    if won and len(rows) != 1 and program.order is None:
        return "who won is not known"
    takes_all = not program.conditions and program.order is None and not program.step
    is_many = len(rows) >= sheet.rows.sum() > _FEW
    is_list = _LISTED.search(meaning.question.lower()) and not meaning.unsaid()
    if takes_all and is_many and not is_list:
        return "which of the rows are meant is not known"
    said = meaning.said_in(column)
    texts = {tuple(pruning.words(sheet.texts[column][row])) for row in rows}
    is_choice = _CHOICE_OF.search(meaning.question.lower())
    values = {each.column for each in program.conditions if each.value and " is " in each.text}
    if column in values and len(rows) == 1 and not is_choice:
        return "the question says the cells that were found itself"
    if said and not is_choice and all(text and {*text} <= said for text in texts):
        return "the question says the cells that were found itself"
    return ""


def _several_or_other(sheet, meaning, program, num_rows: int, column: int) -> str:
    """Says that cells are of a column that no word asks for, or several numbers and not one."""
    if not program.conditions:
        return ""
    name = sheet.names[column]
    if not program.step and program.order is None and meaning.orders:
        return "what is largest or first is not known"
    if not expected.is_asked_for(sheet, meaning, program, column):
        found = expected.expected(sheet, meaning, program)
        if found is None or column not in found.columns:
            return f"whether {name!r} is asked for is not known"
    is_number = sheet.columns[column].kind is Kind.NUMBER and num_rows > 1
    text = meaning.question.lower()
    plural = {word for word in re.findall(r"[a-z]+", text) if word.endswith("s")}
    plural -= {*re.findall(r"[a-z]+", name.lower())}  # "maths"
    is_plural = any({*pruning.words(word)} & {*pruning.words(name)} for word in plural)
    if is_number and program.order is None and not is_plural and not _SEVERAL.search(text):
        return f"which of the {num_rows} values of {name!r} is meant is not known"
    return ""
