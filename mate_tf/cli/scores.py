"""Predictions of a job, their scores, and the calibration of their confidence."""

import collections
import functools
import itertools
import os
import tempfile
from collections.abc import Callable

from tqdm import tqdm

from mate_tf.checkpoints.latest import latest
from mate_tf.cli import origins
from mate_tf.cli.job import Job
from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.records import create_data as conversion
from mate_tf.data.records import locks
from mate_tf.data.records.create_data import (
    examples_path,
    interactions_of_examples,
    interactions_path,
)
from mate_tf.errors import InputError
from mate_tf.evaluation import associations, baselines, metrics, order, predictions, texts
from mate_tf.files.atomic import write_json
from mate_tf.files.lock import locked
from mate_tf.serving import confidence, dataset_answers, pretrained
from mate_tf.serving.dataset_answers import GOLD, OWN
from mate_tf.serving.predictor import Predictor
from mate_tf.training import prediction, trainer

SEQUENCE = "_sequence"
CONFIDENCE = "confidence"
"""Heading of the rows of a calibration in the scores."""

ORDER = "order"
"""Heading of the rows about answers that change with the order of rows or columns."""

MAX_TRAIN_INTERACTIONS = 20_000
"""Interactions that baselines are trained on. More would change little and take minutes to read."""


def alone(run: Callable) -> Callable:
    """Decorates a function of a job that reads its data and writes results to its model folder."""

    @functools.wraps(run)
    def locking(job, *arguments):
        data, work = examples_path(job.output_dir, job.task.splits[1]), run.__name__
        with locked(job.model_dir, work), locks.read_by(work, data):
            return run(job, *arguments)

    return locking


def evaluated(task) -> dict[str, str]:
    """Returns split -> split with its predictions, for all splits but train, and for subsets."""
    return {split: split for split in task.splits[1:]} | task.subsets


@alone
def predict(job: Job) -> dict[str, list[predictions.Prediction]]:
    """Writes <split>.tsv, in the reference's format, and <split>.json into the model folder.

    For a task that writes texts there is <split>.jsonl instead.

    For a sequential task there are two sets of files. In files with `_sequence` in their names, the
    model gets its own answers to the previous questions. In the others, it gets the gold answers.

    Returns:
        name of the file without extension -> predictions, sorted by question id.
    """
    predicted, written = {}, []
    paths = {split: examples_path(job.output_dir, split) for split in job.task.splits[1:]}
    job.require_examples(*paths.values())
    writes = job.task.capabilities.writes_text
    load = prediction.generator if writes else job.trainer.predictor
    # One model, whose graph is traced once.
    run = _whole(job) if job.whole_tables else load(job.experiment, job.model_dir)
    for split, path in paths.items():
        if writes:
            predicted[split] = sorted(run(path), key=lambda each: each.question_id)
            target = os.path.join(job.model_dir, f"{split}.jsonl")
            texts.write(predicted[split], target)
            written.append(target)
            print(f"predicted | {len(predicted[split])} texts | {target}")
            continue
        sets = {
            split + SEQUENCE * sequential: _predicted(job, run, path, sequential)
            for sequential in ((False, True) if job.task.sequential else (False,))
        }
        sets |= {
            shuffled_name(job, split, kind): _predict_shuffled(job, run, split, kind)
            for kind in job.perturb
        }
        for name, made in sets.items():
            predicted[name] = made
            target = os.path.join(job.model_dir, name)
            predictions.write_tsv(made, f"{target}.tsv")
            predictions.write_json(made, f"{target}.json")
            written += [f"{target}.tsv", f"{target}.json"]
            print(f"predicted | {len(made)} questions | {target}.tsv, .json")
    origins.record(job.model_dir, _checkpoint(job), written)
    return predicted


def _predicted(job: Job, run, path: str, sequential: bool) -> list[predictions.Prediction]:
    """Returns the predictions for a file of examples, sorted by question id."""
    made = run(path, sequential)
    if not job.whole_tables:
        made = map(predictions.prediction, made)
    return sorted(made, key=lambda each: each.question_id)


def shuffled_name(job: Job, split: str, kind: str) -> str:
    """Returns the name of the predictions for a split whose rows or columns are shuffled."""
    return f"{split}{SEQUENCE * job.task.sequential}_{kind}_shuffled"


def _predict_shuffled(job: Job, run, split: str, kind: str) -> list[predictions.Prediction]:
    """Returns the predictions for shuffled tables, in the coordinates of the given ones.

    The examples are temporary. In a sequential task the model gets its own previous answers.
    """
    given = list(records.read_interactions(interactions_path(job.output_dir, split)))
    asked, orders = order.shuffled(given, kind, job.experiment.tf_random_seed or 0)
    with tempfile.TemporaryDirectory(prefix="mate_tf_") as folder:
        conversion.create_data(
            {split: asked},
            folder,
            job.task.converter(job.vocab_file),
            test_batch_size=job.experiment.task.validation_data.global_batch_size,
            processes=job.num_processes,
        )
        made = _predicted(job, run, examples_path(folder, split), job.task.sequential)
    return [
        order.as_given(each, kind, orders[each.question_id])
        for each in made
        if each.question_id in orders  # ids may be cut (`trim_question_ids`)
    ]


def _checkpoint(job: Job) -> dict:
    """Returns the checkpoint that the job predicts with, see `origins`."""
    return origins.checkpoint(job.model_dir, job.experiment.task.init_checkpoint)


