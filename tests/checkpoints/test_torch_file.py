"""Files of torch.save, made here without torch: what is read, and that nothing of theirs runs."""

import collections
import os
import pickle
import zipfile

import ml_dtypes
import numpy as np
import pytest

from mate_tf.checkpoints import torch_file
from mate_tf.errors import InputError

from ..torch_files import Storage, fake_torch, save, tensor


@pytest.fixture
def torch():
    with fake_torch() as module:
        yield module


def test_tensors_that_share_a_storage_are_transposed_or_of_other_types(torch, tmp_path):
    flat = np.arange(6, dtype=np.float32)
    half = np.array([0.5, -2.0])
    shared = Storage(torch.FloatStorage, "0", 6)
    content = collections.OrderedDict(
        whole=tensor(torch, shared, 0, (2, 3), (3, 1)),
        transposed=torch.Parameter(tensor(torch, shared, 0, (3, 2), (1, 3))),
        part=tensor(torch, shared, 2, (3,), (1,)),
        scalar=tensor(torch, shared, 5, (), ()),
        empty=tensor(torch, Storage(torch.FloatStorage, "3", 0), 0, (0, 4), (4, 1)),
        half=tensor(torch, Storage(torch.HalfStorage, "1", 2), 0, (2,), (1,)),
        brain=tensor(torch, Storage(torch.BFloat16Storage, "2", 2), 0, (2,), (1,)),
        epoch=3,
    )
    content._metadata = collections.OrderedDict(version=1)  # as every state_dict has
    storages = {"0": flat, "1": half.astype(np.float16), "2": half.astype(ml_dtypes.bfloat16)}
    storages["3"] = flat[:0]
    tensors = torch_file.read(save(tmp_path / "x.bin", content, storages))
    assert tensors.keys() == content.keys() - {"epoch"}
    expected = {
        "whole": flat.reshape(2, 3),
        "transposed": flat.reshape(2, 3).T,
        "part": flat[2:5],
        "scalar": flat[5],
        "empty": np.zeros([0, 4]),
        "half": half,
        "brain": half,
    }
    for name, value in expected.items():
        assert tensors[name].shape == value.shape
        np.testing.assert_array_equal(tensors[name].read().astype(np.float32), value)


class Runs:
    """Would run a command when a usual unpickler reads it."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("place", ["alone", "beside", "inside"])
@pytest.mark.parametrize(
    ("function", "name"), [(os.system, "posix.system"), (eval, "eval"), (getattr, "getattr")]
)
def test_nothing_is_run(torch, tmp_path, place, function, name):
    witness = tmp_path / "was_here"
    attack = Runs(function, f"touch {witness}" if function is os.system else "1", "real")
    good = tensor(torch, Storage(torch.FloatStorage, "0", 2), 0, (2,), (1,))
    content = {
        "alone": attack,
        "beside": {"w": good, "x": attack},
        "inside": {"w": tensor(torch, attack, 0, (2,), (1,))},
    }[place]
    path = save(tmp_path / "x.bin", content, {"0": np.zeros(2, np.float32)})
    with pytest.raises(InputError, match=f"x.bin: its pickle asks for .*{name}, which is not part"):
        torch_file.read(path)
    assert not witness.exists()


def test_other_things_of_torch_are_refused(torch, tmp_path):
    path = save(tmp_path / "x.bin", {"w": torch.Generator()}, {})
    with pytest.raises(InputError, match=r"asks for (torch.Generator|copyreg)"):
        torch_file.read(path)


@pytest.mark.parametrize(
    ("size", "offset", "shape", "strides", "message"),
    [
        (6, 0, (7,), (1,), "do not lie within"),
        (6, 5, (2,), (1,), "do not lie within"),
        (6, 0, (2, 3), (4, 1), "do not lie within"),
        (6, -1, (2,), (1,), "do not lie within"),
        (6, 0, (2,), (-1,), "do not lie within"),
        (6, 0, (-2,), (1,), "do not lie within"),
        (9, 0, (2,), (1,), "do not lie within"),
        (6, 0, (2, 3), (1,), "has a tensor without a valid storage or shape"),
        (6, 0, ("a",), (1,), "cannot be read as PyTorch weights"),
    ],
)
def test_tensors_outside_their_storage(torch, tmp_path, size, offset, shape, strides, message):
    content = {"w": tensor(torch, Storage(torch.FloatStorage, "0", size), offset, shape, strides)}
    path = save(tmp_path / "x.bin", content, {"0": np.zeros(6, np.float32)})
    with pytest.raises(InputError, match=message):
        torch_file.read(path)


@pytest.mark.parametrize(
    ("pickled", "message"),
    [
        (b"\x80\x02}r\xff\xff\xff\x7f.", "its pickle has the memo index 2147483647"),
        (b"\x80\x05\x96\xff\xff\xff\xff\x0f\0\0\0.", "expected 68719476735 bytes"),
    ],
    ids=["memo", "bytearray"],
)
def test_no_memory_for_what_is_not_there(tmp_path, pickled, message):
    """Python would reserve 32 GiB for the number, and 64 GiB for the array."""
    path = tmp_path / "pytorch_model.bin"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
    with pytest.raises(InputError, match=message):
        torch_file.read(str(path))


def test_files_of_other_kinds(torch, tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(pickle.dumps({"w": 1}))
    with pytest.raises(InputError, match=r"x.bin: not a zip archive.*before PyTorch 1.6"):
        torch_file.read(str(path))
    good = {"w": tensor(torch, Storage(torch.FloatStorage, "0", 2), 0, (2,), (1,))}
    zeros = {"0": np.zeros(2, np.float32)}
    content = (tmp_path / "good.bin", good, zeros)
    save(*content)
    path.write_bytes(content[0].read_bytes()[:-30])
    with pytest.raises(InputError, match="cut off"):
        torch_file.read(str(path))
    with pytest.raises(InputError, match="little-endian"):
        torch_file.read(save(*content, byteorder=b"big"))
    for nothing in ([1], {}, {"state_dict": good}):
        with pytest.raises(InputError, match="does not hold a dict of tensors"):
            torch_file.read(save(path, nothing, zeros))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/other.pkl", b"")
    with pytest.raises(InputError, match="no PyTorch weights"):
        torch_file.read(str(path))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02")
    with pytest.raises(InputError, match="cannot be read as PyTorch weights"):
        torch_file.read(str(path))
