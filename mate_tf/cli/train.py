"""--mode=train."""

from mate_tf.cli.job import Job, require_examples


def main(flags) -> None:
    """Trains, in stages if the configuration asks for bootstrapping; or goes on where it was."""
    train(Job.from_flags(flags))


def train(job: Job) -> dict:
    """Trains and prints the last metrics; returns them."""
    task = job.experiment.task
    require_examples(task.train_data.input_path, task.validation_data.input_path)
    metrics = job.trainer.train(job.experiment, job.model_dir)
    print("trained |", " | ".join(f"{name}: {value:.4g}" for name, value in metrics.items()))
    return metrics
