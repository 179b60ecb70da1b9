"""What a command is about, from its flags: the task, and the folders. Imports no TensorFlow."""

import os
from typing import NamedTuple

from mate_tf.files.config_files import find_config, with_bases

POINTR = "POINTR"
"""The task with two models. All other tasks have one."""

_POINTR_EXPORT = os.path.join("point", "saved_model.pb")


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


def task_name(flags) -> str:
    """Returns the task of --task or --config_file, in upper case; "" if neither has one.

    A file that cannot be read also gives "". The error is raised later, when the whole file is
    read.
    """
    name = flags.task
    if not name and flags.config_file:
        import yaml  # takes a tenth of a second, which most commands need not

        def read(path):
            with open(path, encoding="utf-8") as file:
                return yaml.safe_load(file) or {}

        try:
            chain = with_bases(find_config(flags.config_file), read)
            sections = [given.get("task") for given, _ in chain]
            name = [each["name"] for each in sections if each and "name" in each][-1]
        except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
            return ""
        except (AttributeError, IndexError, TypeError):  # of another form
            return ""
    return str(name or "").upper()


def is_pointr(flags) -> bool:
    """Returns whether --task, --config_file or, for --mode=ask, --export_dir is of POINTR."""
    if task_name(flags) == POINTR:
        return True
    asks_export = flags.mode == "ask" and flags.export_dir
    return bool(asks_export) and os.path.exists(os.path.join(flags.export_dir, _POINTR_EXPORT))
