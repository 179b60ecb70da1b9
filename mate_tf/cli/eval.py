"""--mode=eval."""

from mate_tf.cli.job import Job, require_examples
from mate_tf.training import progress


def main(flags) -> None:
    """Prints loss and metrics of the last checkpoint on `task.validation_data`."""
    evaluate(Job.from_flags(flags))


def evaluate(job: Job) -> dict:
    """Prints and returns the metrics of a job."""
    require_examples(job.experiment.task.validation_data.input_path)
    metrics = job.trainer.evaluate(job.experiment, job.model_dir)
    print(progress.report("evaluated", metrics))
    return metrics
