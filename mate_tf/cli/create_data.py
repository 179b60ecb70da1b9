"""--mode=create_data."""

import os

from mate_tf.cli.job import Job
from mate_tf.data import create_data as conversion
from mate_tf.data.examples import ExampleConverter


def main(flags) -> None:
    """Converts all splits of the task."""
    create_data(Job.from_flags(flags))


def create_data(job: Job) -> dict[str, conversion.Report]:
    """Converts all splits; says what was dropped and cut, and where the whole report is."""
    config = job.experiment.task.conversion
    if job.task.makes_vocabulary and not os.path.exists(config.bert_vocab_file):
        job.task.make_vocabulary(config.bert_vocab_file)
    converter = ExampleConverter(job.vocab_file, **config.converter_options())
    reports = conversion.create_data(
        {split: job.task.interactions(job.input_dir, split) for split in job.task.splits},
        job.output_dir,
        converter,
        test_batch_size=job.experiment.task.validation_data.global_batch_size,
        processes=job.num_processes,
        seed=job.experiment.tf_random_seed or 0,
    )
    for split, report in reports.items():
        print(f"created | {split}: {report}")
    print(f"created | reports: {conversion.examples_path(job.output_dir, '*')[:-9]}.report.json")
    return reports
