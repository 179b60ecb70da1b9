"""Predicts questions that refer to the previous answer, with the model's own previous answers.

Training examples have the gold answer of the previous question in `prev_label_ids`. Here it is
replaced by the predicted answer, position by position: all first questions are predicted in
batches, then all second questions with the cells selected for the first ones, and so on.
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
    marked: bool = False,
) -> Iterator[Mapping]:
    """Predicts all questions, each with the model's answer to the previous question.

    If the conversion dropped the previous question, the last one with an example is used. The first
    question of an interaction has no previous answer.

    Args:
        examples: dicts with question_id, row_ids and column_ids <int>[tokens], and the other
            inputs of `predict`. prev_label_ids is replaced in a copy.
        predict: function from examples of one position to one output per example, in any order,
            with question_id, row_ids, column_ids, and selected_tokens or probs, as in
            `predictions.prediction`.
        threshold: a cell is selected if the mean of its selected_tokens (or without them, of its
            probs) is above the threshold.
        marked: see `previous_labels`.

    Yields:
        outputs of `predict`, those of all first questions first.
    """
    rounds = collections.defaultdict(list)
    for example in examples:
        rounds[parse_question_id(example["question_id"]).position].append(example)
    answers = {}
    for position in sorted(rounds):
        inputs = [
            {**example, PREVIOUS: previous_labels(example, answers, marked)}
            for example in rounds[position]
        ]
        for output in predict(inputs):
            interaction = get_interaction_id(output["question_id"])
            answers[interaction] = chosen_cells(output, threshold)
            yield output


def chosen_cells(output: Mapping, threshold: float = 0.5) -> np.ndarray:
    """Returns <int64>[cells]: numbers of the data cells with a mean above the threshold."""
    cells = _cell_numbers(output)
    in_table = cells >= 0
    weights = np.asarray(output.get("selected_tokens", output.get("probs")), np.float64)
    numbers, tokens = np.unique(cells[in_table], return_inverse=True)
    sums = np.bincount(tokens, weights[in_table], minlength=len(numbers))
    counts = np.bincount(tokens, minlength=len(numbers))
    return numbers[sums > threshold * counts]


def previous_labels(
    example: Mapping, answers: Mapping[str, np.ndarray], marked: bool = False
) -> np.ndarray:
    """Returns <int32>[tokens]: 1 for the tokens of the previous answer's cells.

    Args:
        example: dict with question_id, row_ids and column_ids <int>[tokens]. If `marked`, with
            prev_label_ids too.
        answers: interaction id -> result of `chosen_cells` for the previous question.
        marked: return 2 for these tokens, plus 1 for the shared words that prev_label_ids marks
            (`mark_previous` of the ConversionConfig).
    """
    chosen = answers.get(get_interaction_id(example["question_id"]), np.zeros(0, np.int64))
    labels = np.isin(_cell_numbers(example), chosen).astype(np.int32)
    if not marked:
        return labels
    return np.asarray(example[PREVIOUS], np.int32) % 2 + 2 * labels


def _cell_numbers(example):
    """Returns <int64>[tokens]: a number for the data cell of each token, -1 outside of them."""
    rows = np.asarray(example["row_ids"], np.int64)
    columns = np.asarray(example["column_ids"], np.int64)
    return np.where((rows > 0) & (columns > 0), rows << 32 | columns, -1)
