"""Variables of a SavedModel, read without TensorFlow.

Its files are a table in the format of LevelDB, with an entry for each variable, and the values one
after the other (tensorflow/core/util/tensor_bundle). All checksums are compared.
"""

import struct
from collections.abc import Iterator
from typing import Any

import google_crc32c
import numpy as np

from mate_tf.errors import InputError
from mate_tf.files import paths

_FOOTER, _TRAILER, _MAGIC = 48, 5, 0xDB4775248B80FB57
_FLOAT, _BFLOAT16 = 1, 14  # of tensorflow.DataType


def read(prefix: str) -> dict[str, np.ndarray]:
    """Reads the variables of floats, name -> <float32>[...].

    Args:
        prefix: path of the files without their endings.

    Raises:
        InputError: if they cannot be read, or are damaged.
    """
    try:
        with paths.open_regular(f"{prefix}.index") as file:
            table = file.read()
        result = {}
        with paths.open_regular(f"{prefix}.data-00000-of-00001") as file:
            for name, entry in _entries(table):
                if name and _first(entry, 1) in (_FLOAT, _BFLOAT16):
                    result[name.decode()] = _tensor(file, entry)
        return result
    except (OSError, ValueError, LookupError, struct.error) as error:
        raise InputError(f"{prefix}: not readable variables ({error})") from error


def _tensor(file, entry: dict[int, list]) -> np.ndarray:
    """Reads the values that a BundleEntryProto names."""
    shape = [_first(_message(each), 1) for each in _message(_first(entry, 2, b"")).get(2, [])]
    file.seek(_first(entry, 4))
    values = bytearray(file.read(_first(entry, 5)))  # arrays of which can be written to
    _check(bytes(values), _first(entry, 6))
    if _first(entry, 1) == _BFLOAT16:
        bits = np.frombuffer(values, "<u2").astype("<u4") << 16
        return bits.view("<f4").reshape(shape)
    return np.frombuffer(values, "<f4").reshape(shape)


def _entries(table: bytes) -> Iterator[tuple[bytes, dict[int, list]]]:
    """Yields the name and the BundleEntryProto of each variable, number of a field -> values."""
    footer = table[-_FOOTER:]
    if len(footer) < _FOOTER or struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
        raise ValueError("its index is cut off")
    place = 0
    for _ in range(2):  # the block of other data
        _, place = _varint(footer, place)
    for _, handle in _block(table, *_handle(footer, place)):
        for name, value in _block(table, *_handle(handle, 0)):
            yield name, _message(value)


def _block(table: bytes, begin: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yields the keys and values of a block, whose keys begin like the ones before."""
    content = table[begin : begin + size + 1]
    (stored,) = struct.unpack("<I", table[begin + size + 1 : begin + size + _TRAILER])
    _check(content, stored)
    if content[-1]:
        raise ValueError("its index is compressed")
    (restarts,) = struct.unpack("<I", content[-5:-1])
    end, place, key = size - 4 * (restarts + 1), 0, b""
    while place < end:
        shared, place = _varint(content, place)
        own, place = _varint(content, place)
        length, place = _varint(content, place)
        key = key[:shared] + content[place : place + own]
        place += own
        yield key, content[place : place + length]
        place += length


def _handle(data: bytes, place: int) -> tuple[int, int]:
    """Returns begin and size of a block."""
    begin, place = _varint(data, place)
    return begin, _varint(data, place)[0]


def _message(data: bytes) -> dict[int, list]:
    """Returns the fields of a protocol buffer: number -> its values, integers or bytes."""
    result, place = {}, 0
    while place < len(data):
        tag, place = _varint(data, place)
        if tag & 7 == 0:
            value, place = _varint(data, place)
        elif tag & 7 == 2:
            length, place = _varint(data, place)
            value, place = data[place : place + length], place + length
        elif tag & 7 == 5:
            value, place = struct.unpack("<I", data[place : place + 4])[0], place + 4
        else:
            raise ValueError(f"a field of wire type {tag & 7}")
        result.setdefault(tag >> 3, []).append(value)
    return result


def _first(message: dict[int, list], number: int, default: int | bytes = 0) -> Any:
    return message.get(number, [default])[0]


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Returns an integer and the place after it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def _check(data: bytes, stored: int) -> None:
    """Raises ValueError if the checksum of data is another one."""
    checksum = google_crc32c.value(data)
    masked = ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if masked != stored:
        raise ValueError("a checksum is wrong: it is damaged")
