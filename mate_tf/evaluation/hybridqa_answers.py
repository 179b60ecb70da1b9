"""Answers to HybridQA: from read spans to texts, and how right the texts are.

Exact match and F1 are those of the data set's official evaluation script, to the last digit. Where
the script fails, on a question without a prediction or an empty group of questions, there is a
number of missing predictions (each scores 0) and no score.
"""

import collections
import json
import math
import os
import pathlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.answers.text_match import exact_match, f1
from mate_tf.data.interactions import get_example_id
from mate_tf.data.offsets import Offsets
from mate_tf.errors import InputError
from mate_tf.evaluation.predictions import Prediction
from mate_tf.files.atomic import write_json
from mate_tf.protos import interaction_pb2

FIRST, PRODUCT = "first", "product"
POLICIES = (FIRST, PRODUCT)
"""Which of several read cells gives the answer; see `choose`."""

TABLE, PASSAGE, TOTAL = "table", "passage", "total"


class Reading(NamedTuple):
    """What the second stage says about one cell that the first stage has chosen.

    Attributes:
        text: the best span, as it is written in the cell or passage; "" if there is none.
        cell_probability: P(cell), from the first stage.
        span_log_probability: log P(span | cell), from the second.
        cell: (row, column) in the whole table.
    """

    text: str
    cell_probability: float = 1.0
    span_log_probability: float = 0.0
    cell: tuple[int, int] | None = None

    @property
    def log_probability(self) -> float:
        """log(P(cell) * P(span | cell)); minus infinity for a cell that is impossible."""
        if self.cell_probability <= 0:
            return -math.inf
        return math.log(self.cell_probability) + self.span_log_probability


class Scores(NamedTuple):
    """Exact match and F1 of a group of questions, in percent; None for an empty group."""

    exact: float | None
    f1: float | None


class Reference(NamedTuple):
    """The official dev_reference.json.

    Attributes:
        answers: question id -> answer.
        table: ids of questions whose answer is a cell of the table.
        passage: ids of questions whose answer is in a passage.
    """

    answers: Mapping[str, str]
    table: Sequence[str]
    passage: Sequence[str]

    def of(self, question_ids: Collection[str]) -> "Reference":
        """Cut down to some of the questions, in the same order."""
        kept = frozenset(question_ids)
        return Reference(
            {name: answer for name, answer in self.answers.items() if name in kept},
            [name for name in self.table if name in kept],
            [name for name in self.passage if name in kept],
        )


def choose(readings: Sequence[Reading], policy: str = FIRST) -> Reading | None:
    """The reading that answers the question.

    Args:
        readings: by the first stage's order, its best cell first.
        policy: "first" takes the best cell (paper, section 4.2); "product" the largest
            P(cell) * P(span | cell), the first of equal ones.

    Returns:
        one of them; None if there are none.

    Raises:
        InputError: unknown policy.
    """
    if policy not in POLICIES:
        raise InputError(f"policy {policy!r} is none of {', '.join(POLICIES)}")
    if not readings or policy == FIRST:
        return readings[0] if readings else None
    return max(readings, key=lambda reading: reading.log_probability)


def question_scores(
    predicted: Mapping[str, str], reference: Reference
) -> dict[str, tuple[int, float]]:
    """Exact match and F1 of every question of the reference; without a prediction both are 0.

    Args:
        predicted: question id -> answer.
        reference: the right answers.

    Raises:
        InputError: a prediction for a question that is not in the reference.
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


def evaluate(predicted: Mapping[str, str], reference: Reference) -> dict[str, Scores | int]:
    """What the official script prints.

    Args:
        predicted: question id -> answer.
        reference: the right answers.

    Returns:
        "table", "passage", "total" -> Scores; "questions" -> how many there are; "missing" -> how
        many of them have no prediction.

    Raises:
        InputError: as `question_scores`; or the reference groups a question that it does not have.
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
    if not scores:
        return Scores(None, None)
    # In the order and form of the script, so that rounding is the same.
    return Scores(*(100.0 * sum(values) / len(scores) for values in zip(*scores, strict=True)))


