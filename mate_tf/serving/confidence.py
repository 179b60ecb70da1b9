"""Confidence of answers: fitted to questions with known answers, kept next to the weights."""

import dataclasses
import os
import random
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from absl import logging

from mate_tf.checkpoints.latest import latest
from mate_tf.data import interactions as data
from mate_tf.evaluation import calibration as calibrations
from mate_tf.evaluation import unanswerable
from mate_tf.evaluation.associations import Associations, share_of_words
from mate_tf.evaluation.calibration import Calibration
from mate_tf.files.atomic import write_json
from mate_tf.serving import export_files, names
from mate_tf.serving.model_folder import Kind, Source

if TYPE_CHECKING:
    from mate_tf.evaluation.predictions import Interactions, Judge

NUM_UNANSWERABLE = 500
"""Unanswerable questions that are made for the threshold."""

MOST_QUESTIONS = 2000
"""Questions that a calibration is fitted to; of more, interactions at equal distances are used."""


class Group(NamedTuple):
    """Inputs of the confidence, for the answers to some questions.

    Attributes:
        probabilities: <float64>[questions], of the answers; see `score`.
        shared: <float64>[questions], shares of the questions' words that their tables have.
    """

    probabilities: np.ndarray
    shared: np.ndarray

    def confidences(self, fitted: Calibration) -> np.ndarray:
        """Computes the confidences, <float64>[questions], by a calibration."""
        return fitted.confidence(self.probabilities, self.shared)

    def has_answer(self, fitted: Calibration) -> np.ndarray:
        """Computes the probabilities that the tables have an answer, <float64>[questions]."""
        return fitted.has_answer(self.probabilities, self.shared)


class ScoredAnswers(NamedTuple):
    """Answers of a model to questions of a data set, and to made unanswerable ones.

    Attributes:
        asked: the questions of the data set.
        right: <bool>[questions], true for right answers to them.
        own: those of the questions that were also asked about other tables.
        other: the same questions about other tables, which do not answer them.
        associations: words of column names that go with a word of a question, which the shares of
            words are computed with.
        exchanged: whether `other` has questions with an exchanged word about their own tables.
    """

    asked: Group
    right: np.ndarray
    own: Group
    other: Group
    associations: Associations = types.MappingProxyType({})
    exchanged: bool = False

    def part(self, index: int) -> "ScoredAnswers":
        """Returns every other question, from number `index`, 0 or 1."""

        def halved(group):
            return Group(*(values[index::2] for values in group))

        return self._replace(
            asked=halved(self.asked),
            right=self.right[index::2],
            own=halved(self.own),
            other=halved(self.other),
        )


def score(probability: float, outputs: dict[str, np.ndarray]) -> float:
    """Computes the probability that a confidence is made of.

    Args:
        probability: `Answer.probability`, of the cells or the class.
        outputs: outputs of `ServingModule.serving_examples` for one example, without batch axis.
            If the model aggregates, the largest of aggregation_probabilities <float32>[operations]
            is a factor.
    """
    operations = outputs.get("aggregation_probabilities")
    return probability if operations is None else probability * float(np.max(operations))


def scored(
    predictor,
    interactions: "Interactions",
    is_right: "Judge",
    sequential: bool = False,
    count: int = NUM_UNANSWERABLE,
    seed: int = 0,
    associations: Associations | None = None,
) -> ScoredAnswers:
    """Asks a model the questions of a data set, and makes some of them unanswerable.

    These are about other tables or, if all share column names, have a word exchanged.

    Args:
        predictor: a `Predictor`.
        interactions: tables, questions and their answers.
        is_right: function that judges an answer.
        sequential: whether a question may refer to the answer of the previous question.
        count: number of questions about other tables.
        seed: seed of the draw of these questions and tables.
        associations: of the training questions, see `associations.count`; None: without any.

    Raises:
        InputError: if no question can be asked, or none can be made unanswerable.
    """
    # Not for answers, which only need `find` and `score`.
    from mate_tf.serving import dataset_answers

    uncalibrated = predictor.with_calibration(Calibration(), reading={})
    answered, right = _asked(uncalibrated, _sample(interactions), is_right, sequential)
    pairs = unanswerable.mismatches(
        interactions, count, seed, first_questions=sequential, exchange=names.exchanged
    )
    tables = {id(each): data.table_of(each) for pair in pairs for each in (pair.own, pair.other)}
    own = [(tables[id(pair.own)], pair.question.original_text, None) for pair in pairs]
    other = [(tables[id(pair.other)], pair.asked, None) for pair in pairs]
    known = {name: answer for name, (_, _, before), answer in answered if before is None}
    ids = [pair.question.id for pair in pairs]
    unknown = [each for each, name in zip(own, ids, strict=True) if name not in known]
    scores = iter(dataset_answers.answers(uncalibrated, unknown))
    of_own = [known[name] if name in known else next(scores) for name in ids]
    answers = zip(own, of_own, other, dataset_answers.answers(uncalibrated, other), strict=True)
    both = [each for each in answers if None not in each]
    associations = associations or {}
    return ScoredAnswers(
        _group([each[1:] for each in answered], associations),
        right,
        _group([each[:2] for each in both], associations),
        _group([each[2:] for each in both], associations),
        associations,
        exchanged=any(pair.exchanged is not None for pair in pairs),
    )


