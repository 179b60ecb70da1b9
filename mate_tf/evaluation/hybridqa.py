"""Metrics of cell selection for HybridQA, the first stage of POINTR, as in google-research/tapas.

All cells with the answer in their text, or in a passage that they link to, are right.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from mate_tf.answers.hybridqa import ANSWER_TYPES, answer_type
from mate_tf.evaluation.metrics import gold_cells
from mate_tf.evaluation.predictions import Prediction, cell_probabilities
from mate_tf.protos.interaction_pb2 import Interaction

ALL = "all"
RANKS = (1, 3, 5)


def selection_metrics(
    interactions: Iterable[Interaction], predicted: Mapping[str, Prediction]
) -> dict[str, dict[str, float | None]]:
    """Computes the metrics of the first stage, over all questions and by type of answer.

    Args:
        interactions: interactions with the gold answers. Questions without one, as in the test
            set, are left out.
        predicted: predictions by question id, with ranked cells.

    Returns:
        dict with ALL and the ANSWER_TYPES that occur, each with a dict:
            recall: share of questions with a right cell among the selected ones.
            precision: mean share of right cells among the selected ones, over the questions with a
                selected cell; None without such a question.
            non_empty: share of questions with a selected cell.
            answer_len: mean number of selected cells.
            coverage: share of questions with a prediction.
            recall_at_1, recall_at_3, recall_at_5: share of questions with a right cell among the
                1, 3 or 5 best ranked ones.
    """
    groups = {name: [] for name in (ALL, *ANSWER_TYPES)}
    for interaction in interactions:
        for question in interaction.questions:
            if question.HasField("answer"):
                pair = (gold_cells(question), predicted.get(question.id))
                groups[ALL].append(pair)
                groups[answer_type(question)].append(pair)
    return {name: _metrics(pairs) for name, pairs in groups.items() if pairs}


def hits(
    interactions: Iterable[Interaction], predicted: Mapping[str, Prediction], k: int
) -> dict[str, bool]:
    """Returns question id -> True if one of the k best ranked cells is right.

    The value is False for questions without a prediction and for answers that no cell contains.
    Questions without an answer, as in the test set, are left out.
    """
    ranks = {}
    for interaction in interactions:
        for question in interaction.questions:
            if question.HasField("answer"):
                prediction = predicted.get(question.id)
                ranked = prediction.ranked[:k] if prediction else ()
                ranks[question.id] = bool(gold_cells(question) & set(ranked))
    return ranks


def ranked_cells(prediction: Prediction) -> list[tuple[tuple[int, int], float]]:
    """Returns all cells with their mean token probability, the best first.

    Cells with equal probabilities keep the order of the table.

    Args:
        prediction: prediction with token probabilities; without them the result is empty.
    """
    tokens = np.array(prediction.token_probabilities, np.float64).reshape(-1, 3)
    cells, means = cell_probabilities(tokens[:, 2], tokens[:, 1] + 1, tokens[:, 0] + 1)
    order = np.argsort(-means, kind="stable")
    return [((int(cells[i, 0]), int(cells[i, 1])), float(means[i])) for i in order]


def _metrics(pairs):
    """Computes the metrics of pairs (gold cells, prediction or None)."""
    result = [(gold, prediction) for gold, prediction in pairs if prediction is not None]
    chosen = [(gold, set(prediction.coordinates)) for gold, prediction in result]
    shares = [len(gold & cells) / len(cells) for gold, cells in chosen if cells]
    total = len(pairs)
    return {
        "recall": sum(bool(gold & cells) for gold, cells in chosen) / total,
        "precision": sum(shares) / len(shares) if shares else None,
        "non_empty": len(shares) / total,
        "answer_len": sum(len(cells) for _, cells in chosen) / total,
        "coverage": len(result) / total,
        **{
            f"recall_at_{k}": sum(bool(gold & set(p.ranked[:k])) for gold, p in result) / total
            for k in RANKS
        },
    }
