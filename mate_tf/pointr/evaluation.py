"""Exact match and F1 of both stages together, by HybridQA's official rules, with intervals."""

import math
import os
import shutil
from collections.abc import Iterable, Mapping

import numpy as np

from mate_tf.data.interactions import get_example_id
from mate_tf.evaluation import calibration, hybridqa_answers
from mate_tf.evaluation.calibration import Calibration
from mate_tf.evaluation.confidence_intervals import mean_interval
from mate_tf.evaluation.hybridqa_answers import PASSAGE, TABLE, TOTAL, Reference
from mate_tf.files.atomic import atomic_path
from mate_tf.pointr.readings import Reading
from mate_tf.protos import interaction_pb2

REFERENCE_FILE = "dev_reference.json"
"""HybridQA's official file with the answers of dev and their sources (table or passage)."""

_TITLES = ("questions", "EM", "EM low", "EM high", "F1", "F1 low", "F1 high")


def keep_reference(input_dir: str, output_dir: str) -> None:
    """Copies the official reference of dev to the examples, if there is one.

    Args:
        input_dir: folder of the official files.
        output_dir: folder of the first stage's interactions and examples.
    """
    source = os.path.join(input_dir, "released_data", REFERENCE_FILE)
    if os.path.isfile(source):
        with atomic_path(os.path.join(output_dir, REFERENCE_FILE)) as temporary:
            shutil.copyfile(source, temporary)


def reference(
    interactions: Iterable[interaction_pb2.Interaction], split: str, output_dir: str
) -> Reference:
    """Returns the gold answers to the questions of a split.

    Args:
        interactions: interactions of the first stage.
        split: name of the split. The groups of "dev" are those of the official reference, if
            `keep_reference` copied it. In all other cases an answer is in group "table" if the
            text of a cell has it.
        output_dir: see `keep_reference`.
    """
    answers, table = {}, []
    for interaction in interactions:
        for question in interaction.questions:
            if question.answer.answer_texts:
                name = get_example_id(question.id)
                answers[name] = question.answer.answer_texts[0]
                if question.alternative_answers[0].answer_coordinates:
                    table.append(name)
    path = os.path.join(output_dir, REFERENCE_FILE)
    if split == "dev" and os.path.exists(path):
        return hybridqa_answers.read_reference(path).of(answers)
    return Reference(answers, table, sorted(answers.keys() - set(table)))


def scores(answers: Mapping[str, str], gold: Reference) -> dict[str, dict[str, float]]:
    """Computes exact match and F1.

    Args:
        answers: question id of the data set -> text. Questions that `gold` lacks are ignored.
        gold: the gold answers.

    Returns:
        group of questions -> {"questions": their number} and, if that is not 0, the shares "EM"
        and "F1" with the bounds of their 95 % intervals ("EM low", "EM high" and so on).
    """
    answered = {name: text for name, text in answers.items() if name in gold.answers}
    each = hybridqa_answers.question_scores(answered, gold)
    official = hybridqa_answers.evaluate(answered, gold)
    groups = {TABLE: gold.table, PASSAGE: gold.passage, TOTAL: list(each)}
    result = {}
    for group, names in groups.items():
        result[group] = {"questions": len(names)}
        if names:
            values = np.array([each[name] for name in names], float).T
            for title, column, share in zip(("EM", "F1"), values, official[group], strict=True):
                interval = mean_interval(column)
                result[group] |= {
                    title: share / 100,
                    f"{title} low": interval.low,
                    f"{title} high": interval.high,
                }
    return result


def calibrate(readings: Mapping[str, Reading], gold: Reference) -> Calibration:
    """Fits the confidence of answers: the share of exact matches among those of a probability.

    Args:
        readings: question id of the data set -> its answer.
        gold: the gold answers.

    Raises:
        InputError: no question has both.
    """
    names = [name for name in gold.answers if name in readings]
    right = hybridqa_answers.question_scores({name: readings[name].text for name in names}, gold)
    probabilities = [math.exp(readings[name].log_probability) for name in names]
    return calibration.fit(probabilities, [right[name][0] == 1 for name in names])


def columns(groups: Mapping[str, Mapping[str, float]]) -> dict[str, dict]:
    """Transposes `scores` for `metrics.comparison`: a column per metric, a row per group."""
    return {
        title: {group: values.get(title) for group, values in groups.items()} for title in _TITLES
    }
