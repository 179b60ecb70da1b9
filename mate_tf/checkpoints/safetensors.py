"""Reads and writes the safetensors format with numpy only.

A file has the header's length (8 bytes, little endian), a JSON header with names, dtypes, shapes
and offsets, and the raw data that the offsets refer to. The file contains no code.
"""

import json
import math
import struct

import ml_dtypes
import numpy as np
import tensorflow as tf

from mate_tf.checkpoints.stored import StoredTensor
from mate_tf.errors import InputError
from mate_tf.files.atomic import atomic_path

DTYPES = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
"""Name in the header -> dtype."""

_ALIGNMENT = 8


def read(path: str) -> dict[str, StoredTensor]:
    """Returns name -> tensor of a file.

    Raises:
        InputError: if the file is not in this format or is cut off, or a tensor has an unknown
            dtype or a size that does not fit its shape.
    """
    size = tf.io.gfile.stat(path).length
    with tf.io.gfile.GFile(path, "rb") as file:
        start = file.read(8)
        if len(start) < 8:
            raise InputError(f"{path}: not a safetensors file: it has {size} bytes")
        begin = 8 + struct.unpack("<Q", start)[0]
        if begin > size:
            raise InputError(
                f"{path}: not a safetensors file, or cut off: its header would end at byte "
                f"{begin}, but it has {size}"
            )
        text = file.read(begin - 8)
    try:
        header = json.loads(text)
        entries = {key: value for key, value in header.items() if key != "__metadata__"}
    except (ValueError, AttributeError) as error:
        raise InputError(f"{path}: not a safetensors file: its header is no JSON object") from error
    return {name: _stored(path, name, entry, begin, size) for name, entry in entries.items()}


def _stored(path, name, entry, begin, size) -> StoredTensor:
    try:
        dtype, shape = DTYPES[entry["dtype"]], tuple(entry["shape"])
        first, last = (begin + offset for offset in entry["data_offsets"])
        fits = min(shape, default=0) >= 0 and last - first == math.prod(shape) * dtype.itemsize
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: {name}: the header's entry cannot be used: {entry!r}") from error
    if not fits:
        raise InputError(f"{path}: {name}: {last - first} bytes do not fit the shape {list(shape)}")
    if not begin <= first <= last <= size:
        raise InputError(f"{path}: cut off: {name} ends at byte {last}, but there are {size}")

    def values():
        with tf.io.gfile.GFile(path, "rb") as file:
            file.seek(first)
            return np.frombuffer(file.read(last - first), dtype).reshape(shape)

    return StoredTensor(name, shape, values)


def write(path: str, tensors: dict[str, np.ndarray], dtype: str = "F32") -> None:
    """Writes tensors, sorted by name. The file appears at `path` when it is complete.

    Args:
        path: file to write.
        tensors: name -> <float>[...] of any shape.
        dtype: dtype in the file, a key of `DTYPES`.

    Raises:
        InputError: if the folder cannot be created.
    """
    stored = DTYPES[dtype]
    tensors = {name: np.asarray(tensors[name], stored, order="C") for name in sorted(tensors)}
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        offsets = [end, end := end + tensor.nbytes]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": offsets}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with atomic_path(path) as temporary, tf.io.gfile.GFile(temporary, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.tobytes())
