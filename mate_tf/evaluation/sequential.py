"""Questions that refer to the answer before, asked as in reality: with the model's own answers.

Training examples carry the gold answer of the question before in `prev_label_ids`. Here these
are replaced, position by position: all first questions are predicted, in batches as large as
the model likes, then all second ones with the cells chosen for the first, and so on.
"""

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from mate_tf.data.interactions import get_interaction_id, parse_question_id

PREVIOUS = "prev_label_ids"


def predict_in_sequence(
    examples: Iterable[Mapping],
    predict: Callable[[list[dict]], Iterable[Mapping]],
    threshold: float = 0.5,
) -> Iterator[Mapping]:
    """Predictions in which every question sees the model's answer to the one before.

    If the question before has no example (the conversion dropped it), the last one that has
    stands in; the first one of a sequence sees no answer.

    Args:
        examples: question_id, row_ids and column_ids <int>[tokens], and what `predict` needs;
            a prev_label_ids is overwritten in a copy.
        predict: from some examples of the same position to one output per example, in any order:
            question_id, row_ids, column_ids, and selected_tokens or probs, as in
            `predictions.prediction`.
        threshold: a cell counts as chosen if the mean of its selected_tokens (without them, of
            its probs) is above.

    Yields:
        the outputs of `predict`, all first questions first.
    """
    rounds = collections.defaultdict(list)
    for example in examples:
        rounds[parse_question_id(example["question_id"]).position].append(example)
    answers = {}
    for position in sorted(rounds):
        asked = [
            {**example, PREVIOUS: previous_labels(example, answers)} for example in rounds[position]
        ]
        for output in predict(asked):
            interaction = get_interaction_id(output["question_id"])
            answers[interaction] = chosen_cells(output, threshold)
            yield output


def chosen_cells(output: Mapping, threshold: float = 0.5) -> np.ndarray:
    """<int64>[cells]: data cells with a mean above the threshold, each as one number."""
    cells = _cell_numbers(output)
    in_table = cells >= 0
    weights = np.asarray(output.get("selected_tokens", output.get("probs")), np.float64)
    numbers, tokens = np.unique(cells[in_table], return_inverse=True)
    sums = np.bincount(tokens, weights[in_table], minlength=len(numbers))
    counts = np.bincount(tokens, minlength=len(numbers))
    return numbers[sums > threshold * counts]


def previous_labels(example: Mapping, answers: Mapping[str, np.ndarray]) -> np.ndarray:
    """<int32>[tokens]: 1 on the tokens of the cells last chosen in the example's sequence."""
    chosen = answers.get(get_interaction_id(example["question_id"]), np.zeros(0, np.int64))
    return np.isin(_cell_numbers(example), chosen).astype(np.int32)


def _cell_numbers(example):
    """One number per token for its data cell, -1 outside of data cells."""
    rows = np.asarray(example["row_ids"], np.int64)
    columns = np.asarray(example["column_ids"], np.int64)
    return np.where((rows > 0) & (columns > 0), rows << 32 | columns, -1)
