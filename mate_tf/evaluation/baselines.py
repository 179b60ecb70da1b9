"""Baselines with little or no learning.

Most baselines select cells. They take an interaction, the position of a question in it and the
cells that they selected for the previous question (None for the first question), and return cells.
Other baselines learn a class from training interactions, or take sentences of a document.
"""

import collections
import functools
import random
import re
from collections.abc import Callable, Sequence

from mate_tf.errors import InputError
from mate_tf.evaluation import extractive
from mate_tf.evaluation.cell_ranking import rank_cells, rank_expanded_cells
from mate_tf.evaluation.given_answers import commonest_answer
from mate_tf.evaluation.lexical import LexicalClassifier
from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos.interaction_pb2 import Interaction
from mate_tf.tables.pruning import STOP_WORDS

Interactions = Sequence[Interaction]
Predictor = Callable[[Interactions], dict[str, Prediction]]
"""Function from interactions to predictions by question id."""

Cells = list[tuple[int, int]]
CellBaseline = Callable[[Interaction, int, Cells | None], Cells]

_WORD = re.compile(r"\w+")
_COUNTING_QUESTION = re.compile(r"\b(?:how many|number of)\b", re.IGNORECASE)


def predict(
    interactions: Interactions, name: str, train: Interactions = ()
) -> dict[str, Prediction]:
    """Returns a baseline's predictions by question id; arguments and errors as for `fit`."""
    return fit(name, train)(interactions)


def fit(name: str, train: Interactions = ()) -> Predictor:
    """Returns a baseline as a function; the ones in LEARNED are trained first.

    Raises:
        InputError: if there is no such baseline, or `train` is not sufficient for it.
    """
    if name not in BASELINES:
        raise InputError(f"baseline {name!r} is not one of {', '.join(BASELINES)}")
    return BASELINES[name](train) if name in LEARNED else BASELINES[name]


def majority_class(train: Interactions) -> Predictor:
    """Returns a predictor of the most frequent class in training; the first one of a tie.

    Raises:
        InputError: if no question has a class.
    """
    answers = (question.answer for interaction in train for question in interaction.questions)
    counts = collections.Counter(
        gold.class_index for gold in answers if gold.HasField("class_index")
    )
    if not counts:
        raise InputError("majority class: no training question has a class")
    best = max(sorted(counts), key=lambda index: counts[index])
    shares = tuple(counts[index] / counts.total() for index in range(max(counts) + 1))

    def predictor(interactions):
        ids = (question.id for interaction in interactions for question in interaction.questions)
        return {
            each: Prediction(each, (), class_index=best, class_probabilities=shares) for each in ids
        }

    return predictor


def random_cell(interaction, position, previous=None) -> Cells:
    """Selects a random cell, the same in every run."""
    rows, columns = len(interaction.table.rows), len(interaction.table.columns)
    if not rows:
        return []
    generator = random.Random(interaction.questions[position].id)
    return [(generator.randrange(rows), generator.randrange(columns))]


def lexical_match(interaction, position, previous=None) -> Cells:
    """Selects the cells with most words of the question; the first cell if none has any.

    Stop words such as "the" and "which" do not count. Of cells with equally many shared words, all
    those with the fewest other words are selected.
    """
    question_words = _question_words(interaction, position)
    scores = {}
    for row_index, row in enumerate(interaction.table.rows):
        for column_index, cell in enumerate(row.cells):
            words = _words(cell.text)
            shared = len(question_words & words)
            scores[row_index, column_index] = (shared, -len(words - question_words))
    return _best(scores, fallback=[(0, 0)] if scores else [])


def row_and_column_match(interaction, position, previous=None) -> Cells:
    """Selects the cells in the rows and the column with most words of the question.

    For a row the words of its cells count, for a column the words of its header. If no word is
    shared, all rows or the first column are used.
    """
    question_words = _question_words(interaction, position)
    table = interaction.table
    rows = {
        index: (len(question_words & _words(" ".join(cell.text for cell in row.cells))), 0)
        for index, row in enumerate(table.rows)
    }
    best_rows = _best(rows, fallback=list(rows))
    headers = {
        index: (len(question_words & _words(cell.text)), -len(_words(cell.text) - question_words))
        for index, cell in enumerate(table.columns)
    }
    best_column = _best(headers, fallback=[0])[0]
    return [(row, best_column) for row in best_rows]


def previous_column(interaction, position, previous=None) -> Cells:
    """Selects the column of the previous answer, in the rows with most words of the question.

    If no row has such a word, the rows of the previous answer are used. The first question is
    answered by `row_and_column_match`. The previous answer is the baseline's own, not the gold one.
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
"""Baselines that select cells, by name."""

LEARNED: dict[str, Callable[[Interactions], Predictor]] = {
    "majority class": majority_class,
    "commonest answer": commonest_answer,
    "lexical classifier": LexicalClassifier,
}
"""Baselines that need training interactions, by name."""


def _choose(baseline, counting, interactions):
    """Predicts with a baseline that selects cells, the questions of an interaction in order."""
    predicted = {}
    for interaction in interactions:
        cells = None
        for position, question in enumerate(interaction.questions):
            cells = baseline(interaction, position, cells)
            text = question.original_text or question.text
            count = counting and _COUNTING_QUESTION.search(text)
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
    **extractive.BASELINES,
    **LEARNED,
}
"""All baselines, by the name that is printed. The ones with "counted" answer "how many" with the
number of cells instead of the cells."""


def _question_words(interaction, position):
    """Returns the set of words of a question, without stop words."""
    question = interaction.questions[position]
    return _words(question.original_text or question.text) - STOP_WORDS


def _words(text):
    """Returns the set of lower-cased words of a text."""
    return set(_WORD.findall(text.lower()))


def _best(scores, fallback):
    """Returns the keys with the largest score; `fallback` if no words are shared at all."""
    best = max(scores.values(), default=(0, 0))
    if best[0] == 0:
        return fallback
    return [key for key, score in scores.items() if score == best]
