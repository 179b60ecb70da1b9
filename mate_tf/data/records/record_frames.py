"""Reads the records of TFRecord files, and finds damage, also that which TensorFlow may not see."""

import gzip
import struct
import zlib
from collections.abc import Iterator

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.files import paths

GZIP, PLAIN = "GZIP", ""
"""Compressions."""

_GZIP_MAGIC = b"\x1f\x8b"
_HEADER = struct.Struct("<QI")  # of a record: length of its content, checksum of the length
_FOOTER = 4  # checksum of the content
_LARGEST_RECORD = 2**31

# Deprecated for tf.data, which takes milliseconds to open a file; without that warning.
_iterate = tf.compat.v1.io.tf_record_iterator
_iterate = getattr(_iterate, "__wrapped__", _iterate)


def compression(path: str) -> str:
    """Returns the compression of a file, found by its first bytes."""
    paths.check_regular(path)
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return GZIP if file.read(2) == _GZIP_MAGIC else PLAIN
    except tf.errors.OpError as error:
        raise InputError(f"{path}: cannot be read: {error.message}") from error


def count(path: str) -> int:
    """Counts the records of a file and verifies checksums; GZIP has one for the whole file."""
    return _scan(path) if compression(path) == GZIP else sum(1 for _ in records(path))


def _scan(path: str) -> int:
    """Counts the records of a file; detects truncated files, which TensorFlow may not."""
    number = 0
    try:
        with tf.io.gfile.GFile(path, "rb") as raw:
            file = gzip.GzipFile(fileobj=raw) if compression(path) == GZIP else raw
            while header := file.read(_HEADER.size):
                _read_frame(file, header)
                number += 1
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: damaged at record {number + 1}: {error}") from error
    except (OSError, tf.errors.OpError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    return number


def _read_frame(file, header: bytes) -> None:
    """Reads one record: length, checksum, content, checksum; raises EOFError if it is damaged."""
    if len(header) < _HEADER.size:
        raise EOFError("the file ends within it")
    length, _ = _HEADER.unpack(header)
    if length > _LARGEST_RECORD:
        raise EOFError("this is not a TFRecord file, or its content was overwritten")
    if len(file.read(length + _FOOTER)) < length + _FOOTER:
        raise EOFError("the file ends within it")


def records(path: str) -> Iterator[bytes]:
    """Yields the records of a file after a check for damage."""
    _scan(path)
    yield from unscanned_records(path)


def unscanned_records(path: str) -> Iterator[bytes]:
    """Yields the records of a file with verified checksums; may not detect a truncated file."""
    number = 0
    try:
        for record in _iterate(path, compression(path)):
            number += 1
            yield record
    except tf.errors.DataLossError as error:
        raise InputError(f"{path}: damaged at record {number + 1}: {error.message}") from error
