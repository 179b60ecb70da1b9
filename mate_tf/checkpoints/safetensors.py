"""Reads and writes the safetensors format, which contains no code.

A file has the header's length (8 bytes, little endian), a JSON header with names, dtypes, shapes
and offsets, and the raw data that the offsets refer to.
"""

import functools
import json
import struct
from collections.abc import Mapping

import ml_dtypes
import numpy as np
import tensorflow as tf
from safetensors import SafetensorError, deserialize, safe_open

from mate_tf.checkpoints import channels, shared
from mate_tf.checkpoints.stored_tensor import StoredTensor
from mate_tf.errors import InputError
from mate_tf.files import paths
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
    """Returns name -> tensor of a file; matrices in 8 bits (`channels`) as <float32>.

    Tensors that it shares with the file of another preset (`shared`) are among them.

    Raises:
        InputError: if the file is not in this format or is cut off, a tensor has a dtype that is
            not in `DTYPES`, or the other file is not there.
    """
    tensors, metadata = _stored(path)
    tensors = shared.add(path, metadata, tensors, _stored)
    for name in [name for name, (dtype, _) in tensors.items() if dtype == "I8"]:
        scales = tensors.pop(name + channels.SCALE, None)
        if scales is not None:
            tensors[name] = "F32", _restored(path, tensors[name][1], scales[1])
    return {name: tensor for name, (_, tensor) in tensors.items()}


def share(path: str, preset: str) -> None:
    """Removes the tensors of a file that the file of another preset has as well.

    Args:
        path: the file, which is written anew.
        preset: name of the other preset, see `shared`.

    Raises:
        InputError: one of them cannot be read.
    """
    other, _ = _stored(shared.other_file(path, preset))
    tensors, _ = _stored(path)
    both = sorted(tensors.keys() & other.keys())
    same = [name for name in both if _are_equal(tensors[name], other[name])]
    own = {name: tensor.read() for name, (_, tensor) in tensors.items() if name not in same}
    write(path, own, None, {shared.PRESET: preset, shared.NAMES: " ".join(same)})


def _are_equal(one: tuple[str, StoredTensor], other: tuple[str, StoredTensor]) -> bool:
    (dtype, tensor), (other_dtype, other_tensor) = one, other
    if (dtype, tensor.shape) != (other_dtype, other_tensor.shape):
        return False
    return tensor.read().tobytes() == other_tensor.read().tobytes()


def _stored(path: str) -> tuple[dict[str, tuple[str, StoredTensor]], dict[str, str]]:
    """Returns name -> (dtype in the file, tensor), and the metadata of a file."""
    paths.check_regular(path)
    try:
        # The library maps files of this machine into memory. Remote ones are read at once.
        return _read_bytes(path) if paths.is_remote(path) else _read_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path}: not a safetensors file, or damaged: {error}") from error


def _restored(path: str, values: StoredTensor, scales: StoredTensor) -> StoredTensor:
    channels.check(path, values.name, values.shape, scales.shape)
    restored = functools.partial(_restored_values, values, scales)
    return StoredTensor(values.name, values.shape, restored)


def _restored_values(values: StoredTensor, scales: StoredTensor) -> np.ndarray:
    return channels.matrix(values.read(), scales.read())


def _read_file(path: str):
    file = safe_open(path, "numpy")
    tensors = {}
    for name in file.keys():  # noqa: SIM118  it is not a dict
        part = file.get_slice(name)
        _check_type(path, name, part.get_dtype())
        values = functools.partial(file.get_tensor, name)
        tensor = StoredTensor(name, tuple(part.get_shape()), values)
        tensors[name] = part.get_dtype(), tensor
    return tensors, file.metadata() or {}


def _read_bytes(path: str):
    content, tensors = paths.read_bytes(path), {}
    for name, part in deserialize(content):
        dtype, shape = _check_type(path, name, part["dtype"]), tuple(part["shape"])
        values = np.frombuffer(part["data"], dtype).reshape(shape)
        tensors[name] = part["dtype"], StoredTensor(name, shape, lambda values=values: values)
    return tensors, shared.metadata(content)


def _check_type(path: str, name: str, dtype: str) -> np.dtype:
    if dtype not in DTYPES:
        raise InputError(f"{path}: {name}: has the dtype {dtype}; read are {', '.join(DTYPES)}")
    return DTYPES[dtype]


def write(
    path: str,
    tensors: Mapping[str, np.ndarray],
    dtype: str | None = "F32",
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes tensors, those of wide dtypes first, then sorted by name.

    The file appears at `path` when it is complete.

    Args:
        path: file to write.
        tensors: name -> <number>[...] of any shape.
        dtype: dtype in the file, a key of `DTYPES`; None: each array has its own.
        metadata: texts for the header.

    Raises:
        InputError: if the folder cannot be created.
    """
    tensors = {name: _as_stored(values, dtype) for name, values in tensors.items()}
    names = {stored: name for name, stored in DTYPES.items()}
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))  # keeps all aligned
    header: dict[str, dict] = {"__metadata__": {"format": "pt", **(metadata or {})}}
    end = 0
    for name in order:
        tensor = tensors[name]
        offsets = [end, end := end + tensor.nbytes]
        header[name] = {
            "dtype": names[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": offsets,
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with atomic_path(path) as temporary, tf.io.gfile.GFile(temporary, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            file.write(tensors[name].tobytes())


def _as_stored(values: np.ndarray, dtype: str | None) -> np.ndarray:
    return np.asarray(values, DTYPES[dtype] if dtype else None, order="C")
