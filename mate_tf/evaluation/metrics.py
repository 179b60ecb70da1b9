"""Metrics of predictions: accuracies of cells, denotations, classes and operations.

All questions of the interactions count. A question without a prediction is wrong, for example if
the conversion dropped it.
"""

import collections
import dataclasses
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from mate_tf.evaluation import denotation
from mate_tf.evaluation.predictions import AGGREGATIONS, Interactions, Judge, Prediction
from mate_tf.protos.interaction_pb2 import Interaction, Question

Predicted = Mapping[str, Prediction]
"""Predictions by question id. Predictions for questions outside the interactions are ignored."""

SIZES = (5, 10, 20, 50, 100, 200)
"""Upper bounds of the groups of row counts."""

_POSITIONS = 3


class Quantity(TypedDict):
    """A metric that is not a share, and so is not printed in per cent.

    Attributes:
        value: the number.
        unit: what it counts, such as "words"; empty for a number without a unit, or one in the
            unit of the data.
    """

    value: float
    unit: str


@dataclasses.dataclass(frozen=True)
class GradedQuestion:
    """A question with the result of grading its prediction.

    Attributes:
        interaction: interaction of the question.
        question: the question.
        position: position in the interaction, from 0.
        right: True if the prediction is right.
        answered: True if there is a prediction.
    """

    interaction: Interaction
    question: Question
    position: int
    right: bool
    answered: bool


def gold_cells(question: Question) -> set[tuple[int, int]]:
    """Returns the gold cells of a question, (row, column) from 0."""
    return {(cell.row_index, cell.column_index) for cell in question.answer.answer_coordinates}


def by_question(predictions: Iterable[Prediction]) -> dict[str, Prediction]:
    """Returns predictions by question id."""
    return {prediction.question_id: prediction for prediction in predictions}


def has_right_cells(interaction: Interaction, question: Question, prediction: Prediction) -> bool:
    """Returns True if the set of selected cells is the gold one."""
    return set(prediction.coordinates) == gold_cells(question)


def grade(
    interactions: Interactions, predicted: Predicted, is_right: Judge = has_right_cells
) -> list[GradedQuestion]:
    """Grades every question of the interactions."""
    return [
        GradedQuestion(
            interaction,
            question,
            position,
            right=question.id in predicted
            and is_right(interaction, question, predicted[question.id]),
            answered=question.id in predicted,
        )
        for interaction in interactions
        for position, question in enumerate(interaction.questions)
    ]


def accuracy(graded: Iterable[GradedQuestion]) -> float:
    """Computes the share of questions answered correctly; 0 if there are no questions."""
    return _mean(item.right for item in graded)


def sqa_metrics(
    interactions: Interactions, predicted: Predicted, is_right: Judge = has_right_cells
) -> dict[str, float]:
    """Computes the metrics of the SQA paper (Iyyer et al., 2017).

    Returns:
        ALL: share of questions answered correctly.
        SEQ: share of sequences with all questions right.
        POS1, POS2, POS3: ALL of the first, second and third questions.
        questions, unanswered: numbers of all questions and of questions without a prediction.
    """
    graded = grade(interactions, predicted, is_right)
    sequences = collections.defaultdict(list)
    for item in graded:
        sequences[item.interaction.id].append(item.right)
    return {
        "ALL": accuracy(graded),
        "SEQ": _mean(all(right) for right in sequences.values()),
        **{
            f"POS{position + 1}": accuracy(g for g in graded if g.position == position)
            for position in range(_POSITIONS)
        },
        **_counts(graded),
    }


def denotation_metrics(
    interactions: Interactions, predicted: Predicted
) -> dict[str, float | int | tuple[float, int]]:
    """Computes denotation accuracies: shares of right answers, from any cells.

    Returns:
        denotation accuracy: share of right answers by the rules of the official WikiTableQuestions
            evaluator (`denotation.is_right`).
        as the reference: share of right answers by the rules of google-research/tapas
            (`denotation.is_right_for_reference`).
        answered by NONE, SUM, …: denotation accuracy of the predictions with this operation, and
            their number.
        questions, unanswered: numbers of all questions and of questions without a prediction.
    """
    graded = grade(interactions, predicted, denotation.is_right)
    as_reference = grade(interactions, predicted, denotation.is_right_for_reference)
    answered = [item for item in graded if item.answered]
    kinds = breakdown(answered, lambda item: predicted[item.question.id].aggregation)
    return {
        "denotation accuracy": accuracy(graded),
        "as the reference": accuracy(as_reference),
        **{f"answered by {kind}": kinds[kind] for kind in AGGREGATIONS if kind in kinds},
        **_counts(graded),
    }


