"""Answers to SQuAD: texts from the spans in windows, and their scores.

Exact match and F1 are those of the official evaluation scripts of versions 1.1 and 2.0, as shares.
The scripts differ in the treatment of questions without a prediction. Here these are wrong.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mate_tf.answers import text_match
from mate_tf.answers.text_match import exact_match, normalize_answer
from mate_tf.data.converters import windows
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.interactions import parse_question_id
from mate_tf.evaluation.predictions import Prediction
from mate_tf.files.atomic import write_json
from mate_tf.protos.interaction_pb2 import Interaction, Question


class Answer(NamedTuple):
    """Answer of a model, from all windows of a paragraph.

    Attributes:
        text: text of the best span.
        empty_score: log-probability of no answer minus that of the best span. The first is the
            smallest of all windows, since the answer need not be in all of them. The second is the
            largest of all windows.
    """

    text: str
    empty_score: float

    def given(self, threshold: float) -> str:
        """Returns the text, or "" if `empty_score` is above the threshold."""
        return "" if self.empty_score > threshold else self.text

    @property
    def empty_probability(self) -> float:
        """Probability of no answer, if the best span is the only alternative."""
        return float(1.0 / (1.0 + np.exp(-np.clip(self.empty_score, -500.0, 500.0))))


class Scores(NamedTuple):
    """Exact match and F1 of a question: the largest over its gold answers."""

    exact: float
    f1: float


class Threshold(NamedTuple):
    """The value of `empty_score` above which no answer is given, and the mean score with it."""

    share: float
    value: float


def read_answers(
    interactions: Iterable[Interaction], predicted: Mapping[str, Prediction], offsets: Offsets
) -> dict[str, Answer]:
    """Finds the best span of each question over all of its windows.

    Returns:
        official question id -> answer; questions without a window are left out.
    """
    of_question: dict[str, list[tuple[int, Prediction]]] = {}
    for name, prediction in predicted.items():
        question_id, start = windows.parse_window_id(name)
        of_question.setdefault(question_id, []).append((start, prediction))
    interactions = list(interactions)
    answers = {}
    every_range = offsets.all_ranges(map(windows.text_of, interactions))
    for interaction, ranges in zip(interactions, every_range, strict=True):
        for question in interaction.questions:
            if question.id in of_question:
                text = windows.text_of(interaction)
                answers[official_id(question)] = _answer(of_question[question.id], text, ranges)
    return answers


def _answer(read: Sequence[tuple[int, Prediction]], text: str, ranges: np.ndarray) -> Answer:
    """Returns the best answer of (first token, prediction) pairs; `ranges` <int64>[tokens, 2]."""
    spans = [(start, span) for start, prediction in read for span in prediction.spans[:1]]
    empty = [each.empty_span_log_prob for _, each in read if each.empty_span_log_prob is not None]
    start, best = max(spans, key=lambda each: each[1]["score"])
    first, last = start + best["begin_token_index"], start + best["end_token_index"] - 1
    score = min(empty) - best["score"] if empty else -np.inf
    return Answer(text[ranges[first, 0] : ranges[last, 1]], float(score))


def official_id(question: Question) -> str:
    """Returns the data set's id of a question."""
    return parse_question_id(question.id).example


def scores(question: Question, text: str, *, may_be_empty: bool) -> Scores:
    """Computes exact match and F1 of a text.

    Args:
        question: question with all gold answers.
        text: the answer; "" for no answer.
        may_be_empty: use the rules of version 2.0. Gold answers without words are ignored, no
            answer is right for a question without other gold answers, and two texts without words
            are equal. In version 1.1 their F1 is 0.
    """
    gold = list(question.answer.answer_texts)
    if may_be_empty:
        gold = list(filter(normalize_answer, gold)) or [""]
    exact = [exact_match(each, text) for each in gold]
    f1 = [text_match.f1(each, text) for each in gold if may_be_empty or normalize_answer(each)]
    return Scores(float(max(exact, default=0)), max(f1, default=0.0))


