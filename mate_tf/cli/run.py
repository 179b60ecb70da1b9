"""--mode=run: the whole job, from official files to answers."""

import time

from mate_tf.cli import ask, checks
from mate_tf.cli.calibrate import calibrate
from mate_tf.cli.create_data import create_data
from mate_tf.cli.export import export
from mate_tf.cli.job import Job
from mate_tf.cli.predict_and_evaluate import predict_and_evaluate
from mate_tf.cli.seeds import run_seeds
from mate_tf.cli.train import train
from mate_tf.errors import InputError
from mate_tf.training import workers


def main(flags) -> None:
    """Creates data, trains, evaluates, calibrates, exports, and asks the task's example questions.

    A task that answers no questions ends after training. A task without tables ends after
    evaluation, and so does a job with several seeds.
    """
    start = time.monotonic()
    job = Job.from_flags(flags)
    if job.experiment.runtime.distribution_strategy == workers.STRATEGY and workers.read_cluster():
        raise InputError(
            "--mode=run with TF_CONFIG: run --mode=create_data once, --mode=train on each worker, "
            "and the other modes once"
        )
    if job.task.capabilities.answers_questions:
        job.task.check_packages()  # not after hours of training
    if flags.seeds is not None:
        run_seeds(job, checks.seeds(flags))
    else:
        run(job, flags)
    print(f"\ndone in {time.monotonic() - start:.0f} s")


def run(job: Job, flags) -> None:
    """Runs the whole job with one seed."""
    create_data(job)
    train(job)
    if job.task.capabilities.answers_questions:
        predict_and_evaluate(job)
    if job.task.capabilities.answers_questions and job.task.capabilities.reads_tables:
        if flags.calibrate is None:
            calibrate_if_possible(job)
        export(job, checks.reading(flags))
        ask_examples(job)


def calibrate_if_possible(job: Job) -> None:
    """Fits the confidence of answers, or prints why the data do not allow it."""
    try:
        calibrate(job)
    except InputError as error:
        print(f"\nnot calibrated | {error}")


def ask_examples(job: Job) -> None:
    """Asks the exported model the task's example questions, if the task has any."""
    if job.task.example_table is None:
        return
    from mate_tf.serving.predictor import Predictor

    table = ask.read_table(job.task.example_table)
    ask.answer_all(Predictor(job.export_dir), table, job.task.example_questions, False)
