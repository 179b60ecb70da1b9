"""Metrics of sequence tasks, for classes and for numbers, by scikit-learn and SciPy.

Both are imported where they are needed: they take seconds, and every program imports all tasks.
Questions without a gold answer, as in the test sets of GLUE, are left out.
"""

from collections.abc import Sequence

import numpy as np

from mate_tf.evaluation import metrics


def classification_metrics(
    interactions: metrics.Interactions,
    predicted: metrics.Predicted,
    classes: Sequence[str],
    names: Sequence[str] = (),
) -> dict[str, float | int | tuple[float, int]]:
    """Computes metrics of the classification of sequences.

    Args:
        interactions: interactions with the gold classes.
        names: names of further metrics of two classes: "F1" (of class 1) and "Matthews
            correlation". For both, a question without a prediction counts as the wrong class.

    Returns:
        dict with the further metrics, then the result of `metrics.classification_metrics`.
    """
    from sklearn import metrics as sklearn_metrics

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
) -> dict[str, float | int | metrics.Quantity | None]:
    """Computes metrics of regression.

    Returns:
        Pearson correlation, Spearman correlation: over the questions with a prediction; 0 if all
            predictions, or all gold values, are equal.
        root of the mean squared error: over the same questions, in the unit of the gold values;
            None without predictions.
        questions, unanswered: numbers of all questions and of questions without a prediction.
    """
    from scipy import stats

    known = _known(interactions, "float_value")
    if not known:
        return {"questions without gold answer": len(_questions(interactions))}
    questions = _questions(known)
    answered = [question for question in questions if question.id in predicted]
    gold = np.array([question.answer.float_value for question in answered])
    values = np.array([predicted[question.id].value for question in answered])
    comparable = len(answered) > 1 and np.ptp(gold) > 0 and np.ptp(values) > 0
    return {
        "Pearson correlation": float(stats.pearsonr(gold, values)[0]) if comparable else 0.0,
        "Spearman correlation": float(stats.spearmanr(gold, values)[0]) if comparable else 0.0,
        "root of the mean squared error": metrics.Quantity(
            value=float(np.sqrt(np.mean((gold - values) ** 2))), unit=""
        )
        if answered
        else None,
        "questions": len(questions),
        "unanswered": len(questions) - len(answered),
    }


def _questions(interactions):
    """Returns all questions of the interactions."""
    return [question for interaction in interactions for question in interaction.questions]


def _known(interactions, field):
    """Returns the interactions with a gold answer in `field`; each has one question."""
    return [
        interaction
        for interaction in interactions
        if all(question.answer.HasField(field) for question in interaction.questions)
    ]
