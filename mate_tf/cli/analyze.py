"""--mode=analyze: attention of a trained model, as tables, JSON and plots."""

import importlib.util

from mate_tf.errors import InputError


def main(flags) -> None:
    """Analyzes the last checkpoint in --model_dir, or --init_checkpoint without one."""
    require_matplotlib()
    from mate_tf.cli.job import Job

    analyze(Job.from_flags(flags))


def require_matplotlib() -> None:
    """Raises InputError without matplotlib, before TensorFlow is imported, which takes seconds."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("--mode=analyze needs matplotlib: pip install 'mate-tf[plots]'")


def analyze(*jobs) -> None:
    """Analyzes the models of jobs; see `analysis.attention.report.analyze`."""
    require_matplotlib()
    from mate_tf.analysis.attention import report

    report.analyze(*jobs)
