"""Predictions of a trained model and their scores, --calibrate, and the scores of GLUE."""

import collections
import itertools
import os
import zipfile

from mate_tf.cli.checks import folders
from mate_tf.cli.job import Job
from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.records.create_data import examples_path, interactions_path
from mate_tf.errors import InputError
from mate_tf.evaluation import associations, baselines, metrics, predictions, texts
from mate_tf.evaluation import glue as glue_scores
from mate_tf.files.atomic import atomic_path, write_json
from mate_tf.serving import confidence
from mate_tf.serving.live import LiveModel
from mate_tf.serving.predictor import Predictor
from mate_tf.training import prediction, trainer

SEQUENCE = "_sequence"
CONFIDENCE = "confidence"
"""Heading of the rows of a calibration in the scores."""

MAX_TRAIN_INTERACTIONS = 20_000
"""Interactions that baselines are trained on. More would change little and take minutes to read."""


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
    job.require_examples(*paths.values())
    writes = job.task.capabilities.writes_text
    load = prediction.generator if writes else job.trainer.predictor
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
        results[job.task.splits[1]][CONFIDENCE] = {"model": calibrate(job)}
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


def calibrate(job: Job) -> dict:
    """Writes calibration.json beside the last checkpoint, which `Predictor` and export use.

    Returns:
        the rows of `confidence.report`, which are also printed.

    Raises:
        InputError: if the task has no tables, or there are no dev questions.
    """
    if not job.task.capabilities.reads_tables:
        raise InputError(f"task {job.task.name} reads no tables: it has no --calibrate")
    split = job.task.splits[1]
    path = interactions_path(job.output_dir, split)
    job.require_examples(path)
    interactions = list(records.read_interactions(path))
    found = confidence.scored(
        _predictor(job),
        interactions,
        job.task.is_right,
        job.task.sequential,
        associations=_associations(job),
    )
    fitted = confidence.fit(found, confidence.latest_weights(job.model_dir))
    rows = confidence.report(found, fitted)
    print(f"\n{split}\n{metrics.comparison({'model': rows}, CONFIDENCE)}")
    print(f"\ncalibrated | {confidence.write(job.model_dir, fitted, rows)}")
    return rows


def _associations(job: Job) -> dict[str, list[str]]:
    """Returns those of the training questions; none without the interactions of that split."""
    path = interactions_path(job.output_dir, job.task.splits[0])
    return associations.count(records.read_interactions(path)) if os.path.exists(path) else {}


def _predictor(job: Job) -> Predictor:
    """Returns a predictor with the last checkpoint, which reads tables as an export does."""
    model = trainer.load_model(job.experiment, job.model_dir)
    conversion = job.experiment.task.conversion.frozen()
    fitting = conversion.fitting(model.config.max_num_rows, model.config.max_num_columns)
    converter = ExampleConverter.from_config(job.vocab_file, fitting)
    return Predictor.of_model(LiveModel(model, converter, job.task.class_names), job.model_dir)


def glue(flags) -> None:
    """Prints the scores and their means, writes glue.json and, with all tasks, submission.zip.

    The models are in folders below --output_dir, one for each task.
    """
    folder = folders(flags).output_dir
    found = glue_scores.read_scores(folder)
    scores = {score: value for score, (value, _) in found.items()}
    means = glue_scores.means(scores)
    rows = {str(score): scores.get(score) for score in glue_scores.SCORES}
    rows |= {f"mean, {name}": means.get(name) for name in glue_scores.MEANS}
    print(metrics.comparison({"dev": rows}, "GLUE"))
    path = os.path.join(folder, "glue.json")
    write_json(path, rows)
    print(f"\nevaluated | {path}")
    models = dict.fromkeys(model for _, model in found.values())
    files = [path for model in models for path in sorted(model.glob("*.tsv"))]
    files = {path.name: path for path in files if path.stem in glue_scores.SUBMISSIONS}
    needed = (name for name in glue_scores.SUBMISSIONS if name != glue_scores.DIAGNOSTICS)
    missing = [name for name in needed if f"{name}.tsv" not in files]
    if missing:
        print(f"no submission | there is no {', '.join(f'{name}.tsv' for name in missing)}")
        return
    path = os.path.join(folder, "submission.zip")
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, file in files.items():
            archive.write(file, name, zipfile.ZIP_DEFLATED)
    print(f"submission | {path}: {', '.join(files)}")