def _whole(job: Job):
    """Returns a function that predicts over whole tables, as `ask` answers.

    Of the path of a split's examples and whether the model gets its own previous answers; it
    returns an iterator over predictions.
    """
    folder = job.model_dir
    if not latest(folder) and job.experiment.task.init_checkpoint:
        folder = job.experiment.task.init_checkpoint
    calibration = confidence.find(folder, confidence.latest_weights(folder))
    predictor = _predictor(job).with_calibration(calibration)

    def run(path, sequential=False):
        interactions = list(records.read_interactions(interactions_of_examples(path)))
        previous = OWN if sequential else GOLD if job.task.sequential else None
        asked = dataset_answers.ask(predictor, interactions, previous)
        total = sum(len(each.questions) for each in interactions)
        for each in tqdm(asked, "asked", total, unit=" questions", disable=None):
            yield dataset_answers.prediction(each.question.id, each.answer, predictor.class_names)

    return run


@alone
def write_predictions(job: Job) -> None:
    """Writes the predictions of every split but train, and official answers."""
    write_answers(job, predict(job))


def write_answers(job: Job, predicted) -> None:
    """Writes the files of `Task.write_answers` for the result of `predict`, if the task has any."""
    written = []
    for split, source in evaluated(job.task).items():
        answers = metrics.by_question(predicted[source + SEQUENCE * job.task.sequential])
        interactions = records.read_interactions(interactions_path(job.output_dir, split))
        target = os.path.join(job.model_dir, split)
        for path in job.task.write_answers(interactions, answers, target):
            written.append(path)
            print(f"answered | {path}")
    origins.record(job.model_dir, _checkpoint(job), written)


@alone
def predict_and_evaluate(job: Job) -> dict[str, dict]:
    """Predicts, prints the scores with those of the baselines, writes metrics.json.

    Scores are over all questions of the interactions, so questions without an example count as
    wrong.

    Returns:
        split -> system -> metric or group -> value; the file also has the checkpoint.
    """
    return score(job, predict(job))


def score(job: Job, predicted) -> dict[str, dict]:
    """Scores the result of `predict`; see `predict_and_evaluate`."""
    results = {}
    write_answers(job, predicted)
    fitted = _baselines(job)
    for split, source in evaluated(job.task).items():
        path = interactions_path(job.output_dir, split)
        interactions = list(records.read_interactions(path))
        if not interactions:
            raise InputError(f"{path}: no questions here; run --mode=create_data again")
        files = {"model": source}
        if job.task.sequential:
            files = {"model": source + SEQUENCE, "given gold answers": source}
        shuffled = {f"{kind} shuffled": shuffled_name(job, source, kind) for kind in job.perturb}
        systems = {
            name: metrics.by_question(predicted[file]) for name, file in (files | shuffled).items()
        }
        systems |= {name: predictor(interactions) for name, predictor in fitted.items()}
        results[split] = collections.defaultdict(dict)
        for name, answers in systems.items():
            for title, values in job.task.measure(interactions, answers).items():
                results[split][title][name] = values
        results[split] |= job.task.compare(interactions, systems)
        for name in shuffled:
            results[split][ORDER][name] = order.changes(
                interactions, systems["model"], systems[name], job.task.is_right
            )
        for title, columns in results[split].items():
            print(f"\n{split}\n{metrics.comparison(columns, title)}")
        for warning in job.task.warnings(interactions, systems["model"]):
            print(f"warning | {split}: {warning}")
    if job.calibrate:
        results[job.task.splits[1]][CONFIDENCE] = {"model": calibrate(job)}
    path = os.path.join(job.model_dir, "metrics.json")
    write_json(path, results | {origins.KEY: _checkpoint(job)})
    print(f"\nevaluated | {path}")
    return results


def _baselines(job):
    """Returns name -> baseline of the task, trained on the first training interactions."""
    train = ()
    if baselines.LEARNED.keys() & set(job.task.baselines):
        path = interactions_path(job.output_dir, job.task.splits[0])
        train = list(itertools.islice(records.read_interactions(path), MAX_TRAIN_INTERACTIONS))
    return {name: baselines.fit(name, train) for name in job.task.baselines}


@alone
def calibrate(job: Job) -> dict:
    """Writes calibration.json next to the last checkpoint, which `Predictor` and export use.

    Returns:
        the rows of `confidence.report`, which are also printed.

    Raises:
        InputError: if the task has no tables, or there are no dev questions.
    """
    if not job.task.capabilities.reads_tables:
        raise InputError(f"task {job.task.name} does not read tables, so it has no --calibrate")
    split = job.task.splits[1]
    path = interactions_path(job.output_dir, split)
    job.require_examples(path)
    interactions = list(records.read_interactions(path))
    train = interactions_path(job.output_dir, job.task.splits[0])
    counted = associations.count(records.read_interactions(train)) if os.path.exists(train) else {}
    predictor = _predictor(job)
    answers = confidence.scored(
        predictor, interactions, job.task.is_right, job.task.sequential, associations=counted
    )
    fitted = confidence.fit(answers, confidence.latest_weights(job.model_dir))
    if not job.task.class_names:
        fitted = confidence.with_unknown_names(predictor, fitted, interactions)
    rows = confidence.report(answers, fitted)
    print(f"\n{split}\n{metrics.comparison({'model': rows}, CONFIDENCE)}")
    print(f"\ncalibrated | {confidence.write(job.model_dir, fitted, rows)}")
    return rows


def _predictor(job: Job) -> Predictor:
    """Returns a predictor with the last checkpoint, which reads tables as an export does."""
    model = trainer.load_model(job.experiment, job.model_dir)
    conversion = job.experiment.task.conversion.frozen()
    fitting = conversion.fitting(model.config.max_num_rows, model.config.max_num_columns)
    converter = ExampleConverter.from_config(job.vocab_file, fitting)
    served = pretrained.serve(model, converter, job.task.class_names)
    return Predictor.of_model(served, job.model_dir)
