"""--flagfile=FILE: flags in a file, one on each line."""

import os
from collections.abc import Iterator

from mate_tf.errors import InputError
from mate_tf.files import paths

_FLAGS = ("--flagfile", "-flagfile")
_COMMENTS = ("#", "//")
_MAX_BYTES = 2**20


def expand(arguments: list[str]) -> list[str]:
    """Returns the arguments with the lines of files in place of --flagfile=FILE.

    Blank lines and those that begin with # or // are left out. A file may have --flagfile itself.

    Raises:
        InputError: if a file cannot be read, is not UTF-8, is larger than 1 MiB or includes itself.
    """
    return list(_expanded(iter(arguments), ()))


def _expanded(arguments: Iterator[str], within: tuple[str, ...]) -> Iterator[str]:
    for argument in arguments:
        name, given, path = argument.partition("=")
        if name.strip() not in _FLAGS:
            yield argument
            if argument == "--":
                yield from arguments
            continue
        if not given:
            path = next(arguments, "")
            if not path:
                raise InputError("--flagfile needs a file name")
        if path.strip():  # an empty name has no effect
            yield from _read(os.path.expanduser(path.strip()), within)


def _read(path: str, within: tuple[str, ...]) -> Iterator[str]:
    text = paths.read_text(path, _MAX_BYTES, f"--flagfile={path}")
    real = os.path.realpath(path)
    if real in within:
        raise InputError(f"--flagfile={path}: includes itself")
    lines = (line.strip() for line in text.splitlines())
    yield from _expanded(
        (line for line in lines if line and not line.startswith(_COMMENTS)), (*within, real)
    )
