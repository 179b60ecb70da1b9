"""--mode=predict_and_evaluate."""

import collections
import itertools
import os

from mate_tf.cli import calibrate
from mate_tf.cli.job import Job
from mate_tf.cli.predict import SEQUENCE, evaluated, predict, write_answers
from mate_tf.data import records
from mate_tf.data.records.create_data import interactions_path
from mate_tf.errors import InputError
from mate_tf.evaluation import baselines, metrics
from mate_tf.files.atomic import write_json

MAX_TRAIN_INTERACTIONS = 20_000
"""Interactions that baselines are trained on. More would change little and take minutes to read."""


def main(flags) -> None:
    """Predicts and scores every split but train."""
    predict_and_evaluate(Job.from_flags(flags))


def predict_and_evaluate(job: Job) -> dict[str, dict]:
    """Predicts, prints the scores with those of the baselines, writes metrics.json.

    Scores are over all questions of the interactions, so questions without an example count as
    wrong.

    Returns:
        split -> system -> metric or group -> value.
    """
    return score(job, predict(job))


def score(job: Job, predicted) -> dict[str, dict]:
    """Scores given predictions, prints the scores, writes metrics.json.

    Args:
        job: the job. Its interactions have the gold answers.
        predicted: result of `predict`.

    Returns:
        see `predict_and_evaluate`.
    """
    results = {}
    write_answers(job, predicted)
    fitted = _baselines(job)
    for split, source in evaluated(job.task).items():
        path = interactions_path(job.output_dir, split)
        interactions = list(records.read_interactions(path))
        if not interactions:
            raise InputError(f"{path}: there are no questions; run --mode=create_data again")
        files = {"model": source}
        if job.task.sequential:
            files = {"model": source + SEQUENCE, "given gold answers": source}
        systems = {name: metrics.by_question(predicted[file]) for name, file in files.items()}
        systems |= {name: predictor(interactions) for name, predictor in fitted.items()}
        results[split] = collections.defaultdict(dict)
        for name, answers in systems.items():
            for title, values in job.task.measure(interactions, answers).items():
                results[split][title][name] = values
        results[split] |= job.task.compare(interactions, systems)
        for title, columns in results[split].items():
            print(f"\n{split}\n{metrics.comparison(columns, title)}")
        for warning in job.task.warnings(interactions, systems["model"]):
            print(f"warning | {split}: {warning}")
    if job.calibrate:
        results[job.task.splits[1]][calibrate.TITLE] = {"model": calibrate.calibrate(job)}
    path = os.path.join(job.model_dir, "metrics.json")
    write_json(path, results)
    print(f"\nevaluated | {path}")
    return results


def _baselines(job):
    """Returns name -> baseline of the task, trained on the first training interactions."""
    train = ()
    if baselines.LEARNED.keys() & set(job.task.baselines):
        path = interactions_path(job.output_dir, job.task.splits[0])
        train = list(itertools.islice(records.read_interactions(path), MAX_TRAIN_INTERACTIONS))
    return {name: baselines.fit(name, train) for name in job.task.baselines}
