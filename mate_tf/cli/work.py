"""Data and training of a job."""

import os

from mate_tf.cli import job_vocabulary
from mate_tf.data import records
from mate_tf.data.records import create_data as conversion
from mate_tf.data.records import locks
from mate_tf.data.records.create_data import examples_path
from mate_tf.errors import InputError
from mate_tf.training import progress


def create_data(job) -> dict:
    """Converts all splits of a job's task, and prints what was dropped and cut.

    Returns:
        split -> `Report`.

    Raises:
        InputError: if files or the vocabulary are missing or broken.
    """
    convert, vocabulary_path = conversion.create_data, str
    options = {"processes": job.num_processes}
    if job.runner_type is not None:
        from mate_tf.data import beam  # an optional dependency

        convert, vocabulary_path = beam.create_data, beam.absolute
        options = {"runner": job.runner_type, "options": job.beam_options}
    if not job.input_dir and job.task.capabilities.needs_files:
        raise InputError(f"task {job.task.name} needs --input_dir=FOLDER of its files")
    if job.input_dir and not os.path.isdir(job.input_dir):
        raise InputError(f"--input_dir={job.input_dir}: no such folder")
    with locks.writing(examples_path(job.output_dir, conversion.TRAIN)):
        reports = _convert(job, convert, vocabulary_path, options)
    for split, report in reports.items():
        print(f"created | {split}: {report}")
    print(f"created | reports: {conversion.examples_path(job.output_dir, '*')[:-9]}.report.json")
    return reports


def _convert(job, convert, vocabulary_path, options) -> dict:
    """Writes vocabulary, interactions and examples."""
    job_vocabulary.make(job)
    converter = job.task.converter(vocabulary_path(job.vocab_file))
    job.task.check_vocabulary()
    job_vocabulary.keep(job)
    job.save_decisions()
    source = job.task.official_files(job.input_dir, job.output_dir)
    for subset in job.task.subsets:
        path = conversion.interactions_path(job.output_dir, subset)
        records.write_interactions(job.task.interactions(source, subset), path)
    return convert(
        {split: job.task.interactions(source, split) for split in job.task.splits},
        job.output_dir,
        converter,
        test_batch_size=job.experiment.task.validation_data.global_batch_size,
        seed=job.experiment.tf_random_seed or 0,
        **options,
    )


def train(job) -> dict:
    """Trains, or resumes a training run, in stages with bootstrapping; prints the last metrics."""
    task = job.experiment.task
    job.require_examples(task.train_data.input_path, task.validation_data.input_path)
    return _reported("trained", job.trainer.train(job.experiment, job.model_dir))


def evaluate(job) -> dict:
    """Prints and returns loss and metrics of the last checkpoint on `task.validation_data`."""
    job.require_examples(job.experiment.task.validation_data.input_path)
    return _reported("evaluated", job.trainer.evaluate(job.experiment, job.model_dir))


def _reported(title: str, metrics: dict) -> dict:
    print(progress.report(title, metrics))
    return metrics
