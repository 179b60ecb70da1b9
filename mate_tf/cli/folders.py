"""Folders of a job, from the flags. Imports no TensorFlow."""

import os
from typing import NamedTuple

from mate_tf.cli.config_files import find_config


class Folders(NamedTuple):
    """Folders of a job.

    Attributes:
        output_dir: interactions, examples and vocabulary.
        model_dir: checkpoints, summaries and predictions.
        export_dir: the SavedModel.
    """

    output_dir: str
    model_dir: str
    export_dir: str


def folders(flags, task: str | None = None) -> Folders:
    """Returns the folders that the flags name, or out/<configuration or task> and folders in it.

    Args:
        flags: values of the flags.
        task: the task where neither --task nor --config_file names one.

    Raises:
        InputError: there is no such configuration.
    """
    config_file = flags.config_file and find_config(flags.config_file)
    name = config_file or (flags.task or task or "").lower()
    stem = os.path.splitext(os.path.basename(name))[0]
    output_dir = flags.output_dir or os.path.join("out", stem)
    model_dir = flags.model_dir or os.path.join(output_dir, "model")
    return Folders(output_dir, model_dir, flags.export_dir or os.path.join(model_dir, "export"))
