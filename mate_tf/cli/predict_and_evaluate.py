"""--mode=predict_and_evaluate."""

import collections
import json
import os

from mate_tf.cli.job import Job
from mate_tf.cli.predict import SEQUENCE, predict
from mate_tf.data import records
from mate_tf.data.create_data import interactions_path
from mate_tf.evaluation import baselines, metrics


def main(flags) -> None:
    """Predicts and scores every split but train."""
    predict_and_evaluate(Job.from_flags(flags))


def predict_and_evaluate(job: Job) -> dict[str, dict]:
    """Predicts, prints the scores beside those of the baselines, writes metrics.json.

    Questions that gave no example count as wrong: what is scored are the interactions.

    Returns:
        split -> system -> metric or group -> value.
    """
    results = {}
    predicted = predict(job)
    for split in job.task.splits[1:]:
        interactions = list(records.read_interactions(interactions_path(job.output_dir, split)))
        files = {"model": split}
        if job.task.sequential:
            files = {"model": split + SEQUENCE, "given gold answers": split}
        systems = {name: metrics.by_question(predicted[file]) for name, file in files.items()}
        systems |= {name: baselines.predict(interactions, name) for name in job.task.baselines}
        results[split] = collections.defaultdict(dict)
        for name, answers in systems.items():
            for title, values in job.task.measure(interactions, answers).items():
                results[split][title][name] = values
        for title, columns in results[split].items():
            print(f"\n{split}\n{metrics.comparison(columns, title)}")
    path = os.path.join(job.model_dir, "metrics.json")
    with open(f"{path}.partial", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=2)
    os.replace(f"{path}.partial", path)
    print(f"\nevaluated | {path}")
    return results
