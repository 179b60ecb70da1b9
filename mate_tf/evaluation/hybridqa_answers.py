"""Official files and scores of answers to HybridQA.

Exact match and F1 equal those of the data set's official evaluation script, to the last digit. The
script fails for a question without a prediction and for an empty group of questions. Here a missing
prediction is counted and scores 0, and an empty group has the score None.
"""

import collections
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from mate_tf.answers.text_match import exact_match, f1
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.interactions import get_example_id
from mate_tf.errors import InputError
from mate_tf.evaluation.predictions import Prediction
from mate_tf.files.atomic import write_json
from mate_tf.files.json_files import read_json
from mate_tf.protos.interaction_pb2 import Interaction

TABLE, PASSAGE, TOTAL = "table", "passage", "total"


class Scores(NamedTuple):
    """Exact match and F1 of a group of questions, in percent; None for an empty group."""

    exact: float | None
    f1: float | None


class Reference(NamedTuple):
    """Content of the official dev_reference.json.

    Attributes:
        answers: question id -> answer.
        table: ids of questions with an answer in a cell of the table.
        passage: ids of questions with an answer in a passage.
    """

    answers: Mapping[str, str]
    table: Sequence[str]
    passage: Sequence[str]

    def of(self, question_ids: Collection[str]) -> "Reference":
        """Returns the reference of some of the questions only, in the same order."""
        kept = frozenset(question_ids)
        return Reference(
            {name: answer for name, answer in self.answers.items() if name in kept},
            [name for name in self.table if name in kept],
            [name for name in self.passage if name in kept],
        )


def question_scores(
    predicted: Mapping[str, str], reference: Reference
) -> dict[str, tuple[int, float]]:
    """Returns exact match and F1 of every question; both are 0 without a prediction.

    Raises:
        InputError: if there is a prediction for a question that is not in the reference.
    """
    unknown = sorted(predicted.keys() - reference.answers.keys())
    if unknown:
        raise InputError(
            f"{len(unknown)} prediction(s) for questions that are not in the reference, such as "
            f"{unknown[0]!r}"
        )
    return {
        name: (exact_match(answer, predicted[name]), f1(answer, predicted[name]))
        if name in predicted
        else (0, 0.0)
        for name, answer in reference.answers.items()
    }


def evaluate(predicted: Mapping[str, str], reference: Reference) -> dict[str, Any]:
    """Computes the scores that the official script prints.

    Returns:
        "table", "passage", "total" -> Scores; "questions" -> number of questions; "missing" ->
        number of questions without a prediction.

    Raises:
        InputError: see `question_scores`; or if a group of the reference has a question without
            an answer.
    """
    scores = question_scores(predicted, reference)
    groups = {TABLE: reference.table, PASSAGE: reference.passage, TOTAL: list(scores)}
    for name, members in groups.items():
        strange = [member for member in members if member not in scores]
        if strange:
            raise InputError(f"reference: {name}: question {strange[0]!r} has no answer")
    return {
        **{name: _mean([scores[member] for member in group]) for name, group in groups.items()},
        "questions": len(scores),
        "missing": len(scores.keys() - predicted.keys()),
    }


def _mean(scores) -> Scores:
    """Returns the mean of pairs of scores, in percent."""
    if not scores:
        return Scores(None, None)
    # The order of operations is that of the script, so that rounding is the same.
    return Scores(*(100.0 * sum(values) / len(scores) for values in zip(*scores, strict=True)))


def read_reference(path: str | os.PathLike) -> Reference:
    """Reads a dev_reference.json.

    Raises:
        InputError: if the file cannot be read or has another form.
    """
    content = read_json(path)
    try:
        answers = {name: _text(answer) for name, answer in content["reference"].items()}
        return Reference(answers, *([*map(_text, content[key])] for key in (TABLE, PASSAGE)))
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a reference of HybridQA ({error!r})") from error


def write_predictions(answers: Mapping[str, str], path: str | os.PathLike) -> None:
    """Writes a predictions.json for the official script, atomically.

    Raises:
        InputError: if two ids have the same official id.
    """
    entries = [{"question_id": official_id(name), "pred": text} for name, text in answers.items()]
    names = collections.Counter(entry["question_id"] for entry in entries)
    twice = [name for name, number in names.items() if number > 1]
    if twice:
        raise InputError(f"{path}: two answers to question {twice[0]!r}")
    write_json(path, entries, ensure_ascii=False, indent=1)


def official_id(question_id: str) -> str:
    """Returns the data set's id of a question: "4e5f" for "4e5f-0_0" and for "4e5f/2-0_0"."""
    return get_example_id(question_id)


def _text(value) -> str:
    """Returns a str unchanged; raises TypeError for other values."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def read_text(interaction: Interaction, prediction: Prediction | None, offsets: Offsets) -> str:
    """Returns the text of the best span of a prediction; "" if it has no span."""
    if prediction is None or not prediction.spans:
        return ""
    span = prediction.spans[0]
    cell = interaction.table.rows[span["row_index"]].cells[span["column_index"]]
    return offsets.slice(cell.text, span["begin_token_index"], span["end_token_index"])
