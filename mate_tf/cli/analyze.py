"""--mode=analyze: attention of a trained model, as tables, JSON and plots."""

from mate_tf.analysis.attention.report import analyze
from mate_tf.cli.job import Job


def main(flags) -> None:
    """Analyzes the last checkpoint in --model_dir, or --init_checkpoint without one."""
    analyze(Job.from_flags(flags))
