"""Measures how much answers depend on the order of a table's rows or of its columns.

TableFormer (Yang et al., 2022) and RobuT (Zhao et al., 2023) ask so: a table means the same in any
order, so the same cells should answer. Few questions do depend on the order, such as those for the
first row; they are told by their words and counted apart.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence

import numpy as np

from mate_tf.data.interactions import question_text
from mate_tf.evaluation import metrics
from mate_tf.evaluation.predictions import Interactions, Judge, Prediction
from mate_tf.protos.interaction_pb2 import Interaction
from mate_tf.protos.table_selection_pb2 import TableSelection

ROWS, COLUMNS = KINDS = ("rows", "columns")

_PLACES = re.compile(
    r"\b(?:first|second|third|last|next|previous|prior|before|after|above|below|beneath|top|bottom|"
    r"follow(?:s|ed|ing)?|preced(?:es|ed|ing)|consecutive(?:ly)?|listed|in a row|order)\b"
)
_CELL = ("row_index", "column_index")
_SELECTION = TableSelection.table_selection_ext


def shuffled(
    interactions: Interactions, kind: str, seed: int
) -> tuple[list[Interaction], dict[str, np.ndarray]]:
    """Returns copies of interactions with the rows or columns of each table in another order.

    The order differs from the given one wherever there are two rows or columns. Cells keep their
    annotations, and the gold cells of the questions move with their rows and columns.

    Args:
        kind: ROWS or COLUMNS.
        seed: the same seed and interactions give the same orders.

    Returns:
        the interactions, and question id -> <int>[rows or columns], where each one was before.
    """
    rng, shuffles, orders = np.random.default_rng(seed), [], {}
    for interaction in interactions:
        table = interaction.table
        order = _other_order(rng, len(table.rows if kind == ROWS else table.columns))
        shuffles.append(_reordered(interaction, kind, order))
        orders |= {question.id: order for question in interaction.questions}
    return shuffles, orders


def as_given(prediction: Prediction, kind: str, order: np.ndarray) -> Prediction:
    """Returns the prediction for a shuffled table in the coordinates of the given one.

    Args:
        kind: what was shuffled, ROWS or COLUMNS.
        order: <int>[rows or columns], where each one was before; see `shuffled`.
    """
    of_rows = kind == ROWS

    def place(row: int, column: int) -> tuple[int, int]:
        return (int(order[row]), column) if of_rows else (row, int(order[column]))

    cells = [place(*cell) for cell in prediction.coordinates]
    places = sorted(range(len(cells)), key=cells.__getitem__)  # in table order
    shares = prediction.probabilities  # may be empty
    return dataclasses.replace(
        prediction,
        coordinates=tuple(cells[i] for i in places),
        probabilities=tuple(shares[i] for i in places) if shares else (),
        ranked=tuple(place(*cell) for cell in prediction.ranked),
        spans=tuple(
            span | dict(zip(_CELL, place(*(span[name] for name in _CELL)), strict=True))
            for span in prediction.spans
        ),
        token_probabilities=tuple(
            (*place(row, column)[::-1], share)
            for column, row, share in prediction.token_probabilities
        ),
    )


def changes(
    interactions: Interactions,
    before: Mapping[str, Prediction],
    after: Mapping[str, Prediction],
    is_right: Judge,
) -> dict[str, float | tuple[float, int]]:
    """Compares the answers to tables as given with those to shuffled tables.

    An answer is a set of cells, an operation over them and a class. A question without a prediction
    has an answer of its own kind.

    Args:
        before: predictions by question id, for the given tables.
        after: the same for shuffled tables, in the coordinates of the given ones.
        is_right: judges a prediction.

    Returns:
        answers changed: share of the questions; 95 % from, 95 % to: its confidence interval.
        no word of order: the same share of the questions without a word such as "first", and their
            number.
        of right ones, of wrong ones: the same for answers that are right or wrong as given.
        right, then wrong; wrong, then right: shares of the questions.
    """
    pairs = [
        (old, new, _answer(before.get(old.question.id)) != _answer(after.get(old.question.id)))
        for old, new in zip(
            metrics.grade(interactions, before, is_right),
            metrics.grade(interactions, after, is_right),
            strict=True,
        )
    ]

    def changed(is_counted) -> list[bool]:
        return [is_changed for old, _, is_changed in pairs if is_counted(old)]

    def part(is_counted) -> tuple[float, int]:
        result = changed(is_counted)
        return _share(result), len(result)

    every = changed(lambda old: True)
    low, high = metrics.confidence_interval(sum(every), len(every))
    return {
        "answers changed": _share(every),
        "95 % from": low,
        "95 % to": high,
        "no word of order": part(
            lambda old: not _PLACES.search(question_text(old.question).lower())
        ),
        "of right ones": part(lambda old: old.right),
        "of wrong ones": part(lambda old: not old.right),
        "right, then wrong": _share([old.right and not new.right for old, new, _ in pairs]),
        "wrong, then right": _share([new.right and not old.right for old, new, _ in pairs]),
    }


def _other_order(rng: np.random.Generator, number: int) -> np.ndarray:
    """Returns a random order of 0, 1, …, <int>[number]; not the sorted one if there is another."""
    order = rng.permutation(number)
    while number > 1 and (order == np.arange(number)).all():
        order = rng.permutation(number)
    return order


def _reordered(interaction: Interaction, kind: str, order: np.ndarray) -> Interaction:
    """Returns a copy in which row or column `order[i]` is the i-th one."""
    copy = Interaction.FromString(interaction.SerializeToString(deterministic=True))
    table, new_place = copy.table, np.argsort(order).tolist()
    if kind == ROWS:
        _sort(table.rows, order)
    else:
        for cells in (table.columns, *(row.cells for row in table.rows)):
            _sort(cells, order)
    name, num_headers = _CELL[KINDS.index(kind)], int(kind == ROWS)
    for question in copy.questions:
        for answer in (question.answer, *question.alternative_answers):
            for cell in answer.answer_coordinates:
                setattr(cell, name, new_place[getattr(cell, name)])
        # Selected tokens count the header as row 0.
        for token in question.Extensions[_SELECTION].selected_tokens:
            place = getattr(token, name) - num_headers
            if place >= 0:
                setattr(token, name, new_place[place] + num_headers)
    return copy


def _sort(parts, order: np.ndarray) -> None:
    """Puts the messages of a repeated field into another order, in place."""
    given = list(parts)
    del parts[:]
    parts.extend(given[index] for index in order.tolist())


def _answer(prediction: Prediction | None):
    """Returns what has to stay the same for an answer to be the same."""
    if prediction is None:
        return None
    return frozenset(prediction.coordinates), prediction.aggregation, prediction.class_index


def _share(values: Sequence[bool]) -> float:
    """Returns the share of true values; 0 if there are no values."""
    return sum(values) / len(values) if values else 0.0
