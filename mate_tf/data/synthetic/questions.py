"""Questions about a synthetic table, with the cells that answer them."""

import dataclasses
import pathlib
import random
from collections.abc import Callable

from mate_tf.data.synthetic.domains import GENERIC, NumberColumn, TextColumn
from mate_tf.data.synthetic.sheets import Sheet

TYPES = ("lookup", "superlative", "comparison", "filter")
"""Types of questions. The last two are conditions, on a number and on a text."""

EXAMPLE_TABLE = pathlib.Path(__file__).with_name("example.csv")
"""Twelve employees, a table that no training set contains: a CSV file like a user's own."""

EXAMPLE_QUESTIONS = (
    ("which city does Kenji Tanaka live in?", ((5, 1),)),
    ("who earns the most?", ((4, 0),)),
    ("who is older than 55?", ((6, 0), (7, 0))),
)
"""Questions about EXAMPLE_TABLE with the cells (row, column) that answer them."""

_MAX_ANSWERS = 6
_MAX_TIES = 3
_TRIALS = 20
_ROUND = (10000, 5000, 1000, 500, 100, 50, 10, 5, 1)


@dataclasses.dataclass(frozen=True)
class SyntheticQuestion:
    """A question with its type and its answer.

    Attributes:
        type: one of TYPES.
        text: the question.
        coordinates: answer cells as (row, column), sorted; data rows count from 0. () if the table
            does not answer the question.
    """

    type: str
    text: str
    coordinates: tuple[tuple[int, int], ...]


def make_question(rng: random.Random, sheet: Sheet, question_type: str) -> SyntheticQuestion:
    """Makes a random question of one type; a look-up if the table allows no question of it."""
    kind, make = _MAKERS[question_type]
    columns = sheet.indices_of(kind)
    rng.shuffle(columns)
    for column in columns:
        made = make(rng, sheet, column)
        if made:
            text, coordinates = made
            return SyntheticQuestion(question_type, text, tuple(sorted(coordinates)))
    return make_question(rng, sheet, "lookup")


def make_unanswerable_question(
    rng: random.Random, sheet: Sheet, question_type: str, draw_other: Callable[[], Sheet]
) -> SyntheticQuestion | None:
    """Makes a question about another table that `sheet` does not answer, without coordinates.

    The sheet lacks the name that a look-up asks for, or all columns of the other table but that of
    names.

    Args:
        rng: source of all choices.
        sheet: the table that does not answer.
        question_type: one of TYPES.
        draw_other: function that makes other tables.

    Returns:
        None if no such table was drawn.
    """
    for _ in range(_TRIALS):
        other = draw_other()
        question = make_question(rng, other, question_type)
        if question.type == "lookup":
            ((row, _),) = question.coordinates
            name = other.rows[row][other.key_index]
            unknown = name not in sheet.values(sheet.key_index)
        else:
            unknown = not set(sheet.columns) & set(other.columns) - {None}
        if unknown:
            return dataclasses.replace(question, coordinates=())
    return None


def _phrase(rng, sheet, column, use, **values):
    """Fills in a template for `use`; in half of the draws one of the column's own templates."""
    spec = sheet.columns[column]
    own, generic = getattr(spec.templates, use), getattr(GENERIC, use)
    template = rng.choice(own if own and rng.random() < 0.5 else generic)
    article = "an" if spec.noun[0] in "aeiou" else "a"
    return template.format(
        noun=spec.noun,
        a_noun=f"{article} {spec.noun}",
        one=rng.choice(sheet.domain.one),
        all=rng.choice(sheet.domain.all),
        **values,
    )


def _make_lookup(rng, sheet, column):
    """Makes text and answer of a question for the value of a row."""
    row = rng.randrange(len(sheet.rows))
    name = sheet.rows[row][sheet.key_index]
    return _phrase(rng, sheet, column, "lookup", name=name), [(row, column)]


def _make_superlative(rng, sheet, column):
    """Makes text and answer of a question for an extreme value; None for too many ties."""
    values = sheet.values(column)
    largest = rng.random() < 0.5
    extreme = max(values) if largest else min(values)
    rows = [row for row, value in enumerate(values) if value == extreme]
    if len(rows) > _MAX_TIES:
        return None
    if rng.random() < 0.7:
        use, answer = ("highest" if largest else "lowest"), sheet.key_index
    else:
        use, answer = ("top" if largest else "bottom"), column
    return _phrase(rng, sheet, column, use), [(row, answer) for row in rows]


def _make_comparison(rng, sheet, column):
    """Makes text and answer of a question for rows with numbers above or below a threshold."""
    values = sheet.values(column)
    use = rng.choices(("more", "less", "at_least"), (0.45, 0.4, 0.15))[0]
    sign = -1 if use == "less" else 1  # "less" is "more" for negated numbers
    ordered = sorted((sign * value for value in values), reverse=True)
    limit = min(_MAX_ANSWERS, max(1, len(values) // 3))
    cuts = [k for k in range(1, limit + 1) if k < len(ordered) and ordered[k - 1] > ordered[k]]
    if not cuts:
        return None
    cut = rng.choice(cuts)
    inside, outside = ordered[cut - 1], ordered[cut]
    if use == "at_least":
        threshold = _threshold(rng, outside + 1, inside, edge=inside)
    else:
        threshold = sign * _threshold(rng, outside, inside - 1, edge=outside)
    rows = [row for row, value in enumerate(values) if sign * value >= inside]
    text = _phrase(rng, sheet, column, use, value=threshold)
    return text, [(row, sheet.key_index) for row in rows]


def _threshold(rng, low, high, edge):
    """Draws a number from `low` to `high`: a round one, or `edge`, the value of a cell."""
    if rng.random() < 0.3:
        return edge
    for unit in _ROUND:
        candidate = -(-low // unit) * unit
        if candidate <= high:
            return candidate
    raise AssertionError("1 divides every number")


def _make_filter(rng, sheet, column):
    """Makes text and answer of a question for rows with a given text, or None if there is none."""
    values = sheet.values(column)
    counts = {value: values.count(value) for value in dict.fromkeys(values)}
    fitting = [value for value, count in counts.items() if count <= _MAX_ANSWERS]
    if not fitting:
        return None
    wanted = rng.choice(fitting)
    rows = [row for row, value in enumerate(values) if value == wanted]
    text = _phrase(rng, sheet, column, "equal", value=wanted)
    return text, [(row, sheet.key_index) for row in rows]


_MAKERS = {
    "lookup": ((TextColumn, NumberColumn), _make_lookup),
    "superlative": (NumberColumn, _make_superlative),
    "comparison": (NumberColumn, _make_comparison),
    "filter": (TextColumn, _make_filter),
}
