"""--mode=export."""

from mate_tf.cli.calibrate import calibrate
from mate_tf.cli.checks import reading
from mate_tf.cli.job import Job
from mate_tf.cli.pretrained import load_predictor
from mate_tf.errors import InputError
from mate_tf.serving import confidence, summarizer
from mate_tf.serving import export as saved_model
from mate_tf.training import generation, trainer


def main(flags) -> None:
    """Writes the last checkpoint, or --init_checkpoint, as a SavedModel."""
    if flags.init_checkpoint and not (flags.task or flags.config_file):
        if not flags.export_dir:
            raise InputError("--mode=export of --init_checkpoint needs --export_dir=FOLDER")
        print(f"exported | {load_predictor(flags).export(flags.export_dir)}")
    else:
        job = Job.from_flags(flags)
        if job.calibrate:
            calibrate(job)
        export(job, reading(flags))


def export(job: Job, read=None) -> str:
    """Writes the SavedModel of a job, with its calibration if it has one.

    Args:
        job: the job.
        read: options of `ConversionConfig.reading`.

    Returns:
        its folder, which is also printed.
    """
    model = trainer.load_model(job.experiment, job.model_dir)
    options = job.experiment.task.conversion.converter_options()
    if job.task.capabilities.writes_text:
        decoding = generation.search_options(job.experiment.task)
        path = summarizer.export(model, job.export_dir, job.vocab_file, options, decoding)
        print(f"exported | {path}")
        return path
    path = saved_model.export(
        model,
        job.export_dir,
        job.vocab_file,
        options,
        job.task.class_names,
        reads_tables=job.task.capabilities.reads_tables,
        calibration=confidence.find(job.model_dir, confidence.latest_weights(job.model_dir)),
        reading=read,
    )
    print(f"exported | {path}")
    return path
