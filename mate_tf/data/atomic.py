"""Files that are there whole or not at all, whatever happens to the process that writes them."""

import contextlib
import os

import tensorflow as tf

from mate_tf.errors import InputError


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike):
    """A name to write to, in the folder of `path`, which is made if it is not there.

    What was written is moved to `path` when the block ends, or removed if it fails. A killed
    process cannot remove it; the next one that writes the same file does.

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


def _to_disk(path: str) -> None:
    if "://" in path:  # a remote store completes a file when it is closed
        return
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
