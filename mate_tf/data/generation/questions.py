"""Generates questions about a table with their answers, for intermediate pre-training.

The answer is a set of cells with an operation over them, found by executing the question on the
table. Only columns that can be mentioned without doubt are used (`mentioned.Sheet`).

```
rng = random.Random(0)
questions(table, rng, 2)
# (GeneratedQuestion("lookup", "who is the Mayor of Bern?", ((0, 1),), "NONE"), ...)
```
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from mate_tf.data.generation import wordings as wordings
from mate_tf.data.generation.mentionable_columns import LONGEST_CELL, is_name
from mate_tf.data.generation.subject import Subject, is_rank, is_time, is_year
from mate_tf.tables.column_nouns import wordings as noun_wordings
from mate_tf.tables.table import Table
from mate_tf.tables.text import format_text

NONE, SUM, AVERAGE, COUNT = "NONE", "SUM", "AVERAGE", "COUNT"

_TRIES = 12
_MOST_CELLS = 8  # cells of an answer that is not a sum, average or count


class GeneratedQuestion(NamedTuple):
    """A question with its answer.

    Attributes:
        kind: one of `KINDS`.
        text: the question.
        coordinates: (row, column) of the answer's cells from 0, sorted.
        aggregation: "NONE", "SUM", "AVERAGE" or "COUNT" of these cells.
    """

    kind: str
    text: str
    coordinates: tuple[tuple[int, int], ...]
    aggregation: str = NONE


def questions(table: Table, rng: random.Random, count: int) -> Iterator[GeneratedQuestion]:
    """Generates distinct questions about a table.

    A very small table may give few or none.
    """
    subject, seen = Subject(table, rng), set()
    if not subject.sheet.columns or subject.sheet.num_rows < 2:
        return
    for _ in range(count):
        for _ in range(_TRIES):
            (kind,) = rng.choices(KINDS, _WEIGHTS)
            made = _MAKERS[kind][1](subject)
            if made is None or made[0] in seen:
                continue
            text, rows, column, *aggregation = made
            seen.add(text)
            cells = tuple((row, column.index) for row in sorted(rows))
            yield GeneratedQuestion(kind, text, cells, *aggregation)
            break


def _lookup(made: Subject):
    """Asks for the cell in the row of a name."""
    if made.key is None or not made.others:
        return None
    column, row = made.rng.choice(made.others), made.row_with_name(made.key)
    if row is None or not is_name(column.keys[row]):
        return None
    noun = made.noun(column)
    special = list(noun_wordings(format_text(noun), "lookup"))
    # "where" and "when" may mean several columns.
    said = {format_text(other.name) for other in made.others if other is not column}
    if any(special == list(noun_wordings(other, "lookup")) for other in said):
        special = []
    if wordings.is_person(noun):
        special += [
            "who is the {c} of {name}?",
            "who was the {c} of {name}?",
            "who is {c}, {name}?",
        ]
    if column.values and not is_time(column) and not is_rank(column):
        special += [
            "how many {cs} does {name} have?",
            "how many {c} did {name} have?",
            "how many {c} for {name}?",
        ]
    name = made.name(made.key, row)
    text = made.say(wordings.LOOKUP, special, c=noun, cs=wordings.plural(noun), name=name)
    return text, [row], column


def _other_lookup(made: Subject):
    """Asks for a cell by a cell of a column that does not name the rows."""
    if len(made.others) < 2:
        return None
    column, other = made.rng.sample(made.others, 2)
    row = made.row_with_name(other)
    if row is None or not is_name(column.keys[row]):
        return None
    text = made.say(
        wordings.CONDITION, c=made.noun(column), other=made.noun(other), value=made.name(other, row)
    )
    return text, [row], column


def _equal(made: Subject):
    """Draws a column and the rows with one of its texts."""
    if made.key is None or not made.others:
        return None
    column, row = made.rng.choice(made.others), made.rng.choice(made.rows)
    rows = made.equal(column, row)
    if rows is None or not is_name(column.keys[row]) or len(column.cells[row]) > LONGEST_CELL:
        return None
    return column, row, rows


def _filter(made: Subject):
    """Asks for the names of the rows with a text."""
    result = _equal(made)
    if result is None or len(result[2]) > _MOST_CELLS:
        return None
    column, row, rows = result
    special = ()
    if column.values and is_time(column):
        special = wordings.FILTER_DATE
    elif wordings.is_place(made.noun(column)):
        special = wordings.FILTER_PLACE
    text = made.say(wordings.FILTER, special, c=made.noun(column), value=made.name(column, row))
    return text, rows, made.key


def _superlative(made: Subject):
    """Asks for the name of the row with the largest or smallest value, or for the value."""
    if made.key is None or not made.ordered:
        return None
    column = made.rng.choice(made.ordered)
    when, rows, other = made.condition()
    if other is column:
        return None
    largest = made.rng.random() < 0.55
    best = (max if largest else min)(column.values[row] for row in rows)
    result = [row for row in rows if column.values[row] == best]
    if len(result) > 2 or len(result) == len(rows):
        return None
    noun, time = made.noun(column), is_time(column)
    if made.rng.random() < 0.25:
        if time:
            choices = wordings.TOP_DATE if largest else wordings.BOTTOM_DATE
        else:
            choices = wordings.TOP if largest else wordings.BOTTOM
        return made.say(choices, c=noun, when=when), result, column
    if time:
        choices = wordings.LATEST if largest else wordings.EARLIEST
    else:
        choices = wordings.HIGHEST if largest else wordings.LOWEST
    special = noun_wordings(format_text(noun), "highest" if largest else "lowest")
    return made.say(choices, special, c=noun, when=when), result, made.key


def _threshold(made: Subject):
    """Draws a column, words for a limit, whether values are above it, and the rows that are."""
    if made.key is None or not made.ordered:
        return None
    column = made.rng.choice(made.ordered)
    levels = sorted(set(column.values))
    if len(levels) < 3:
        return None
    index = made.rng.randrange(1, len(levels) - 1)
    row, above = column.values.index(levels[index]), made.rng.random() < 0.55
    said = column.cells[row]
    if isinstance(levels[0], float) and not is_year(column) and made.rng.random() < 0.7:
        # A round number between this value and the next one.
        low, high = (levels[index - 1], levels[index])
        for unit in (1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 500, 100, 50, 10, 5, 1):
            number = -(-low // unit) * unit
            if low < number < high:
                said, limit = f"{number:.0f}", number
                break
        else:
            limit = levels[index]
    else:
        limit = levels[index]
    values = column.values
    rows = [r for r in made.rows if (values[r] > limit if above else values[r] < limit)]
    return column, said, above, rows


def _comparison(made: Subject):
    """Asks for the names of the rows with values above or below a limit."""
    result = _threshold(made)
    if result is None or not 1 <= len(result[3]) <= _MOST_CELLS:
        return None
    column, said, above, rows = result
    if is_time(column):
        choices = wordings.AFTER if above else wordings.BEFORE
    else:
        choices = wordings.MORE if above else wordings.LESS
    noun = made.noun(column)
    special = noun_wordings(format_text(noun), "more" if above else "less")
    return made.say(choices, special, c=noun, value=said), rows, made.key


def _count_all(made: Subject):
    """Asks for the number of rows."""
    if made.key is None or len(set(made.key.keys)) < len(made.key.keys):
        return None
    return made.say(wordings.COUNT_ALL), list(made.rows), made.key, COUNT


def _count_equal(made: Subject):
    """Asks for the number of rows with a text."""
    result = _equal(made)
    if result is None or len(result[2]) == len(made.rows):
        return None
    column, row, rows = result
    special = wordings.COUNT_PLACE if wordings.is_place(made.noun(column)) else ()
    text = made.say(
        wordings.COUNT_EQUAL, special, c=made.noun(column), value=made.name(column, row)
    )
    return text, rows, made.key, COUNT


def _count_order(made: Subject):
    """Asks for the number of rows with values above or below a limit."""
    result = _threshold(made)
    if result is None or not result[3]:
        return None
    column, said, above, rows = result
    if is_time(column):
        choices = wordings.COUNT_AFTER if above else wordings.COUNT_BEFORE
    else:
        choices = wordings.COUNT_MORE if above else wordings.COUNT_LESS
    return made.say(choices, c=made.noun(column), value=said), rows, made.key, COUNT


def _computed(made: Subject, choices, aggregation):
    """Asks for a sum or an average."""
    if not made.exact:
        return None
    column = made.rng.choice(made.exact)
    when, rows, other = made.condition()
    if other is column or len(rows) < 2:
        return None
    return made.say(choices, c=made.noun(column), when=when), rows, column, aggregation


def _sum(made: Subject):
    """Asks for the sum of a column, or of the cells of two names."""
    if made.rng.random() < 0.7:
        return _computed(made, wordings.SUM, SUM)
    if made.key is None or not made.exact:
        return None
    column = made.rng.choice(made.exact)
    pair = _two_names(made)
    if pair is None:
        return None
    names = [made.name(made.key, row) for row in pair]
    text = made.say(wordings.SUM_PAIR, c=made.noun(column), name=names[0], other=names[1])
    return text, pair, column, SUM


def _average(made: Subject):
    """Asks for the average of a column."""
    return _computed(made, wordings.AVERAGE, AVERAGE)


def _end(made: Subject):
    """Asks for the first or the last cell of a column."""
    column = (
        made.key if made.key and made.rng.random() < 0.7 else made.rng.choice(made.sheet.columns)
    )
    first = made.rng.random() < 0.5
    row = 0 if first else len(made.rows) - 1
    if not is_name(column.keys[row]):
        return None
    return made.say(wordings.FIRST if first else wordings.LAST, c=made.noun(column)), [row], column


def _neighbour(made: Subject):
    """Asks for the name before or after another one."""
    if made.key is None:
        return None
    row, step = made.row_with_name(made.key), made.rng.choice((1, 1, -1))
    if row is None or row + step not in made.rows or not is_name(made.key.keys[row + step]):
        return None
    choices = wordings.NEXT if step > 0 else wordings.PREVIOUS
    text = made.say(choices, c=made.noun(made.key), name=made.name(made.key, row))
    return text, [row + step], made.key


def _two_names(made: Subject) -> list[int] | None:
    """Draws two rows with different names that differ from all others."""
    if made.key is None:
        return None
    first, second = made.row_with_name(made.key), made.row_with_name(made.key)
    return None if first is None or second is None or first == second else [first, second]


def _pair(made: Subject):
    """Asks which of two names has more or less."""
    if made.key is None or not made.ordered:
        return None
    column, pair = made.rng.choice(made.ordered), _two_names(made)
    if pair is None or column.values[pair[0]] == column.values[pair[1]]:
        return None
    more = made.rng.random() < 0.6
    best = (max if more else min)(pair, key=column.values.__getitem__)
    if is_time(column):
        choices = wordings.PAIR_LATER if more else wordings.PAIR_EARLIER
    else:
        choices = wordings.PAIR_MORE if more else wordings.PAIR_LESS
    names = [made.name(made.key, row) for row in pair]
    text = made.say(choices, c=made.noun(column), name=names[0], other=names[1])
    return text, [best], made.key


_MAKERS = {
    "lookup": (20, _lookup),
    "other lookup": (8, _other_lookup),
    "filter": (14, _filter),
    "superlative": (18, _superlative),
    "comparison": (8, _comparison),
    "count all": (3, _count_all),
    "count equal": (8, _count_equal),
    "count order": (4, _count_order),
    "sum": (5, _sum),
    "average": (3, _average),
    "end": (5, _end),
    "neighbour": (6, _neighbour),
    "pair": (5, _pair),
}
KINDS = tuple(_MAKERS)
_WEIGHTS = [weight for weight, _ in _MAKERS.values()]
