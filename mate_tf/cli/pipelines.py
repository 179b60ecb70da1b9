"""Registry of tasks that train several models in turn. Imports no TensorFlow."""

import os
from typing import NamedTuple

from mate_tf.cli.config_files import task_name


class Pipeline(NamedTuple):
    """A task with several models.

    Attributes:
        module: module with a function `main` that runs every mode.
        exported: file below --export_dir by which --mode=ask recognizes the exported models.
    """

    module: str
    exported: str


PIPELINES = {"POINTR": Pipeline("mate_tf.cli.pointr", os.path.join("point", "saved_model.pb"))}
"""Name of the task -> pipeline. All other tasks have one model."""


def find(flags) -> Pipeline | None:
    """Returns the pipeline of --task, --config_file or, for --mode=ask, of --export_dir."""
    named = PIPELINES.get(task_name(flags))
    if named or flags.mode != "ask" or not flags.export_dir:
        return named
    for pipeline in PIPELINES.values():
        if os.path.exists(os.path.join(flags.export_dir, pipeline.exported)):
            return pipeline
    return None
