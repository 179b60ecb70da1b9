"""Export of a job's model."""

from mate_tf.serving import confidence, summarizer
from mate_tf.serving import export as saved_model
from mate_tf.training import prediction, trainer


def export(job, reading=None) -> str:
    """Writes the last checkpoint as a SavedModel, with its calibration if it has one.

    Returns:
        the folder of the SavedModel, which is also printed.
    """
    model = trainer.load_model(job.experiment, job.model_dir)
    options = job.experiment.task.conversion.converter_options()
    if job.task.capabilities.writes_text:
        decoding = prediction.search_options(job.experiment.task)
        path = summarizer.export(model, job.export_dir, job.vocab_file, options, decoding)
    else:
        path = saved_model.export(
            model,
            job.export_dir,
            job.vocab_file,
            options,
            job.task.class_names,
            reads_tables=job.task.capabilities.reads_tables,
            calibration=confidence.find(job.model_dir, confidence.latest_weights(job.model_dir)),
            reading=reading,
        )
    print(f"exported | {path}")
    return path
