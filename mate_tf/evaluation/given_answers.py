"""Scores answers by the way in which the data give them: cells, text, number or class.

Cells are right if they are exactly the gold ones, without an operation over them; other answers by
`denotation.is_right`. Questions without a gold answer do not count.
"""

import collections
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mate_tf.answers.execution import NONE
from mate_tf.data.interactions import given
from mate_tf.errors import InputError
from mate_tf.evaluation import denotation, metrics
from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos.interaction_pb2 import Interaction, Question

CELLS, TEXT, NUMBER, CLASS = "cells", "text", "number", "class"
ALL, FROM, TO = "all", "95 % from", "95 % to"


def kind(question: Question) -> str | None:
    """Returns how the gold answer was given; None if there is no gold answer.

    This is CELLS, TEXT, NUMBER or CLASS, or one of them with an operation, such as "cells, SUM". If
    it was not recorded (`data.interactions.given`), it follows from the answer's fields.
    """
    gold = question.answer
    fields = {
        CLASS: gold.HasField("class_index"),
        NUMBER: gold.HasField("float_value"),
        CELLS: bool(gold.answer_coordinates),
        TEXT: bool(gold.answer_texts),
    }
    names = [name for name, is_set in fields.items() if is_set]
    return given(question) or names[0] if names else None


def is_right(interaction: Interaction, question: Question, prediction: Prediction) -> bool:
    """Returns True if the answer is right by the rule for its kind; False without a gold answer."""
    of_kind = kind(question)
    if of_kind is None:
        return False
    if of_kind == CLASS:
        return metrics.has_right_class(interaction, question, prediction)
    if of_kind == CELLS:
        right = metrics.has_right_cells(interaction, question, prediction)
        return right and prediction.aggregation == NONE
    return denotation.is_right(interaction, question, prediction)


def scores(
    interactions: metrics.Interactions, predicted: metrics.Predicted, classes: Sequence[str] = ()
) -> dict[str, Any]:
    """Computes the accuracy of each kind of answer.

    Returns:
        ALL, each kind that there is, and "class <name>" of each gold class -> accuracy and number
        of questions. FROM, TO: the 95 % confidence interval of the accuracy of ALL.
    """
    graded = [
        item
        for item in metrics.grade(interactions, predicted, is_right)
        if kind(item.question) is not None
    ]
    low, high = metrics.confidence_interval(sum(item.right for item in graded), len(graded))
    shares: dict[str, tuple[float, int] | float] = {
        ALL: (metrics.accuracy(graded), len(graded)),
        FROM: low,
        TO: high,
    }
    shares |= metrics.breakdown(graded, lambda item: kind(item.question))
    of_class = [item for item in graded if kind(item.question) == CLASS]
    by_class = metrics.breakdown(of_class, lambda item: item.question.answer.class_index)
    return shares | {f"{CLASS} {classes[i]}": by_class[i] for i in by_class if i < len(classes)}


def warnings(interactions: metrics.Interactions, predicted: metrics.Predicted) -> list[str]:
    """Returns sentences about what makes scores meaningless; there are none for most data."""
    questions = [question for interaction in interactions for question in interaction.questions]
    without = sum(kind(question) is None for question in questions)
    empty = sum(_is_empty(predicted.get(question.id)) for question in questions)
    notes = []
    if 2 * without > len(questions):
        notes.append(
            f"{without} of {len(questions)} questions have no gold answer; accuracies are those of"
            f" the other {len(questions) - without}"
        )
    if 2 * empty > len(questions):
        notes.append(
            f"{empty} of {len(questions)} predicted answers are empty: no cell is selected"
        )
    return notes


def commonest_answer(
    train: Iterable[Interaction],
) -> Callable[[metrics.Interactions], dict[str, Prediction]]:
    """Returns a predictor that always gives the commonest training answer of the question's kind.

    It is told the kind of the gold answer, so it is a strong baseline of its type. It gives no
    prediction for kinds that training does not have.

    Raises:
        InputError: if no question has an answer.
    """
    counts: Mapping[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for interaction in train:
        for question in interaction.questions:
            of_kind = kind(question)
            if of_kind is not None:
                counts[of_kind][_answer(question, of_kind)] += 1
    if not counts:
        raise InputError("commonest answer: no training question has an answer")
    # Of equally common answers the smallest one, so that the order of the data does not matter.
    best = {
        name: min(count_of, key=lambda key: (-count_of[key], key))
        for name, count_of in counts.items()
    }

    def predictor(interactions):
        asked = (question for interaction in interactions for question in interaction.questions)
        return {
            question.id: _prediction(question.id, of_kind, best[of_kind])
            for question in asked
            if (of_kind := kind(question)) in best
        }

    return predictor


def _answer(question, of_kind):
    """Returns a gold answer in a form that can be counted."""
    if of_kind == CLASS:
        return question.answer.class_index
    if of_kind == CELLS:
        return tuple(sorted(metrics.gold_cells(question)))
    return tuple(question.answer.answer_texts)


def _prediction(question_id, of_kind, answer):
    """Returns a prediction of a result of `_answer`."""
    if of_kind == CLASS:
        return Prediction(question_id, (), class_index=answer)
    if of_kind == CELLS:
        return Prediction(question_id, answer)
    return Prediction(question_id, (), texts=answer)


def _is_empty(prediction):
    return prediction is None or (prediction.class_index is None and not prediction.coordinates)
