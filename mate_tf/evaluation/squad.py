"""Answers to SQuAD: from spans in windows to texts, and how right the texts are.

Exact match and F1 are those of the official evaluation scripts of version 1.1 and 2.0, as shares.
The scripts differ in what they do with questions without a prediction; here these are wrong.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.answers import text_match
from mate_tf.answers.text_match import exact_match, normalize_answer
from mate_tf.data.converters import windows
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.interactions import parse_question_id
from mate_tf.evaluation.predictions import Prediction
from mate_tf.files.atomic import write_json
from mate_tf.protos import interaction_pb2


class Answer(NamedTuple):
    """What a model reads in all windows of a text.

    Attributes:
        text: the best span, as it is written in the text.
        empty_score: by how much the logarithm of the probability that there is no answer is above
            that of the best span: the least among the windows, since the answer need not be in all
            of them, minus the largest.
    """

    text: str
    empty_score: float

    def given(self, threshold: float) -> str:
        """The text, or "" if the score is above the threshold."""
        return "" if self.empty_score > threshold else self.text

    @property
    def empty_probability(self) -> float:
        """Of no answer, among it and the best span."""
        return float(1.0 / (1.0 + np.exp(-np.clip(self.empty_score, -500.0, 500.0))))


class Scores(NamedTuple):
    """Exact match and F1 of a question, of the best of its gold answers."""

    exact: float
    f1: float


class Threshold(NamedTuple):
    """The score above which no answer is given, and the share that is right with it."""

    share: float
    value: float


def read_answers(
    interactions: Iterable[interaction_pb2.Interaction],
    predicted: Mapping[str, Prediction],
    offsets: Offsets,
) -> dict[str, Answer]:
    """The best span over all windows of each question.

    Args:
        interactions: paragraphs and questions about them (`data.datasets.squad`).
        predicted: predictions by the ids of windows (`data.converters.windows`).
        offsets: of the tokenizer that made the windows.

    Returns:
        the data set's question id -> answer; questions without a window are left out.
    """
    of_question: dict[str, list[tuple[int, Prediction]]] = {}
    for name, prediction in predicted.items():
        question_id, start = windows.parse_window_id(name)
        of_question.setdefault(question_id, []).append((start, prediction))
    interactions = list(interactions)
    found = {}
    every_range = offsets.all_ranges(map(windows.text_of, interactions))
    for interaction, ranges in zip(interactions, every_range, strict=True):
        for question in interaction.questions:
            if question.id in of_question:
                text = windows.text_of(interaction)
                found[official_id(question)] = _answer(of_question[question.id], text, ranges)
    return found


def _answer(read: Sequence[tuple[int, Prediction]], text: str, ranges: np.ndarray) -> Answer:
    spans = [(start, span) for start, prediction in read for span in prediction.spans[:1]]
    empty = [each.empty_span_log_prob for _, each in read if each.empty_span_log_prob is not None]
    start, best = max(spans, key=lambda each: each[1]["score"])
    first, last = start + best["begin_token_index"], start + best["end_token_index"] - 1
    score = min(empty) - best["score"] if empty else -np.inf
    return Answer(text[ranges[first, 0] : ranges[last, 1]], float(score))


def official_id(question: interaction_pb2.Question) -> str:
    """The data set's id of a question."""
    return parse_question_id(question.id).example


def scores(question: interaction_pb2.Question, text: str, *, may_be_empty: bool) -> Scores:
    """How right a text is.

    Args:
        question: with all gold answers.
        text: "" for no answer.
        may_be_empty: as the script of version 2.0 has it: gold answers without words do not count,
            a question that has no other is answered rightly by nothing, and two texts without words
            are the same. In version 1.1 their F1 is 0.
    """
    gold = list(question.answer.answer_texts)
    if may_be_empty:
        gold = list(filter(normalize_answer, gold)) or [""]
    exact = [exact_match(each, text) for each in gold]
    f1 = [text_match.f1(each, text) for each in gold if may_be_empty or normalize_answer(each)]
    return Scores(float(max(exact, default=0)), max(f1, default=0.0))


