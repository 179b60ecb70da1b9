"""How well cells are selected for HybridQA, where one right cell is enough to read the answer from.

The answer is in several cells' texts or in the texts about entities that they link to: all of
these cells are right. The metrics are those of google-research/tapas.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from mate_tf.answers.hybridqa import ANSWER_TYPES, answer_type
from mate_tf.evaluation.metrics import gold_cells
from mate_tf.evaluation.predictions import Prediction, cell_probabilities
from mate_tf.protos import interaction_pb2

ALL = "all"
RANKS = (1, 3, 5)


def selection_metrics(
    interactions: Iterable[interaction_pb2.Interaction], predicted: Mapping[str, Prediction]
) -> dict[str, dict[str, float | None]]:
    """The metrics of the first stage, over all questions and by type of answer.

    Args:
        interactions: with the gold answers; questions without one (of the test set) are left out.
        predicted: predictions by question id, with ranked cells.

    Returns:
        for ALL and each of ANSWER_TYPES that there is:
            recall: share of questions with a right cell among the chosen ones.
            precision: mean share of right ones among the chosen cells, over questions with any;
                None without such a question.
            non_empty: share of questions with any chosen cell.
            answer_len: mean number of chosen cells.
            coverage: share of questions with a prediction.
            recall_at_1, recall_at_3, recall_at_5: share of questions with a right cell among the
                first so many ranked ones.
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
    interactions: Iterable[interaction_pb2.Interaction], predicted: Mapping[str, Prediction], k: int
) -> dict[str, bool]:
    """Question id -> whether one of the first k ranked cells is right; False if not predicted.

    Questions without an answer (of the test set) are left out, those with an answer that no cell
    has are not.
    """
    found = {}
    for interaction in interactions:
        for question in interaction.questions:
            if question.HasField("answer"):
                prediction = predicted.get(question.id)
                ranked = prediction.ranked[:k] if prediction else ()
                found[question.id] = bool(gold_cells(question) & set(ranked))
    return found


def ranked_cells(prediction: Prediction) -> list[tuple[tuple[int, int], float]]:
    """All cells with their mean token probability, the best first, equal ones in table order.

    Args:
        prediction: with token probabilities; without them there are no cells.
    """
    tokens = np.array(prediction.token_probabilities, np.float64).reshape(-1, 3)
    cells, means = cell_probabilities(tokens[:, 2], tokens[:, 1] + 1, tokens[:, 0] + 1)
    order = np.argsort(-means, kind="stable")
    return [((int(cells[i, 0]), int(cells[i, 1])), float(means[i])) for i in order]


def _metrics(pairs):
    found = [(gold, prediction) for gold, prediction in pairs if prediction is not None]
    chosen = [(gold, set(prediction.coordinates)) for gold, prediction in found]
    shares = [len(gold & cells) / len(cells) for gold, cells in chosen if cells]
    total = len(pairs)
    return {
        "recall": sum(bool(gold & cells) for gold, cells in chosen) / total,
        "precision": sum(shares) / len(shares) if shares else None,
        "non_empty": len(shares) / total,
        "answer_len": sum(len(cells) for _, cells in chosen) / total,
        "coverage": len(found) / total,
        **{
            f"recall_at_{k}": sum(bool(gold & set(p.ranked[:k])) for gold, p in found) / total
            for k in RANKS
        },
    }
