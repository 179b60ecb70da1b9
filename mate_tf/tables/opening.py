"""Opens files of tables: regular files in UTF-8, with detailed errors."""

import codecs
import contextlib
import os
from collections.abc import Iterator
from typing import IO, Any

from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.tables.limits import UNLIMITED, Limits, check_size

CHUNK = 2**16
"""Characters or bytes that are read at a time."""


@contextlib.contextmanager
def opened(path: str | os.PathLike, limits: Limits = UNLIMITED) -> Iterator[IO[str]]:
    """Opens a UTF-8 file without its byte order mark; line ends stay as they are.

    Raises:
        InputError: if it cannot be read, is larger than allowed or is not a regular file, such as a
            pipe or /dev/zero, which has no end.
    """
    with opened_bytes(path, limits) as raw:
        first = os.pread(raw.fileno(), 4, 0)
        if len(first) == 4 and b"\0\0" in (first[::2], first[1::2]):
            raise InputError(f"{path}: not valid UTF-8: it looks like UTF-16; save it as UTF-8")
        fd = os.dup(raw.fileno())
        with open(fd, encoding="utf-8-sig", newline="") as file:
            yield file


@contextlib.contextmanager
def opened_bytes(path: str | os.PathLike, limits: Limits = UNLIMITED) -> Iterator[IO[bytes]]:
    """Opens a file for bytes; errors as for `opened`."""
    try:
        file = paths.open_regular(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {reason}") from None
    with file:
        check_size(path, size(file), limits)
        try:
            yield file
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None


@contextlib.contextmanager
def invalid_named(path: str | os.PathLike) -> Iterator[None]:
    """Raises InputError with the place of the first invalid byte for a UnicodeDecodeError."""
    try:
        yield
    except UnicodeDecodeError:
        with opened_bytes(path) as file:
            raise InputError(f"{path}: not valid UTF-8: {_first_invalid(file)}") from None


def share_read(file: Any) -> float:
    """Returns which share of a file was read so far, from 0 to 1."""
    return file.buffer.raw.tell() / max(size(file), 1)


def size(file: IO[Any]) -> int:
    """Returns the size of an open file, in bytes."""
    return os.fstat(file.fileno()).st_size


def counted(cells: list[Any]) -> str:
    """Returns the number of cells with its noun: "1 cell", "2 cells"."""
    return f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"


def _first_invalid(file: IO[bytes]) -> str:
    """Returns the place of the first byte that is not UTF-8, such as "byte 6 (line 2) is 0xff"."""
    decoder, before, lines = codecs.getincrementaldecoder("utf-8")(), 0, 1
    while True:
        chunk = file.read(CHUNK)
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            # The object begins with the bytes that the chunk before left over.
            offset = before - (len(error.object) - len(chunk)) + error.start
            line = lines + error.object.count(b"\n", 0, error.start)
            return f"byte {offset} (line {line}) is 0x{error.object[error.start]:02x}"
        if not chunk:
            return "it was changed while it was read"
        before, lines = before + len(chunk), lines + chunk.count(b"\n")
