"""--mode=train."""

from mate_tf.cli.job import Job, require_examples
from mate_tf.training import progress


def main(flags) -> None:
    """Trains, or resumes a training; in stages if the configuration has bootstrapping."""
    train(Job.from_flags(flags))


def train(job: Job) -> dict:
    """Trains; prints and returns the last metrics."""
    task = job.experiment.task
    require_examples(task.train_data.input_path, task.validation_data.input_path)
    metrics = job.trainer.train(job.experiment, job.model_dir)
    print(progress.report("trained", metrics))
    return metrics
