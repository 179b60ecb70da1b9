"""Writes files of torch.save without torch."""

import collections
import contextlib
import io
import pickle
import sys
import types
import unittest.mock
import zipfile


class Storage:
    """What torch pickles by reference: a type, a key and a number of values."""

    def __init__(self, kind, key, size):
        self.reference = ("storage", kind, key, "cpu", size)


@contextlib.contextmanager
def fake_torch():
    """Yields a module with the names of torch's, for pickles to refer to."""
    torch = types.ModuleType("torch")
    torch._utils = types.ModuleType("torch._utils")
    for name in ("FloatStorage", "HalfStorage", "BFloat16Storage", "LongStorage", "Generator"):
        setattr(torch, name, type(name, (), {"__module__": "torch"}))

    class Tensor:
        def __init__(self, *arguments):
            self.arguments = arguments

        def __reduce__(self):
            return torch._utils._rebuild_tensor_v2, self.arguments

    def _rebuild_tensor_v2(*arguments):
        raise AssertionError("never called")

    def _rebuild_parameter(*arguments):
        raise AssertionError("never called")

    class Parameter:
        def __init__(self, tensor):
            self.tensor = tensor

        def __reduce__(self):
            return torch._utils._rebuild_parameter, (self.tensor, True, collections.OrderedDict())

    for function in (_rebuild_tensor_v2, _rebuild_parameter):
        function.__module__ = "torch._utils"
        function.__qualname__ = function.__name__
        setattr(torch._utils, function.__name__, function)
    torch.Tensor, torch.Parameter = Tensor, Parameter
    modules = {"torch": torch, "torch._utils": torch._utils}
    with unittest.mock.patch.dict(sys.modules, modules):
        yield torch


class Pickler(pickle.Pickler):
    """Writes storages as references, as torch does."""

    def persistent_id(self, item):
        return item.reference if isinstance(item, Storage) else None


def save(path, content, storages, root="archive", byteorder=b"little"):
    buffer = io.BytesIO()
    Pickler(buffer, protocol=2).dump(content)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{root}/data.pkl", buffer.getvalue())
        archive.writestr(f"{root}/byteorder", byteorder)
        for key, value in storages.items():
            archive.writestr(f"{root}/data/{key}", value.tobytes())
    return str(path)


def tensor(torch, storage, offset, shape, strides):
    return torch.Tensor(storage, offset, shape, strides, False, collections.OrderedDict())