def evaluate(
    interactions: Iterable[Interaction],
    answers: Mapping[str, Answer],
    threshold: float | None = None,
) -> dict[str, float | int | str | tuple[float, int]]:
    """Computes the scores that the official scripts print.

    Args:
        interactions: paragraphs and questions with the gold answers.
        answers: result of `read_answers`.
        threshold: for version 2.0, the `empty_score` above which no answer is given. None for
            version 1.1, in which all questions have an answer.

    Returns:
        exact match, F1: shares.
        exact match, answerable, and F1, answerable: of the questions with an answer, and their
            number. This and the following only in version 2.0.
        unanswerable: accuracy of the questions without an answer, and their number.
        best exact match, best F1, and their thresholds: the largest scores that any threshold
            gives. They are upper bounds, since the threshold is found with the gold answers.
        questions, unanswered: numbers of all questions and of questions without a prediction.
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
    measured: dict[str, Any] = {"exact match": exact, "F1": f1}
    if with_empty:
        answerable = np.array([has_answer(question) for question in questions], bool)
        count = int(answerable.sum())
        exact, f1 = _means(given[answerable])
        measured["exact match, answerable"] = (exact, count)
        measured["F1, answerable"] = (f1, count)
        measured["unanswerable"] = (_means(given[~answerable])[0], len(questions) - count)
        # As in the script, any text is wrong for these, also "the", which is empty if normalized.
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


def has_answer(question: Question) -> bool:
    """Returns True if the paragraph has an answer to the question."""
    return bool(question.answer.answer_texts)


def best_threshold(
    empty_scores: Sequence[float],
    always: Sequence[float] | np.ndarray,
    never: Sequence[float] | np.ndarray,
) -> Threshold:
    """Finds the threshold with the largest mean score; the smallest one of a tie.

    Args:
        empty_scores: <float>[questions]. A question is answered if its score is at most the
            threshold.
        always: <float>[questions], score of a question if it is answered.
        never: <float>[questions], score of a question if no answer is given.

    Returns:
        the mean score, and the threshold: the largest `empty_scores` of an answered question, or
        the float below all of them if no question is answered.
    """
    if not len(empty_scores):
        return Threshold(0.0, 0.0)
    order = np.argsort(empty_scores, kind="stable")
    sorted_scores = np.asarray(empty_scores, float)[order]
    gains = (np.asarray(always, float) - np.asarray(never, float))[order]
    totals = np.sum(never) + np.append(0.0, np.cumsum(gains))
    # Questions with equal scores are either all answered or all not answered.
    possible = np.append(True, np.append(sorted_scores[1:] > sorted_scores[:-1], True))
    best = int(np.argmax(np.where(possible, totals, -np.inf)))
    below = np.nextafter(sorted_scores[0], -np.inf)
    return Threshold(
        float(totals[best] / len(order)), float(sorted_scores[best - 1] if best else below)
    )


def write_predictions(
    answers: Mapping[str, Answer], target: str, threshold: float | None
) -> tuple[str, ...]:
    """Writes files for the official script, atomically.

    <target>.predictions.json has the answers by question id. For version 2.0,
    <target>.na_probs.json has the probabilities of no answer.

    Returns:
        paths of the files.
    """
    limit = np.inf if threshold is None else threshold
    files: dict[str, dict] = {
        "predictions": {name: each.given(limit) for name, each in answers.items()}
    }
    if threshold is not None:
        files["na_probs"] = {name: each.empty_probability for name, each in answers.items()}
    paths = []
    for kind, content in files.items():
        paths.append(f"{os.fspath(target)}.{kind}.json")
        write_json(paths[-1], content, ensure_ascii=False, indent=1)
    return tuple(paths)


def _means(values: np.ndarray) -> tuple[float, float]:
    """Returns the mean of each column of <float>[questions, 2]; 0 if there are no questions."""
    return tuple(values.mean(axis=0).tolist()) if len(values) else (0.0, 0.0)
