"""Reads interactions in protobuf's text format, one on each line, as google-research/tapas has it.

Its pre-training corpus, `interactions.txtpb.gz`, is such a file. Files may be packed with gzip or
not. Some lines are in memory at a time, and a line has a largest length, so that a small packed
file cannot take all memory. Lines are parsed by TensorFlow, which takes a tenth of protobuf's time
in Python.
"""

import contextlib
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import tensorflow as tf
from google.protobuf import descriptor_pb2, text_format

from mate_tf.data.records import record_frames
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2

LONGEST_LINE = 2**26
"""Largest number of bytes in a line; the longest tables of Wikipedia need some millions."""

_AT_ONCE, _BYTES_AT_ONCE = 64, 2**22  # lines that are parsed together
_FIELDS = ("id", "table", "questions")
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|.)")


def read(
    path: str | os.PathLike, keep: Callable[[bytes], bool] = bool
) -> Iterator[tuple[int, interaction_pb2.Interaction]]:
    """Reads the interactions of a file, without their extensions.

    Args:
        keep: function of a line that decides whether it is parsed; blank lines never are.

    Returns:
        iterator over pairs (number of the line, from 1; its interaction).

    Raises:
        InputError: if the file cannot be read or is damaged; if a line is too long, is not UTF-8 or
            has another format. The message names the file and the line.
    """
    path = os.fspath(path)
    for chunk in _chunks((number, line) for number, line in _lines(path) if keep(line)):
        yield from zip((number for number, _ in chunk), _parsed(chunk, path), strict=True)


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Yields the lines that are not blank, with their numbers."""
    number = 0
    try:
        with _opened(path) as file:
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise InputError(f"{path} line {number}: more than {LONGEST_LINE >> 20} MiB")
                # Concatenated files have byte order marks in the middle too.
                line = line.removeprefix(b"\xef\xbb\xbf").strip()
                if line:
                    yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: damaged after line {number}: {error}") from error
    except (OSError, tf.errors.OpError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


@contextlib.contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    """Opens a file, packed or not, which its first bytes say."""
    packed = record_frames.compression(path) == record_frames.GZIP
    with tf.io.gfile.GFile(path, "rb") as raw:
        opened: Any = gzip.GzipFile(fileobj=raw) if packed else io.BufferedReader(_Raw(raw))
        with opened as file:
            yield file


class _Raw(io.RawIOBase):
    """A GFile with the methods of Python's files: lines with a largest length."""

    def __init__(self, file: tf.io.gfile.GFile):
        self._file = file

    def readable(self):
        return True

    def readinto(self, buffer):
        """Reads as many bytes as the buffer takes; returns their number."""
        content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)


def _chunks(lines: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Yields lists of lines to parse together."""
    chunk, size = [], 0
    for number, line in lines:
        chunk.append((number, line))
        size += len(line)
        if len(chunk) >= _AT_ONCE or size >= _BYTES_AT_ONCE:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _parsed(chunk: list[tuple[int, bytes]], path: str) -> list[interaction_pb2.Interaction]:
    """Parses lines. A chunk with a line that TensorFlow refuses is parsed again, for its error."""
    try:
        # TensorFlow takes other bytes too, which protobuf then gives as bytes and not as text.
        if not all(_is_text(line) for _, line in chunk):
            raise ValueError("not UTF-8")
        sizes, values = tf.io.decode_proto(
            [line for _, line in chunk],
            interaction_pb2.Interaction.DESCRIPTOR.full_name,
            _FIELDS,
            [tf.string] * len(_FIELDS),
            descriptor_source=_descriptors(),
            message_format="text",
        )
        of_lines = zip(sizes.numpy(), *(each.numpy() for each in values), strict=True)
        return [_built(*of_line) for of_line in of_lines]
    except (tf.errors.DataLossError, tf.errors.InvalidArgumentError, ValueError):
        return [_parse(line, f"{path} line {number}") for number, line in chunk]


def _descriptors() -> bytes:
    """Returns the description of the interaction's messages, as TensorFlow takes it."""
    described = descriptor_pb2.FileDescriptorSet()
    interaction_pb2.DESCRIPTOR.CopyToProto(described.file.add())
    return b"bytes://" + described.SerializeToString()


def _built(sizes, ids, tables, questions) -> interaction_pb2.Interaction:
    """Returns the interaction of the serialized fields."""
    interaction = interaction_pb2.Interaction()
    if sizes[0]:
        interaction.id = ids[0].decode("utf-8")
    if sizes[1]:
        interaction.table.MergeFromString(tables[0])
    for question in questions[: sizes[2]]:
        interaction.questions.add().MergeFromString(question)
    return interaction


def _is_text(line: bytes) -> bool:
    """Returns True if all texts of a line are UTF-8, those with escapes such as "\\303" too."""

    def byte(escape):
        octal, hexadecimal = escape.groups()
        number = int(octal, 8) if octal else int(hexadecimal, 16) if hexadecimal else 0
        return bytes([number & 0xFF])

    try:
        _ESCAPE.sub(byte, line).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _parse(line: bytes, where: str) -> interaction_pb2.Interaction:
    """Parses one line with protobuf, which says what is wrong; unknown extensions are left out."""
    try:
        message = text_format.Parse(
            line.decode("utf-8"), interaction_pb2.Interaction(), allow_unknown_extension=True
        )
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not valid UTF-8 ({error.reason})") from None
    except (text_format.ParseError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{where}: not an interaction in protobuf's text format: {reason}"
        ) from None
    return interaction_pb2.Interaction(
        id=message.id, table=message.table, questions=message.questions
    )
