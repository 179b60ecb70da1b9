"""--mode=predict."""

import os

from mate_tf.cli.job import Job, require_examples
from mate_tf.data import records
from mate_tf.data.records.create_data import examples_path, interactions_path
from mate_tf.evaluation import metrics, predictions, texts
from mate_tf.training import generation

SEQUENCE = "_sequence"


def main(flags) -> None:
    """Writes the predictions of every split but train."""
    job = Job.from_flags(flags)
    write_answers(job, predict(job))


def evaluated(task) -> dict[str, str]:
    """Returns split -> split with its predictions, for all splits but train, and for subsets."""
    return {split: split for split in task.splits[1:]} | task.subsets


def predict(job: Job) -> dict[str, list[predictions.Prediction]]:
    """Writes <split>.tsv, in the reference's format, and <split>.json into the model folder.

    For a task that writes texts there is <split>.jsonl instead.

    For a sequential task there are two sets of files. In files with `_sequence` in their names, the
    model gets its own answers to the previous questions. In the others, it gets the gold answers.

    Returns:
        name of the file without extension -> predictions, sorted by question id.
    """
    found = {}
    paths = {split: examples_path(job.output_dir, split) for split in job.task.splits[1:]}
    require_examples(*paths.values())
    writes = job.task.capabilities.writes_text
    load = generation.generator if writes else job.trainer.predictor
    run = load(job.experiment, job.model_dir)  # one model, whose graph is traced once
    for split, path in paths.items():
        if writes:
            found[split] = _write(job, split, run(path))
            continue
        for sequential in (False, True) if job.task.sequential else (False,):
            name = split + SEQUENCE * sequential
            outputs = map(predictions.prediction, run(path, sequential))
            found[name] = sorted(outputs, key=lambda each: each.question_id)
            target = os.path.join(job.model_dir, name)
            predictions.write_tsv(found[name], f"{target}.tsv")
            predictions.write_json(found[name], f"{target}.json")
            print(f"predicted | {len(found[name])} questions | {target}.tsv, .json")
    return found


def _write(job: Job, split: str, outputs) -> list[predictions.Prediction]:
    """Writes <split>.jsonl with the texts that the model writes; returns them, sorted by id."""
    found = sorted(outputs, key=lambda each: each.question_id)
    target = os.path.join(job.model_dir, f"{split}.jsonl")
    texts.write(found, target)
    print(f"predicted | {len(found)} texts | {target}")
    return found


def write_answers(job: Job, predicted) -> None:
    """Writes <split>.* for the data set's official evaluation into the model folder.

    Only some tasks have such files, see `Task.write_answers`.

    Args:
        job: the job.
        predicted: result of `predict`.
    """
    for split, source in evaluated(job.task).items():
        answers = metrics.by_question(predicted[source + SEQUENCE * job.task.sequential])
        interactions = records.read_interactions(interactions_path(job.output_dir, split))
        target = os.path.join(job.model_dir, split)
        for path in job.task.write_answers(interactions, answers, target):
            print(f"answered | {path}")
