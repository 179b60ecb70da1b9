"""--task=POINTR --mode=predict_and_evaluate: Hits of the first stage, EM and F1 of both."""

import os
import shutil

import numpy as np

from mate_tf.cli import predict_and_evaluate as single
from mate_tf.cli.predict_pointr import predict
from mate_tf.data import records
from mate_tf.data.create_data import interactions_path
from mate_tf.data.interactions import get_example_id
from mate_tf.evaluation import hybridqa_answers, metrics
from mate_tf.evaluation.bootstrap import mean_interval
from mate_tf.evaluation.hybridqa_answers import PASSAGE, TABLE, TOTAL, Reference
from mate_tf.files.atomic import atomic_path, write_json

REFERENCE_FILE = "dev_reference.json"
"""The official file of dev's answers and where they are."""


def predict_and_evaluate(pipeline) -> dict[str, dict]:
    """Predicts with both stages and prints how good they are; writes metrics.json.

    Exact match and F1 are the official evaluator's, over the questions whose table is there; the
    groups are those of the official reference for dev if create_data found it, otherwise by
    whether the answer is in a cell's own text.

    Args:
        pipeline: a `mate_tf.cli.pointr.Pipeline`.

    Returns:
        split -> group of questions -> exact match, F1 (shares), and the ends of their 95 %
        intervals.
    """
    predicted = predict(pipeline)
    single.score(
        pipeline.point, {split: [*each.cells.values()] for split, each in predicted.items()}
    )
    results = {}
    for split, found in predicted.items():
        reference = _reference(pipeline.point.output_dir, split)
        if not reference.answers:
            continue  # hidden
        results[split] = _scores(found.answers, reference)
        print(f"\n{split}: POINTR, {len(reference.answers)} questions")
        print(metrics.comparison(_columns(results[split])))
    path = os.path.join(pipeline.model_dir, "metrics.json")
    write_json(path, results)
    print(f"\nevaluated | {path}")
    return results


def keep_reference(job) -> None:
    """Puts the official reference of dev beside the examples, if there is one."""
    source = os.path.join(job.input_dir, "released_data", REFERENCE_FILE)
    if os.path.isfile(source):
        with atomic_path(os.path.join(job.output_dir, REFERENCE_FILE)) as temporary:
            shutil.copyfile(source, temporary)


def _reference(output_dir: str, split: str) -> Reference:
    """The right answers to the questions of a split."""
    answers, table = {}, []
    for interaction in records.read_interactions(interactions_path(output_dir, split)):
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


def _scores(answers, reference: Reference) -> dict[str, dict[str, float]]:
    answered = {name: text for name, text in answers.items() if name in reference.answers}
    each = hybridqa_answers.question_scores(answered, reference)
    official = hybridqa_answers.evaluate(answered, reference)
    groups = {TABLE: reference.table, PASSAGE: reference.passage, TOTAL: list(each)}
    result = {}
    for group, names in groups.items():
        result[group] = {"questions": len(names)}
        if names:
            values = np.array([each[name] for name in names], float).T
            for title, scores, share in zip(("EM", "F1"), values, official[group], strict=True):
                interval = mean_interval(scores)
                result[group] |= {
                    title: share / 100,
                    f"{title} low": interval.low,
                    f"{title} high": interval.high,
                }
    return result


def _columns(scores: dict) -> dict[str, dict]:
    """As `metrics.comparison` takes them: a column for each figure, a row for each group."""
    titles = ("questions", "EM", "EM low", "EM high", "F1", "F1 low", "F1 high")
    return {
        title: {group: values.get(title) for group, values in scores.items()} for title in titles
    }
