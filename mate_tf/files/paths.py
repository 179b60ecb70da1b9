"""Paths of files, also in remote stores such as `gs://`, which TensorFlow reads.

TensorFlow is imported for remote paths only.
"""

import contextlib
import os
from collections.abc import Iterator


def is_remote(path: str | os.PathLike) -> bool:
    """Returns whether a path is a URL such as `gs://bucket/file`."""
    return "://" in os.fspath(path)


@contextlib.contextmanager
def as_os_error() -> Iterator[None]:
    """Raises errors of TensorFlow's file systems as OSError, with their messages."""
    import tensorflow as tf

    try:
        yield
    except tf.errors.OpError as error:
        raise OSError(error.message) from error


def read_bytes(path: str | os.PathLike) -> bytes:
    """Reads a whole file.

    Raises:
        OSError: if it cannot be read.
    """
    if not is_remote(path):
        with open(path, "rb") as file:
            return file.read()
    import tensorflow as tf

    with as_os_error(), tf.io.gfile.GFile(os.fspath(path), "rb") as file:
        return file.read()