def read_reference(path: str | os.PathLike) -> Reference:
    """A dev_reference.json.

    Raises:
        InputError: the file cannot be read or is of another form.
    """
    content = _read_json(path)
    try:
        answers = {name: _text(answer) for name, answer in content["reference"].items()}
        return Reference(answers, *([*map(_text, content[key])] for key in (TABLE, PASSAGE)))
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a reference of HybridQA ({error!r})") from error


def read_predictions(path: str | os.PathLike) -> dict[str, str]:
    """A predictions.json, as the official script reads it: question id -> answer.

    Raises:
        InputError: the file cannot be read, is of another form, or has two answers to a question
            (the script would take the last).
    """
    answers = {}
    content = _read_json(path)
    if not isinstance(content, list):
        raise InputError(f"{path}: not a list of predictions")
    for index, entry in enumerate(content):
        try:
            name, answer = _text(entry["question_id"]), _text(entry["pred"])
        except (KeyError, TypeError) as error:
            raise InputError(f"{path}: entry {index} is no prediction ({error!r})") from error
        if name in answers:
            raise InputError(f"{path}: entry {index}: a second answer to question {name!r}")
        answers[name] = answer
    return answers


def write_predictions(answers: Mapping[str, str], path: str | os.PathLike) -> None:
    """Writes a predictions.json for the official script, whole or not at all.

    Args:
        answers: question id -> answer; of ids such as "4e5f-0_0", the data set's part is written.
        path: the file.

    Raises:
        InputError: two ids are of the same question.
    """
    entries = [{"question_id": official_id(name), "pred": text} for name, text in answers.items()]
    names = collections.Counter(entry["question_id"] for entry in entries)
    twice = [name for name, number in names.items() if number > 1]
    if twice:
        raise InputError(f"{path}: two answers to question {twice[0]!r}")
    write_json(path, entries, ensure_ascii=False, indent=1)


def official_id(question_id: str) -> str:
    """The data set's id of a question: "4e5f" of "4e5f-0_0" and of "4e5f/2-0_0"."""
    return get_example_id(question_id)


def _text(value) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _read_json(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error})") from error


def span_in_text(output: Mapping, ranges: np.ndarray) -> tuple[int, int]:
    """Characters of the best span within the text of the only cell of a table.

    Args:
        output: of the second stage's model for one example: pred_span <int32>[2], the first and
            last token, and row_ids <int32>[seq].
        ranges: <int64>[tokens, 2], characters of the cell's tokens (`data.offsets`). Of those, the
            sequence has the first ones.

    Returns:
        begin and end, exclusive; both 0 if the best span is not in the cell.
    """
    first, last = np.asarray(output["pred_span"]).tolist()
    in_cell = np.asarray(output["row_ids"]) > 0
    if not in_cell[first]:
        return 0, 0
    start = int(np.argmax(in_cell))
    return int(ranges[first - start, 0]), int(ranges[last - start, 1])


def read_text(
    interaction: interaction_pb2.Interaction, prediction: Prediction | None, offsets: Offsets
) -> str:
    """The best span of a prediction, as it is written in its cell; "" if there is none.

    Args:
        interaction: of the second stage.
        prediction: of one of its questions.
        offsets: of the tokenizer that made the example.
    """
    if prediction is None or not prediction.spans:
        return ""
    span = prediction.spans[0]
    cell = interaction.table.rows[span["row_index"]].cells[span["column_index"]]
    return offsets.slice(cell.text, span["begin_token_index"], span["end_token_index"])


def by_question(readings: Iterable[tuple[str, Reading]]) -> dict[str, list[Reading]]:
    """Readings of single cells put together by the data set's question ids.

    Args:
        readings: (question id of the second stage, its reading); "4e5f/2-0_0" is of the third
            cell of question "4e5f".

    Returns:
        question id -> its readings in the order of the cells, the best first.
    """
    found = collections.defaultdict(dict)
    for question_id, reading in readings:
        found[official_id(question_id)][rank(question_id)] = reading
    return {name: [readings[each] for each in sorted(readings)] for name, readings in found.items()}


def rank(question_id: str) -> int:
    """Which table of its question the second stage's id is about: 2 of "4e5f/2-0_0".

    Raises:
        InputError: the id is not one of the second stage.
    """
    match = re.fullmatch(r".+/(\d+)-[^-]+_\d+", question_id, re.DOTALL)
    if match is None:
        raise InputError(f"question id {question_id!r} is not <question>/<k>-0_0")
    return int(match[1])
