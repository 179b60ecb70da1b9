"""Files of this machine, and of remote stores such as `gs://`, which TensorFlow reads and writes.

TensorFlow is imported for remote paths only. Functions raise OSError for files and folders that
cannot be used; those that check a path for a library raise InputError.
"""

import contextlib
import errno
import glob
import os
import stat
from collections.abc import Iterator
from typing import IO

from mate_tf.errors import InputError


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
    elif mode == "rb":
        with open_regular(path) as file:
            yield file
    else:
        with open(path, mode) as file:
            yield file


def open_regular(path: str | os.PathLike) -> IO[bytes]:
    """Opens a file of this machine for reading, without waiting for the writer of a pipe.

    Raises:
        OSError: if it cannot be opened, or is a pipe, socket, device or folder.
    """
    # O_NONBLOCK: a pipe without a writer would be waited for.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    try:
        _check_mode(path, os.fstat(file.fileno()).st_mode)
    except OSError:
        file.close()
        raise
    return file


def read_text(path: str | os.PathLike, most: int, name: str) -> str:
    """Reads a UTF-8 file of this machine.

    Args:
        path: the file.
        most: largest size, in bytes.
        name: what it is called in messages.

    Raises:
        InputError: if it cannot be read, is larger, or is not UTF-8.
    """
    try:
        with open_regular(path) as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: NUL in the name
        raise InputError(f"{name}: cannot be read: {_reason(error)}") from None
    if len(content) > most:
        raise InputError(f"{name}: is larger than {most:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not valid UTF-8 ({error.reason})") from None


def check_regular(path: str | os.PathLike) -> None:
    """Raises InputError if a library could not read this file to its end, or not open it.

    For files that TensorFlow and other libraries open themselves. Remote files pass.
    """
    path = os.fspath(path)
    if is_remote(path):
        return
    try:
        _check_mode(path, os.stat(path).st_mode)
    except (OSError, ValueError) as error:  # ValueError: NUL in the name
        raise InputError(f"{path}: cannot be read: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _check_mode(path: str | os.PathLike, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file, but a pipe, socket or device", path)


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
    """Creates a folder and its parents; any of them may exist already."""
    if is_remote(path):
        with _gfile() as gfile:
            gfile.makedirs(path)
    else:
        os.makedirs(path, exist_ok=True)


def names(folder: str) -> list[str]:
    """Returns the names of files and folders in a folder; [] if the folder does not exist."""
    if is_remote(folder):
        with _gfile() as gfile:
            entries = gfile.listdir(folder) if gfile.isdir(folder) else []
            return [name.rstrip("/") for name in entries]
    return os.listdir(folder) if os.path.isdir(folder) else []


def beginning_with(path: str) -> list[str]:
    """Returns the paths that begin with this one, which has no patterns."""
    if is_remote(path):
        with _gfile() as gfile:
            return gfile.glob(f"{path}*")
    return glob.glob(f"{glob.escape(path)}*", include_hidden=True)


def matching(pattern: str | os.PathLike) -> list[str]:
    """Returns the files that a path or pattern names, sorted; [] if there are none.

    A path that exists is a name. Otherwise, the folders that exist by their names are names, and
    what follows them is a pattern: `lr=[1]/train*.tfrecord` has files of this one folder.
    """
    pattern = os.fspath(pattern)
    if is_remote(pattern):
        with _gfile() as gfile:
            return sorted(gfile.glob(pattern))
    if os.path.lexists(pattern):
        return [pattern]
    folder = os.path.dirname(pattern)
    while folder and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return below(folder, pattern[len(folder) :].lstrip("/"))


def below(folder: str | os.PathLike, pattern: str) -> list[str]:
    """Returns the files in a folder that match a pattern, sorted. The folder's name is a name."""
    folder = os.fspath(folder)
    if is_remote(folder):
        return matching(os.path.join(folder, pattern))
    return sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))


def check_no_pattern(path: str | os.PathLike, name: str) -> None:
    """Raises InputError if TensorFlow would take the name of a folder or checkpoint for a pattern.

    It looks for checkpoints and for the weights of SavedModels by patterns, and then finds none, or
    those of other folders.

    Args:
        path: the folder or checkpoint.
        name: what it is called in the message.
    """
    path = os.fspath(path)
    if not is_remote(path) and set(path) & set("[]*?\\"):
        raise InputError(
            f"{name}: TensorFlow reads [ ] * ? \\ in a folder name as a pattern; "
            "choose another name"
        )


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