def evaluate(
    interactions: Iterable[interaction_pb2.Interaction],
    answers: Mapping[str, Answer],
    threshold: float | None = None,
) -> dict[str, float | int | str | tuple[float, int]]:
    """What the official scripts print.

    Args:
        interactions: paragraphs and questions with the gold answers.
        answers: `read_answers`.
        threshold: of version 2.0, the score above which no answer is given; None in version 1.1:
            there is always one.

    Returns:
        exact match, F1: shares.
        In version 2.0 the same of questions with an answer and their number, the accuracy of those
        without one, and the best thresholds with what they would give. These are found with the
        gold answers, and say what a model could do rather than what it does.
        questions, unanswered: number of questions, and of those without a prediction.
    """
    questions = [question for each in interactions for question in each.questions]
    with_empty = threshold is not None
    ids = [official_id(question) for question in questions]

    def scored(limit):
        return np.array(
            [
                scores(question, answers[name].given(limit), may_be_empty=with_empty)
                if name in answers
                else Scores(0.0, 0.0)
                for name, question in zip(ids, questions, strict=True)
            ]
        ).reshape(-1, 2)

    given = scored(threshold if with_empty else np.inf)
    exact, f1 = _means(given)
    measured = {"exact match": exact, "F1": f1}
    if with_empty:
        answerable = np.array([has_answer(question) for question in questions], bool)
        count = int(answerable.sum())
        exact, f1 = _means(given[answerable])
        measured["exact match, answerable"] = (exact, count)
        measured["F1, answerable"] = (f1, count)
        measured["unanswerable"] = (_means(given[~answerable])[0], len(questions) - count)
        # As in the script any text is wrong here, also "the", which is no word.
        always = scored(np.inf) * answerable[:, np.newaxis]
        never = ~answerable & np.array([name in answers for name in ids], bool)
        empty_scores = [answers[name].empty_score if name in answers else np.inf for name in ids]
        for index, name in enumerate(("exact match", "F1")):
            best = best_threshold(empty_scores, always[:, index], never)
            measured[f"best {name}"] = best.share
            measured[f"threshold of the best {name}"] = f"{best.value:.4f}"
    return measured | {
        "questions": len(questions),
        "unanswered": sum(name not in answers for name in ids),
    }


def has_answer(question: interaction_pb2.Question) -> bool:
    """Whether the text answers the question."""
    return bool(question.answer.answer_texts)


def best_threshold(
    empty_scores: Sequence[float], always: Sequence[float], never: Sequence[float]
) -> Threshold:
    """The threshold with the largest mean, the least one of several.

    Args:
        empty_scores: of each question; it is answered if its score is not above the threshold.
        always: what each question's answer scores.
        never: what no answer scores.

    Returns:
        the mean score, and the threshold: the largest score of a question that is answered, or
        just below the least one if none is.
    """
    if not len(empty_scores):
        return Threshold(0.0, 0.0)
    order = np.argsort(empty_scores, kind="stable")
    sorted_scores = np.asarray(empty_scores, float)[order]
    gains = (np.asarray(always, float) - np.asarray(never, float))[order]
    totals = np.sum(never) + np.append(0.0, np.cumsum(gains))
    # Of questions with the same score all are answered or none.
    possible = np.append(True, np.append(sorted_scores[1:] > sorted_scores[:-1], True))
    best = int(np.argmax(np.where(possible, totals, -np.inf)))
    below = np.nextafter(sorted_scores[0], -np.inf)
    return Threshold(
        float(totals[best] / len(order)), float(sorted_scores[best - 1] if best else below)
    )


def write_predictions(
    answers: Mapping[str, Answer], target: str, threshold: float | None
) -> tuple[str, ...]:
    """Writes files for the official script, each whole or not at all.

    Args:
        answers: `read_answers`.
        target: <target>.predictions.json has the answers by question id and, in version 2.0,
            <target>.na_probs.json the probabilities that there is none.
        threshold: as of `evaluate`.

    Returns:
        paths of the files.
    """
    limit = np.inf if threshold is None else threshold
    files = {"predictions": {name: each.given(limit) for name, each in answers.items()}}
    if threshold is not None:
        files["na_probs"] = {name: each.empty_probability for name, each in answers.items()}
    paths = []
    for kind, content in files.items():
        paths.append(f"{os.fspath(target)}.{kind}.json")
        write_json(paths[-1], content, ensure_ascii=False, indent=1)
    return tuple(paths)


def _means(values: np.ndarray) -> tuple[float, float]:
    """<float>[questions, 2] -> the mean of each column; 0 of none."""
    return tuple(values.mean(axis=0).tolist()) if len(values) else (0.0, 0.0)
