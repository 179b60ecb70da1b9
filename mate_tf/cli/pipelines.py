"""Tasks that train several models one after the other. Imports no TensorFlow."""

import os
from typing import NamedTuple

from mate_tf.cli.config_files import task_name


class Pipeline(NamedTuple):
    """A task of several models.

    Attributes:
        module: module whose `main` runs every mode.
        exported: file below --export_dir by which --mode=ask recognizes the exported models.
    """

    module: str
    exported: str


PIPELINES = {"POINTR": Pipeline("mate_tf.cli.pointr", os.path.join("point", "saved_model.pb"))}
"""Pipelines by the name of the task. All other tasks have one model."""


def find(flags) -> Pipeline | None:
    """Returns the pipeline that --task or --config_file names, or --mode=ask finds exported."""
    named = PIPELINES.get(task_name(flags))
    if named or flags.mode != "ask" or not flags.export_dir:
        return named
    for pipeline in PIPELINES.values():
        if os.path.exists(os.path.join(flags.export_dir, pipeline.exported)):
            return pipeline
    return None