def fit(answers: ScoredAnswers, weights: str = "") -> Calibration:
    """Fits a calibration to the answers; those to unanswerable questions are all wrong.

    The probability that a table has an answer is fitted to the questions that were asked about
    both tables.

    Args:
        answers: the answers.
        weights: name of the checkpoint.

    Raises:
        InputError: if there are no answers.
    """
    fitted = calibrations.fit(
        np.concatenate([answers.asked.probabilities, answers.other.probabilities]),
        np.concatenate([answers.right, np.zeros(len(answers.other.shared), bool)]),
        np.concatenate([answers.asked.shared, answers.other.shared]),
    )
    both = (answers.own, answers.other)
    of_table = calibrations.fit(
        np.concatenate([group.probabilities for group in both]),
        np.repeat([True, False], [len(group.shared) for group in both]),
        np.concatenate([group.shared for group in both]),
    )
    threshold = calibrations.choose_threshold(*(group.confidences(of_table) for group in both))
    fitted = fitted.with_table(of_table, threshold)
    return dataclasses.replace(fitted, weights=weights, associations=dict(answers.associations))


def with_unknown_names(
    predictor,
    fitted: Calibration,
    interactions: "Interactions",
    count: int = NUM_UNANSWERABLE,
    seed: int = 0,
) -> Calibration:
    """Fits `Calibration.unknown_names` to questions with a name that is exchanged.

    A word that is in the table is replaced by one of another table, so that it has no answer.

    Args:
        predictor: a `Predictor`.
        fitted: the calibration without names.
        interactions: tables and questions.
        count: number of questions.
        seed: seed of the draws.

    Returns:
        the calibration with names; as it is if no question has one.
    """
    from mate_tf.serving import dataset_answers

    draw = random.Random(seed)
    questions = [(each, each.questions[0].original_text) for each in interactions if each.questions]
    draw.shuffle(questions)
    pairs, answerable = [], []
    for interaction, text in questions[:count]:
        table = data.table_of(interaction)
        words = unanswerable.table_words(table)
        others = unanswerable.table_words(data.table_of(draw.choice(interactions))) - words
        changed = names.exchanged(text, words, sorted(others), draw)
        for asked in (text, changed) if changed else (text,):
            pairs.append((table, asked, None))
            answerable.append(asked is text)
    plain = dataclasses.replace(fitted, unknown_names=0.0)
    answers = dataset_answers.answers(predictor.with_calibration(Calibration(), reading={}), pairs)
    odds, unknown = [], []
    for (table, text, _), answer in zip(pairs, answers, strict=True):
        words = unanswerable.table_words(table)
        shared = share_of_words(text, words, fitted.associations)
        raw = 0.0 if answer is None else answer.confidence
        odds.append(calibrations.log_odds(plain.has_answer(raw, shared)))
        unknown.append(min(len(names.unknown(text, words, fitted.associations)), names.MOST))
    if all(answerable):
        return fitted
    weight = calibrations.fit_unknown_names(odds, unknown, answerable)
    return dataclasses.replace(fitted, unknown_names=weight)


