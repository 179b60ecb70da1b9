"""--mode=create_data."""

import functools
import os

from mate_tf.cli import vocabulary
from mate_tf.cli.job import Job
from mate_tf.data import records
from mate_tf.data.records import create_data as conversion
from mate_tf.data.records.create_data import Report
from mate_tf.errors import InputError


def main(flags) -> None:
    """Converts all splits of the task."""
    create_data(Job.from_flags(flags))


def create_data(job: Job) -> dict[str, Report]:
    """Converts all splits, and prints what was dropped and cut.

    Returns:
        split -> report.

    Raises:
        InputError: if files or the vocabulary are missing or broken.
    """
    convert = _conversion(job)
    if not job.input_dir and job.task.capabilities.needs_files:
        raise InputError(f"task {job.task.name} needs --input_dir=FOLDER of its files")
    if job.input_dir and not os.path.isdir(job.input_dir):
        raise InputError(f"--input_dir={job.input_dir}: no such folder")
    vocabulary.make(job)
    vocab_file = job.vocab_file
    if job.runner_type is not None:
        vocab_file = _beam().absolute(vocab_file)
    converter = job.task.converter(vocab_file)
    job.task.check_vocabulary()
    vocabulary.keep(job)
    job.save_decisions()
    source = job.task.official_files(job.input_dir, job.output_dir)
    for subset in job.task.subsets:
        path = conversion.interactions_path(job.output_dir, subset)
        records.write_interactions(job.task.interactions(source, subset), path)
    reports = convert(
        {split: job.task.interactions(source, split) for split in job.task.splits},
        job.output_dir,
        converter,
        test_batch_size=job.experiment.task.validation_data.global_batch_size,
        seed=job.experiment.tf_random_seed or 0,
    )
    for split, report in reports.items():
        print(f"created | {split}: {report}")
    print(f"created | reports: {conversion.examples_path(job.output_dir, '*')[:-9]}.report.json")
    return reports


def _conversion(job: Job):
    """Returns the function that converts: with local processes, or with a Beam runner."""
    if job.runner_type is None:
        return functools.partial(conversion.create_data, processes=job.num_processes)
    return functools.partial(_beam().create_data, runner=job.runner_type, options=job.beam_options)


def _beam():
    """Returns the module `data.beam`. Beam is an optional dependency."""
    from mate_tf.data import beam

    return beam
