"""Configuration files by name. Imports no TensorFlow, so that it can be asked before anything."""

import os
from importlib import resources

import yaml

from mate_tf.errors import InputError


def find_config(path: str) -> str:
    """The path itself or, outside a checkout, the configuration of that name in the package.

    Raises:
        InputError: if there is neither.
    """
    if os.path.isfile(path):
        return path
    if os.path.dirname(path) in ("", "configs"):
        package = resources.files("mate_tf")
        # In the wheel they are part of the package, in a checkout they are beside it.
        for folder in (package / "configs", package.parent / "configs"):
            if (folder / os.path.basename(path)).is_file():
                return str(folder / os.path.basename(path))
    raise InputError(f"--config_file={path}: no such file")


def task_name(flags) -> str:
    """The task that --task or --config_file names, in upper case; "" if neither does.

    A file that cannot be read gives "": what is wrong with it is told where all of it is read.
    """
    name = flags.task
    if not name and flags.config_file:
        try:
            with open(find_config(flags.config_file), encoding="utf-8") as file:
                name = yaml.safe_load(file)["task"]["name"]
        except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError):
            return ""
    return str(name or "").upper()
