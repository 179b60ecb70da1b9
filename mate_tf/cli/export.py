"""--mode=export."""

from mate_tf.cli.job import Job
from mate_tf.serving import export as saved_model
from mate_tf.training import trainer

# An exported model is asked about tables it was not made for: it reads what fits of them.
_FIT_ANY_TABLE = {
    "drop_rows_to_fit": True,
    "drop_columns_to_fit": True,
    "trim_question_to_fit": True,
}


def main(flags) -> None:
    """Writes the last checkpoint as a SavedModel."""
    export(Job.from_flags(flags))


def export(job: Job) -> str:
    """Writes the SavedModel and says where; returns the folder."""
    model = trainer.load_model(job.experiment, job.model_dir)
    options = job.experiment.task.conversion.converter_options() | _FIT_ANY_TABLE
    path = saved_model.export(model, job.export_dir, job.vocab_file, options)
    print(f"exported | {path}")
    return path
