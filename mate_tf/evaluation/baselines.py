"""What answers can be had with little or no learning. A model has to beat these.

Most baselines choose cells: they take an interaction, the position of a question in it and the
cells they chose for the question before (None at the first), and return cells. Others learn a
class from training interactions.
"""

import collections
import functools
import random
import re
from collections.abc import Callable, Iterable

from mate_tf.errors import InputError
from mate_tf.evaluation.cell_ranking import rank_cells, rank_expanded_cells
from mate_tf.evaluation.lexical import STOP_WORDS, LexicalClassifier
from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos import interaction_pb2

Interactions = Iterable[interaction_pb2.Interaction]
Predictor = Callable[[Interactions], dict[str, Prediction]]
"""From interactions to predictions by question id."""

Cells = list[tuple[int, int]]
CellBaseline = Callable[[interaction_pb2.Interaction, int, Cells | None], Cells]

_WORD = re.compile(r"\w+")
_ASKS_FOR_A_NUMBER = re.compile(r"\b(?:how many|number of)\b", re.IGNORECASE)


def predict(
    interactions: Interactions, name: str, train: Interactions = ()
) -> dict[str, Prediction]:
    """A baseline's predictions by question id; `fit` says what the arguments are."""
    return fit(name, train)(interactions)


def fit(name: str, train: Interactions = ()) -> Predictor:
    """A baseline, ready to predict.

    Args:
        name: in BASELINES.
        train: interactions to learn from, for the names in LEARNED; unused by others.

    Raises:
        InputError: there is no such baseline, or nothing to learn in `train`.
    """
    if name not in BASELINES:
        raise InputError(f"baseline {name!r} is none of {', '.join(BASELINES)}")
    return BASELINES[name](train) if name in LEARNED else BASELINES[name]


def majority_class(train: Interactions) -> Predictor:
    """The class that most training questions are in; of several the first.

    Raises:
        InputError: no question has a class.
    """
    answers = (question.answer for interaction in train for question in interaction.questions)
    counts = collections.Counter(
        gold.class_index for gold in answers if gold.HasField("class_index")
    )
    if not counts:
        raise InputError("majority class: no training question has a class")
    best = max(sorted(counts), key=counts.get)
    shares = tuple(counts[index] / counts.total() for index in range(max(counts) + 1))

    def predictor(interactions):
        ids = (question.id for interaction in interactions for question in interaction.questions)
        return {
            each: Prediction(each, (), class_index=best, class_probabilities=shares) for each in ids
        }

    return predictor


def random_cell(interaction, position, previous=None) -> Cells:
    """One cell, the same in every run."""
    del previous
    rows, columns = len(interaction.table.rows), len(interaction.table.columns)
    if not rows:
        return []
    generator = random.Random(interaction.questions[position].id)
    return [(generator.randrange(rows), generator.randrange(columns))]


def lexical_match(interaction, position, previous=None) -> Cells:
    """The cells that share the most words with the question; the first cell if none does.

    Words like "the" and "which" do not count. Among cells that share as many, those with the
    fewest other words are chosen, all of them if they are several.
    """
    del previous
    asked = _question_words(interaction, position)
    scores = {}
    for row_index, row in enumerate(interaction.table.rows):
        for column_index, cell in enumerate(row.cells):
            words = _words(cell.text)
            scores[row_index, column_index] = (len(asked & words), -len(words - asked))
    return _best(scores, fallback=[(0, 0)] if scores else [])


def row_and_column_match(interaction, position, previous=None) -> Cells:
    """Where the rows and the columns that share the most words with the question cross.

    A row shares words through its cells, a column through its header. Where nothing is shared:
    all rows, the first column.
    """
    del previous
    asked = _question_words(interaction, position)
    table = interaction.table
    rows = {
        index: (len(asked & _words(" ".join(cell.text for cell in row.cells))), 0)
        for index, row in enumerate(table.rows)
    }
    best_rows = _best(rows, fallback=list(rows))
    headers = {
        index: (len(asked & _words(cell.text)), -len(_words(cell.text) - asked))
        for index, cell in enumerate(table.columns)
    }
    best_column = _best(headers, fallback=[0])[0]
    return [(row, best_column) for row in best_rows]


def previous_column(interaction, position, previous=None) -> Cells:
    """The column of the answer before, in the rows that share the most words with the question.

    Where no row shares a word: the rows of the answer before. The first question is answered by
    `row_and_column_match`. As in the realistic setting, "before" is the baseline's own answer.
    """
    if not previous:
        return row_and_column_match(interaction, position)
    column = previous[0][1]
    rows = {row for row, _ in row_and_column_match(interaction, position)}
    if len(rows) == len(interaction.table.rows):
        rows = {row for row, _ in previous}
    return [(row, column) for row in sorted(rows)]


CELL_BASELINES: dict[str, CellBaseline] = {
    "random cell": random_cell,
    "lexical match": lexical_match,
    "row and column match": row_and_column_match,
    "previous column": previous_column,
}
"""Those that choose cells."""

LEARNED: dict[str, Callable[[Interactions], Predictor]] = {
    "majority class": majority_class,
    "lexical classifier": LexicalClassifier,
}
"""Those that need training interactions."""


def _choose(baseline, counting, interactions):
    """Predictions of a baseline that chooses cells, questions of an interaction in their order."""
    predicted = {}
    for interaction in interactions:
        cells = None
        for position, question in enumerate(interaction.questions):
            cells = baseline(interaction, position, cells)
            asked = question.original_text or question.text
            count = counting and _ASKS_FOR_A_NUMBER.search(asked)
            predicted[question.id] = Prediction(
                question.id, tuple(cells), aggregation="COUNT" if count else "NONE"
            )
    return predicted


BASELINES = {
    **{name: functools.partial(_choose, each, False) for name, each in CELL_BASELINES.items()},
    **{
        f"{name}, counted": functools.partial(_choose, CELL_BASELINES[name], True)
        for name in ("lexical match", "row and column match")
    },
    "TF-IDF of cells": rank_cells,
    "TF-IDF of expanded cells": rank_expanded_cells,
    **LEARNED,
}
"""All of them, by the name they are printed with. Counted: "how many" is answered by the number of
cells instead of the cells."""


def _question_words(interaction, position):
    question = interaction.questions[position]
    return _words(question.original_text or question.text) - STOP_WORDS


def _words(text):
    return set(_WORD.findall(text.lower()))


def _best(scores, fallback):
    """Keys with the largest score, or `fallback` if that counts no shared word."""
    best = max(scores.values(), default=(0, 0))
    if best[0] == 0:
        return fallback
    return [key for key, score in scores.items() if score == best]
