"""--calibrate: fits the confidence of a model's answers to the dev questions."""

import os

from mate_tf.cli.job import Job, require_examples
from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.records.create_data import interactions_path
from mate_tf.errors import InputError
from mate_tf.evaluation import associations, metrics
from mate_tf.serving import confidence
from mate_tf.serving.live import LiveModel
from mate_tf.serving.predictor import Predictor
from mate_tf.training import trainer

TITLE = "confidence"
"""Heading of the rows in the scores."""


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
    require_examples(path)
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
    print(f"\n{split}\n{metrics.comparison({'model': rows}, TITLE)}")
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