def classification_metrics(
    interactions: Interactions, predicted: Predicted, classes: Sequence[str] = ()
) -> dict[str, float | int | tuple[float, int]]:
    """Computes the accuracy of classification.

    Args:
        interactions: interactions with the gold classes. A question without one counts as wrong.
        classes: names of the classes. If empty, there are no accuracies by class.

    Returns:
        accuracy: share of questions with the right class.
        95 % from, 95 % to: its confidence interval.
        <class>: accuracy of the questions with this gold class, and their number.
        questions, unanswered: numbers of all questions and of questions without a prediction.
    """
    graded = grade(interactions, predicted, has_right_class)
    low, high = confidence_interval(sum(item.right for item in graded), len(graded))
    with_class = [item for item in graded if item.question.answer.HasField("class_index")]
    by_class = breakdown(with_class, lambda item: item.question.answer.class_index)
    return {
        "accuracy": accuracy(graded),
        "95 % from": low,
        "95 % to": high,
        **{name: by_class[i] for i, name in enumerate(classes) if i in by_class},
        **_counts(graded),
    }


def has_right_class(interaction: Interaction, question: Question, prediction: Prediction) -> bool:
    """Returns True if the predicted class is the gold one."""
    gold = question.answer
    return gold.HasField("class_index") and prediction.class_index == gold.class_index


def confidence_interval(right: int, total: int) -> tuple[float, float]:
    """Computes Wilson's 95 % confidence interval of right / total; (0, 1) if total is 0."""
    from scipy import stats

    if not total:
        return 0.0, 1.0
    interval = stats.binomtest(right, total).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def breakdown(
    graded: Iterable[GradedQuestion], group_of: Callable[[GradedQuestion], Hashable]
) -> dict[Any, tuple[float, int]]:
    """Computes accuracy and number of questions of each group, with the groups sorted."""
    groups = collections.defaultdict(list)
    for item in graded:
        groups[group_of(item)].append(item)
    return {key: (accuracy(groups[key]), len(groups[key])) for key in sorted(groups)}


def table_size(item: GradedQuestion) -> int:
    """Returns the smallest of SIZES that is at least the number of rows; else that number."""
    rows = len(item.interaction.table.rows)
    return next((size for size in SIZES if rows <= size), rows)


def comparison(columns: Mapping[str, Mapping[Any, object]], title: str = "") -> str:
    """Formats a plain text table: one line per metric or group, one column per system.

    Floats are shares and are printed in per cent, each `Quantity` with its unit, and pairs of
    `breakdown` with the number of questions.

    Args:
        columns: name of a system -> result of `sqa_metrics` or `breakdown`.
        title: heading of the first column.
    """
    rows = list(dict.fromkeys(key for column in columns.values() for key in column))
    cells = [[title, *columns]]
    cells += [[str(row), *(_shown(column.get(row)) for column in columns.values())] for row in rows]
    return aligned(cells)


def aligned(cells: Sequence[Sequence[str]]) -> str:
    """Formats lines of texts as a table: the first column to the left, the others to the right."""
    widths = [max(map(len, texts)) for texts in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            text.ljust(width) if index == 0 else text.rjust(width)
            for index, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def _counts(graded):
    """Returns the numbers of all questions and of questions without a prediction."""
    return {"questions": len(graded), "unanswered": sum(not item.answered for item in graded)}


def _shown(value):
    """Formats a value of `comparison`."""
    if value is None:
        return "-"
    if isinstance(value, tuple):
        share, count = value
        return f"{100 * share:.1f} % of {count}"
    if isinstance(value, Mapping):
        return f"{value['value']:.4g} {value['unit']}".rstrip()
    return f"{100 * value:.1f} %" if isinstance(value, float) else str(value)


def _mean(values):
    """Returns the mean; 0 if there are no values."""
    values = list(values)
    return sum(values) / len(values) if values else 0.0
