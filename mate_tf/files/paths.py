"""Files of this machine, and of remote stores such as `gs://`, which TensorFlow reads and writes.

TensorFlow is imported for remote paths only. All functions raise OSError for files and folders that
cannot be used.
"""

import contextlib
import glob
import os
from collections.abc import Iterator
from typing import IO


def is_remote(path: str | os.PathLike) -> bool:
    """Returns whether a path is a URL such as `gs://bucket/file`."""
    return "://" in os.fspath(path)


@contextlib.contextmanager
def _gfile():
    """Yields TensorFlow's functions for files; raises their errors as OSError."""
    import tensorflow as tf

    try:
        yield tf.io.gfile
    except tf.errors.OpError as error:
        raise OSError(error.message) from error


@contextlib.contextmanager
def opened(path: str | os.PathLike, mode: str) -> Iterator[IO[bytes]]:
    """Opens a file.

    Args:
        path: the file.
        mode: "rb" or "wb".
    """
    if is_remote(path):
        with _gfile() as gfile, gfile.GFile(os.fspath(path), mode) as file:
            yield file
    else:
        with open(path, mode) as file:
            yield file


def read_bytes(path: str | os.PathLike) -> bytes:
    """Reads a whole file."""
    with opened(path, "rb") as file:
        return file.read()


def size(path: str | os.PathLike) -> int:
    """Returns the size of a file in bytes."""
    if is_remote(path):
        with _gfile() as gfile:
            return gfile.stat(os.fspath(path)).length
    return os.path.getsize(path)


def make_folder(path: str) -> None:
    """Makes a folder and those that it is in; none of them needs to be new."""
    if is_remote(path):
        with _gfile() as gfile:
            gfile.makedirs(path)
    else:
        os.makedirs(path, exist_ok=True)


def names(folder: str) -> list[str]:
    """Returns the names of files and folders in a folder; [] if there is no such folder."""
    if is_remote(folder):
        with _gfile() as gfile:
            found = gfile.listdir(folder) if gfile.isdir(folder) else []
            return [name.rstrip("/") for name in found]
    return os.listdir(folder) if os.path.isdir(folder) else []


def beginning_with(path: str) -> list[str]:
    """Returns the paths that begin with this one, which has no patterns."""
    if is_remote(path):
        with _gfile() as gfile:
            return gfile.glob(f"{path}*")
    return glob.glob(f"{glob.escape(path)}*", include_hidden=True)


def replace(path: str, by: str) -> None:
    """Renames the file `by` to `path`, also if there is one already."""
    if is_remote(path):
        with _gfile() as gfile:
            gfile.rename(by, path, overwrite=True)
    else:
        os.replace(by, path)


def remove(path: str) -> None:
    """Removes a file."""
    if is_remote(path):
        with _gfile() as gfile:
            gfile.remove(path)
    else:
        os.remove(path)
