"""--mode=profile: compares time, FLOPs and memory of attention variants on this machine."""

import importlib.util
import os

from mate_tf.errors import InputError

FOLDER = os.path.join("out", "profile")
"""Default folder of the results, without a configuration."""


def main(flags) -> None:
    """Measures the layers of the configured encoder, or two layers of BERT-base's shape."""
    lengths = _lengths(flags.lengths)
    # Checked before TensorFlow is imported, which takes seconds.
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("--mode=profile needs matplotlib: pip install 'mate-tf[plots]'")
    from mate_tf.analysis.cost import profile

    job = _job(flags)
    settings = profile.Settings(
        config=job.experiment.task.model.encoder,
        lengths=lengths,
        variants=tuple(flags.variants or profile.VARIANTS),
        precisions=tuple(flags.precisions),
        compiled=flags.compile,
        passes=tuple(flags.passes),
        memory=flags.memory,
        threads=flags.threads or os.cpu_count() or 1,
        repeats=flags.repeats,
    )
    profile.run(settings, job.output_dir)


def _lengths(texts: list[str]) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(text) for text in texts}))
    except ValueError as error:
        raise InputError(f"--lengths={','.join(texts)}: not numbers of tokens") from error


def _job(flags):
    """Returns a job with an encoder config that has all flags and overrides."""
    from mate_tf.cli.job import Job

    if flags.task or flags.config_file:
        return Job.from_flags(flags)
    from mate_tf.models.encoder_config import EncoderConfig
    from mate_tf.training import experiments

    experiment = experiments.load(None, task="SYNTHETIC")
    experiment.task.model.encoder = EncoderConfig(num_hidden_layers=2)
    overrides = [experiments.read_override(text) for text in flags.params_override]
    folder = flags.output_dir or FOLDER
    return Job.create(experiment, flags, overrides, folder, folder, folder)
