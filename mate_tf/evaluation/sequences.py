"""Metrics of tasks over sequences, by scikit-learn and SciPy: of classes, and of numbers.

Questions without a gold answer, as in the test sets of GLUE, are left out.
"""

from collections.abc import Sequence

import numpy as np
from scipy import stats
from sklearn import metrics as sklearn_metrics

from mate_tf.evaluation import metrics


def classification_metrics(
    interactions: metrics.Interactions,
    predicted: metrics.Predicted,
    classes: Sequence[str],
    names: Sequence[str] = (),
) -> dict[str, float | int | tuple[float, int]]:
    """How well sequences are put into classes.

    Args:
        interactions: with the gold classes.
        predicted: predictions by question id.
        classes: names of the classes.
        names: of further metrics: "F1" of class 1 and "Matthews correlation". A question without
            a prediction counts for both as put into the class that it is not in.

    Returns:
        what `metrics.classification_metrics` returns, and the further metrics first.
    """
    known = _known(interactions, "class_index")
    if not known:
        return {"questions without gold answer": len(_questions(interactions))}
    gold = [question.answer.class_index for question in _questions(known)]
    chosen = [
        predicted[question.id].class_index if question.id in predicted else 1 - right
        for question, right in zip(_questions(known), gold, strict=True)
    ]
    further = {
        "F1": lambda: sklearn_metrics.f1_score(gold, chosen, zero_division=0),
        "Matthews correlation": lambda: sklearn_metrics.matthews_corrcoef(gold, chosen),
    }
    return {
        **{name: float(further[name]()) for name in names},
        **metrics.classification_metrics(known, predicted, classes),
    }


def regression_metrics(
    interactions: metrics.Interactions, predicted: metrics.Predicted
) -> dict[str, float | int]:
    """How well numbers are estimated.

    Returns:
        Pearson correlation, Spearman correlation: of the questions with a prediction, 0 where all
            predictions are the same.
        root of the mean squared error: of the same, as text, since it is no share.
        questions, unanswered: number of questions, and of those without a prediction.
    """
    known = _known(interactions, "float_value")
    if not known:
        return {"questions without gold answer": len(_questions(interactions))}
    asked = _questions(known)
    answered = [question for question in asked if question.id in predicted]
    gold = np.array([question.answer.float_value for question in answered])
    values = np.array([predicted[question.id].value for question in answered])
    comparable = len(answered) > 1 and np.ptp(gold) > 0 and np.ptp(values) > 0
    return {
        "Pearson correlation": float(stats.pearsonr(gold, values)[0]) if comparable else 0.0,
        "Spearman correlation": float(stats.spearmanr(gold, values)[0]) if comparable else 0.0,
        "root of the mean squared error": f"{np.sqrt(np.mean((gold - values) ** 2)):.3f}"
        if answered
        else "-",
        "questions": len(asked),
        "unanswered": len(asked) - len(answered),
    }


def _questions(interactions):
    return [question for interaction in interactions for question in interaction.questions]


def _known(interactions, field):
    """The interactions whose questions have a gold answer; they have one question each."""
    return [
        interaction
        for interaction in interactions
        if all(question.answer.HasField(field) for question in interaction.questions)
    ]
