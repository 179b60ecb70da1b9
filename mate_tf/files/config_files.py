"""Finds configuration files by name, and those that a file starts from. Does not import TensorFlow.

A file may begin with `base: other.yaml`: its values then override those of the other file, which
may have its own base. The other file is next to it or, if there is none, has one of the
names that `find_config` knows.
"""

import os
import pathlib
from collections.abc import Callable
from typing import Any

from mate_tf.errors import InputError

BASE = "base"
"""Key with the name of the file that a file starts from."""

MAX_BASES = 20
"""Largest number of files that a file starts from, one from the other."""

_FLAG = "--config_file="


def find_config(path: str, said: str = _FLAG) -> str:
    """Returns the path of a configuration: the file itself, or the one that the package brings.

    Args:
        path: a file, or the name of one in configs/, such as "sqa.yaml" or
            "configs/treeformer/kary.yaml".
        said: start of the error's message, before the path.

    Raises:
        InputError: if neither exists.
    """
    if os.path.isfile(path):
        return path
    name = os.path.normpath(path).replace(os.sep, "/").removeprefix("configs/")
    if not (os.path.isabs(path) or name.startswith("..")):
        package = pathlib.Path(__file__).parents[1]
        # A wheel has configs/ within the package, a checkout has it next to the package.
        for folder in (package / "configs", package.parent / "configs"):
            if (folder / name).is_file():
                return str(folder / name)
    raise InputError(f"{said}{path}: no such file")


def with_bases(
    path: str, read: Callable[[str], dict[str, Any]]
) -> list[tuple[dict[str, Any], str]]:
    """Reads a configuration and the files that it starts from.

    Args:
        path: the file.
        read: function that reads one file as a dict.

    Returns:
        pairs (values without the key `base`, path), in the order in which they apply: the file
        itself comes last.

    Raises:
        InputError: if `read` raises it, or a base does not exist, is not text, starts from the
            file itself, or is one of more than `MAX_BASES`.
    """
    chain = []
    while True:
        given = {**read(path)}
        base = given.pop(BASE, None)
        chain.append((given, path))
        if base is None:
            return chain[::-1]
        if not isinstance(base, str):
            raise InputError(f"{path}: {BASE} is {base!r}, expected the name of a file")
        beside = os.path.normpath(os.path.join(os.path.dirname(path), base))
        base_path = beside if os.path.isfile(beside) else find_config(base, f"{path}: {BASE}: ")
        if any(os.path.samefile(base_path, each) for _, each in chain):
            raise InputError(f"{path}: {BASE}: {base}: starts from itself")
        if len(chain) > MAX_BASES:
            raise InputError(f"{path}: {BASE}: {base}: more than {MAX_BASES} bases")
        path = base_path
