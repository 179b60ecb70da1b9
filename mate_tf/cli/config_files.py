"""Finds configuration files by name. Imports no TensorFlow, so that it is fast."""

import os
from importlib import resources

from mate_tf.errors import InputError


def find_config(path: str) -> str:
    """Returns the path of a configuration: the file itself, or the one that the package brings.

    Raises:
        InputError: if neither exists.
    """
    if os.path.isfile(path):
        return path
    if os.path.dirname(path) in ("", "configs"):
        package = resources.files("mate_tf")
        # A wheel has configs/ within the package, a checkout has it next to the package.
        for folder in (package / "configs", package.parent / "configs"):
            if (folder / os.path.basename(path)).is_file():
                return str(folder / os.path.basename(path))
    raise InputError(f"--config_file={path}: no such file")


def task_name(flags) -> str:
    """Returns the task of --task or --config_file, in upper case; "" if neither has one.

    A file that cannot be read also gives "". The error is raised later, when the whole file is
    read.
    """
    name = flags.task
    if not name and flags.config_file:
        import yaml  # takes a tenth of a second, which most commands need not

        try:
            with open(find_config(flags.config_file), encoding="utf-8") as file:
                name = yaml.safe_load(file)["task"]["name"]
        except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, RecursionError):
            return ""
    return str(name or "").upper()
