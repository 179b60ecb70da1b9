"""Reads files of torch.save, without torch and without running code from the file.

Since PyTorch 1.6 such a file is a zip archive: `data.pkl`, a pickle of a dict of tensors, and one
member `data/KEY` with the raw values of each storage. A pickle can call any function by its name.
This unpickler accepts only the few functions that build a tensor, and replaces them by its own.
"""

import collections
import io
import pickle
import pickletools
import zipfile

import ml_dtypes
import numpy as np
import tensorflow as tf

from mate_tf.checkpoints.stored_tensor import StoredTensor
from mate_tf.errors import InputError
from mate_tf.files import paths, zips

_STORAGES = {
    "DoubleStorage": np.dtype("<f8"),
    "FloatStorage": np.dtype("<f4"),
    "HalfStorage": np.dtype("<f2"),
    "BFloat16Storage": np.dtype(ml_dtypes.bfloat16),
    "LongStorage": np.dtype("<i8"),
    "IntStorage": np.dtype("<i4"),
    "ShortStorage": np.dtype("<i2"),
    "CharStorage": np.dtype("i1"),
    "ByteStorage": np.dtype("u1"),
    "BoolStorage": np.dtype("?"),
}

_Storage = collections.namedtuple("_Storage", ["dtype", "member", "size"])
_Tensor = collections.namedtuple("_Tensor", ["storage", "offset", "shape", "strides"])


def read(path: str) -> dict[str, StoredTensor]:
    """Returns name -> tensor of a file.

    Raises:
        InputError: if the file is not of torch.save, has an older format, is damaged, or its pickle
            needs anything besides tensors and dicts.
    """
    paths.check_regular(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        if not _is_zip(file):
            raise InputError(
                f"{path}: not a zip archive of torch.save: cut off, or written before PyTorch 1.6 "
                "(then torch.load it and torch.save it again)"
            )
        try:
            with zipfile.ZipFile(file) as archive:
                zips.check_stored(archive, file.size())  # torch.save packs nothing
                content = _unpickled(archive)
                sizes = {member.filename: member.file_size for member in archive.infolist()}
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        except Exception as error:  # a broken pickle can raise any exception
            raise InputError(f"{path}: cannot be read as PyTorch weights ({error})") from error
    tensors = {str(name): part for name, part in content.items() if isinstance(part, _Tensor)}
    return {name: _stored(path, name, part, sizes) for name, part in tensors.items()}


def _is_zip(file) -> bool:
    try:
        return zipfile.is_zipfile(file)
    except tf.errors.OpError:  # the file is shorter than the end record of a zip archive
        return False


def _unpickled(archive: zipfile.ZipFile) -> dict:
    pickles = [name for name in archive.namelist() if name.split("/")[1:] == ["data.pkl"]]
    if len(pickles) != 1:
        raise InputError("the archive has no PyTorch weights (no data.pkl)")
    root = pickles[0].removesuffix("data.pkl")
    if root + "byteorder" in archive.namelist() and archive.read(root + "byteorder") != b"little":
        raise InputError("the weights are not little-endian")
    pickled = archive.read(pickles[0])
    _check_sizes(pickled)
    content = _TensorUnpickler(io.BytesIO(pickled), root).load()
    if not isinstance(content, dict) or not any(isinstance(v, _Tensor) for v in content.values()):
        raise InputError("does not hold a dict of tensors such as model.state_dict()")
    return content


def _check_sizes(pickled: bytes) -> None:
    """Checks a pickle before it is loaded: Python reserves memory for sizes that are only claimed.

    Raises InputError for a memo index above the size, ValueError for values beyond the end.
    """
    for opcode, argument, _ in pickletools.genops(pickled):
        if "PUT" in opcode.name and int(argument or 0) > len(pickled):
            raise InputError(f"its pickle has the memo index {argument}, beyond its size")


class _TensorUnpickler(pickle.Unpickler):
    """Unpickles tensors and dicts of tensors, and raises InputError for everything else."""

    def __init__(self, file, root):
        super().__init__(file)
        self._root = root

    def find_class(self, module, name):
        """Returns a replacement for a function or type that builds tensors."""
        known = {
            ("collections", "OrderedDict"): collections.OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
            ("torch._utils", "_rebuild_parameter"): lambda tensor, *_: tensor,
        }
        if (module, name) in known:
            return known[module, name]
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        raise InputError(f"its pickle asks for {module}.{name}, which is not part of a tensor")

    def persistent_load(self, reference):
        """Returns the storage that a persistent id refers to."""
        kind, dtype, key, _, size = reference
        if kind != "storage" or not isinstance(dtype, np.dtype):
            raise InputError(f"its pickle refers to {kind!r}, which is not a storage of a tensor")
        return _Storage(dtype, f"{self._root}data/{key}", int(size))


def _tensor(storage, offset, shape, strides, *_):
    if not isinstance(storage, _Storage) or len(shape) != len(strides):
        raise InputError("its pickle has a tensor without a valid storage or shape")
    return _Tensor(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def _stored(path, name, tensor, sizes) -> StoredTensor:
    storage, offset, shape, strides = tensor
    steps = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    last = offset + sum(steps)
    inside = min((offset, *shape, *strides)) >= 0 and last < storage.size
    stored = sizes.get(storage.member, 0)
    if (not inside and 0 not in shape) or stored != storage.size * storage.dtype.itemsize:
        raise InputError(f"{path}: {name}: damaged, its values do not lie within the file")

    def values():
        try:
            with tf.io.gfile.GFile(path, "rb") as file, zipfile.ZipFile(file) as archive:
                flat = np.frombuffer(archive.read(storage.member), storage.dtype)
        except (*zips.DAMAGED, tf.errors.OpError) as error:
            raise InputError(f"{path}: {name}: damaged ({error})") from error
        step = storage.dtype.itemsize
        return np.lib.stride_tricks.as_strided(
            flat[offset:], shape, [stride * step for stride in strides], writeable=False
        )

    return StoredTensor(name, shape, values)