def report(answers: ScoredAnswers, fitted: Calibration) -> dict[str, float | int | str]:
    """Computes what a calibration changes, as rows of `metrics.comparison`.

    Returns:
        questions: their number; right: share of right answers.
        questions about other tables, or with an exchanged word: their number; all are wrong.
        calibration error before: that of the probabilities of all these answers.
        calibration error after: that of the confidences, each fitted to the other half of them.
        own table only, before; own table only, after: the same without the other tables.
        AUROC of the confidence: for questions about their own table and about another one.
        AUROC of "has an answer": the same for the probability that the table has one.
        own table, answered; other table, refused: shares by the threshold.
        all questions, answered: the same for all questions of the data set, also later ones of
            conversations.
        temperature, bias, overlap, threshold: the values.

    Raises:
        InputError: if there are fewer than two questions.
    """
    error = calibrations.expected_calibration_error
    asked, wrong = np.empty(len(answers.right)), np.empty(len(answers.other.shared))
    for index in (0, 1):
        part, of_the_others = answers.part(index), fit(answers.part(1 - index))
        asked[index::2] = part.asked.confidences(of_the_others)
        wrong[index::2] = part.other.confidences(of_the_others)
    before = np.concatenate([answers.asked.probabilities, answers.other.probabilities])
    right = np.concatenate([answers.right, np.zeros(len(wrong), bool)])
    own, other = (group.has_answer(fitted) for group in (answers.own, answers.other))
    sure, unsure = (group.confidences(fitted) for group in (answers.own, answers.other))
    return {
        "questions": len(answers.right),
        "right": float(answers.right.mean()),
        unanswerable.KINDS[answers.exchanged]: len(other),
        "calibration error before": error(before, right),
        "calibration error after": error(np.concatenate([asked, wrong]), right),
        "own table only, before": error(answers.asked.probabilities, answers.right),
        "own table only, after": error(asked, answers.right),
        "AUROC of the confidence": calibrations.auroc(sure, unsure),
        'AUROC of "has an answer"': calibrations.auroc(own, other),
        "own table, answered": float(np.mean(own >= fitted.threshold)),
        "other table, refused": float(np.mean(other < fitted.threshold)),
        "all questions, answered": float(
            np.mean(answers.asked.has_answer(fitted) >= fitted.threshold)
        ),
        "temperature": f"{fitted.temperature:.2f}",
        "bias": f"{fitted.bias:.2f}",
        "overlap": f"{fitted.overlap:.2f}",
        "threshold": fitted.threshold,
    }


def write(folder: str | os.PathLike, fitted: Calibration, measured: dict | None = None) -> str:
    """Writes the file of a calibration into a folder; returns its path.

    Args:
        folder: folder of the weights or of an export.
        fitted: the calibration.
        measured: what was measured with it, for the reader of the file.
    """
    path = os.path.join(folder, calibrations.FILE)
    content = dataclasses.asdict(fitted)
    write_json(path, content | {"measured": measured} if measured else content)
    return path


def find(folder: str | os.PathLike, weights: str = "") -> Calibration | None:
    """Reads the calibration in a folder; None if there is none or it is of other weights.

    Args:
        folder: folder of the weights or of an export.
        weights: name of the checkpoint that is used; "" if unknown.

    Raises:
        InputError: if the file cannot be used.
    """
    path = os.path.join(folder, calibrations.FILE)
    if not os.path.isfile(path):
        return None
    calibration = calibrations.read(path)
    if calibration.weights and weights and calibration.weights != weights:
        logging.warning(
            "%s: is of %s, not of %s, so answers have no confidence; --calibrate fits it again",
            path,
            calibration.weights,
            weights,
        )
        return None
    return calibration


def read(source: Source) -> Calibration | None:
    """Reads the calibration of a trained model; None if there is none or it is of other weights.

    Args:
        source: the model.

    Raises:
        InputError: if the file cannot be used.
    """
    if source.kind is Kind.EXPORT:
        return find(export_files.extras_dir(source.folder))
    if os.path.isdir(source.checkpoint):
        return find(source.folder, latest_weights(source.folder))
    return find(source.folder, os.path.basename(source.checkpoint).removesuffix(".index"))


def latest_weights(model_dir: str) -> str:
    """Returns the name of the last checkpoint in a folder, such as "ckpt-7"; "" without one."""
    return os.path.basename(latest(model_dir) or "")


def _sample(interactions: "Interactions") -> "Interactions":
    questions = sum(len(each.questions) for each in interactions)
    return interactions[:: max(1, -(-questions // MOST_QUESTIONS))]


def _asked(predictor, interactions, is_right, sequential):
    """Asks the questions of interactions.

    Returns:
        question id, (table, question, previous answer) and answer of each question.
        <bool>[questions], whether the answers are right.
    """
    from mate_tf.serving import dataset_answers

    answered, right = [], []
    for each in dataset_answers.ask(
        predictor, interactions, dataset_answers.OWN if sequential else None
    ):
        if each.answer is None:
            continue
        name = each.question.id
        answered.append(
            (name, (each.table, each.question.original_text, each.previous), each.answer)
        )
        made = dataset_answers.prediction(name, each.answer, predictor.class_names)
        right.append(is_right(each.interaction, each.question, made))
    return answered, np.array(right, bool)


def _group(answered: Sequence[tuple], associations: Associations) -> Group:
    """Returns the group of pairs of (table, question, previous answer) and the answer."""
    shared = [
        unanswerable.shared_words(text, table, associations) for (table, text, _), _ in answered
    ]
    return Group(
        np.array([answer.confidence for _, answer in answered], np.float64),
        np.array(shared, np.float64),
    )
