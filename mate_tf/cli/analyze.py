"""--mode=analyze: what a trained model attends to, as tables, JSON and plots."""

from mate_tf.analysis.attention.report import analyze
from mate_tf.cli.job import Job


def main(flags) -> None:
    """Analyzes the last checkpoint in --model_dir or, if there is none, --init_checkpoint."""
    analyze(Job.from_flags(flags))
