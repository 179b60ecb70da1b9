"""Atomic writing: a file is there whole or not at all, whatever happens to the process.

Paths may be of any file system that TensorFlow knows, such as `gs://`.
"""

import contextlib
import json
import os

import tensorflow as tf

from mate_tf.errors import InputError


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike):
    """Gives a temporary name to write to, in the folder of `path`, which is made if needed.

    The temporary file is renamed to `path` when the block ends, or removed if the block fails. A
    killed process leaves it behind; the next one that writes the same path removes it.

    Raises:
        InputError: the folder cannot be made.
    """
    path = os.fspath(path)
    folder, name = os.path.split(path)
    try:
        tf.io.gfile.makedirs(folder or ".")
    except tf.errors.OpError as error:
        raise InputError(f"{folder}: cannot be made a folder: {error.message}") from error
    # The dot keeps it from matching patterns of the finished files.
    for abandoned in tf.io.gfile.glob(os.path.join(folder, f".{name}.*.tmp")):
        tf.io.gfile.remove(abandoned)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        yield temporary
        _to_disk(temporary)
        tf.io.gfile.rename(temporary, path, overwrite=True)
    except BaseException:
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(temporary)
        raise


def write_text(path: str | os.PathLike, text: str) -> None:
    """Writes a UTF-8 file as `atomic_path` does; line ends stay as they are.

    Raises:
        InputError: the folder cannot be made.
    """
    with atomic_path(path) as temporary, tf.io.gfile.GFile(temporary, "wb") as file:
        file.write(text.encode("utf-8"))


def write_json(path: str | os.PathLike, content, **options) -> None:
    """Writes a JSON file as `write_text` does, indented by 2 and with a line end.

    Args:
        path: the file.
        content: any value that `json.dumps` takes.
        **options: further arguments of `json.dumps`.

    Raises:
        InputError: the folder cannot be made.
    """
    write_text(path, json.dumps(content, **{"indent": 2} | options) + "\n")


def _to_disk(path: str) -> None:
    if "://" in path:  # a remote store completes a file when it is closed
        return
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
