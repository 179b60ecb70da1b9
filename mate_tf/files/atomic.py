"""Atomic writing: a file is complete or it does not exist, also if the process is killed.

Paths may be of any file system that TensorFlow supports, such as `gs://`.
"""

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator

from mate_tf.errors import InputError
from mate_tf.files import paths

_TEMPORARY = ".tmp"


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike) -> Iterator[str]:
    """Yields the path of an empty temporary file in the folder of `path`, which is made if needed.

    The temporary file is renamed to `path` when the block ends, or removed if the block fails. A
    killed process leaves its temporary file behind. The next process that writes `path` removes it.

    Raises:
        InputError: if the folder cannot be created.
    """
    path = os.fspath(path)
    folder, name = os.path.split(path)
    try:
        paths.make_folder(folder or ".")
    except OSError as error:
        raise InputError(f"{folder}: cannot create the folder: {error}") from error
    # Because of the dot it matches no pattern of finished files.
    begin = os.path.join(folder, f".{name}.")
    with _new_file(begin) as temporary:
        try:
            yield temporary
            _to_disk(temporary)
            paths.replace(path, temporary)
        except BaseException:
            with contextlib.suppress(OSError):
                paths.remove(temporary)
            raise


@contextlib.contextmanager
def _new_file(begin: str) -> Iterator[str]:
    """Yields a new path that begins like this, and removes others that nobody writes to.

    A local file is locked as long as it is written. Process ids would not tell who writes it: the
    processes of two containers on one volume may have the same.
    """
    if paths.is_remote(begin):  # remote stores keep no part of a file that is not closed
        yield f"{begin}{secrets.token_hex(8)}{_TEMPORARY}"
        return
    for other in paths.beginning_with(begin):
        if other.endswith(_TEMPORARY):
            _remove_if_abandoned(other)
    while True:
        path = f"{begin}{secrets.token_hex(8)}{_TEMPORARY}"
        with open(path, "xb") as file:
            with contextlib.suppress(OSError):  # a file system without locks: nobody removes it
                fcntl.flock(file, fcntl.LOCK_EX)
            if not os.path.exists(path):  # another process took it for abandoned before the lock
                continue
            yield path
            return


def _remove_if_abandoned(path: str) -> None:
    """Removes a temporary file, unless its lock is held or cannot be taken."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.remove(path)


def write_text(path: str | os.PathLike, text: str) -> None:
    """Writes a UTF-8 file atomically. Line ends are not changed.

    Raises:
        InputError: if the folder cannot be created.
    """
    with atomic_path(path) as temporary, paths.opened(temporary, "wb") as file:
        file.write(text.encode("utf-8"))


def write_json(path: str | os.PathLike, content, *, indent: int | None = 2, **options) -> None:
    """Writes a JSON file atomically, by default with indent 2, and with a line end.

    Args:
        path: the file.
        content: any value that `json.dumps` takes.
        indent: as for `json.dumps`.
        **options: further arguments of `json.dumps`.

    Raises:
        InputError: if the folder cannot be created.
    """
    write_text(path, json.dumps(content, indent=indent, **options) + "\n")


def _to_disk(path: str) -> None:
    """Flushes a local file to disk."""
    if paths.is_remote(path):  # remote stores complete a file when it is closed
        return
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
