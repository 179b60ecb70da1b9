"""The safetensors format: what is read, what is refused, what is written."""

import json
import os
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mate_tf.checkpoints import huggingface, safetensors
from mate_tf.errors import InputError


def write_file(path, header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return str(path)


def entry(dtype, shape, *offsets):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("F64", np.float64),
        ("F32", np.float32),
        ("F16", np.float16),
        ("BF16", ml_dtypes.bfloat16),
        ("I64", np.int64),
        ("U8", np.uint8),
        ("BOOL", np.bool_),
    ],
)
@pytest.mark.parametrize("begin", ["", "file://"])
def test_types(tmp_path, name, dtype, begin):
    values = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    first = np.array(1).astype(dtype)
    size = first.nbytes
    header = {
        "__metadata__": {"format": "pt"},
        "table": entry(name, [2, 3], size, 7 * size),
        "scalar": entry(name, [], 0, size),
        "empty": entry(name, [0, 3], size, size),
    }
    path = write_file(tmp_path / "x.safetensors", header, first.tobytes() + values.tobytes())
    tensors = safetensors.read(f"{begin}{path}")
    assert {name: tensor.shape for name, tensor in tensors.items()} == {
        "table": (2, 3),
        "scalar": (),
        "empty": (0, 3),
    }
    assert tensors["table"].read().dtype == dtype
    np.testing.assert_array_equal(tensors["table"].read(), values)
    np.testing.assert_array_equal(tensors["scalar"].read(), first)
    assert tensors["empty"].read().size == 0


def twice(dtype, *offsets):
    """A header with two entries of one name."""
    first, second = (json.dumps(entry(dtype, [2], *pair)) for pair in offsets)
    return f'{{"w": {first}, "w": {second}}}'.encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"abc",
        struct.pack("<Q", 1 << 60) + b"{}",
        struct.pack("<Q", 3) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 2) + b"{1",
        struct.pack("<Q", 2) + b"\xff\xff",
        struct.pack("<Q", 100_000) + b"[" * 100_000,
        struct.pack("<Q", 5 * 20_000 + 2 + 20_000) + b'{"a":' * 20_000 + b"{}" + b"}" * 20_000,
    ],
)
@pytest.mark.parametrize("begin", ["", "file://"])
def test_what_is_no_such_file(tmp_path, content, begin):
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x.safetensors: not a safetensors file, or damaged: "):
        safetensors.read(f"{begin}{path}")


@pytest.mark.parametrize(
    "header",
    [
        {"w": entry("F32", [3], 0, 12)},
        {"w": entry("F32", [2], 4, 12)},
        {"w": entry("F32", [2], -8, 0)},
        {"w": entry("F32", [2], 8, 0)},
        {"w": entry("F32", [3], 0, 8)},
        {"w": entry("F32", [-1, -2], 0, 8)},
        {"w": entry("F32", ["2"], 0, 8)},
        {"w": entry("F32", [2], 0)},
        {"w": entry(["F32"], [2], 0, 8)},
        {"w": entry("F32", {}, 0, 8)},
        {"w": {"dtype": "F32", "shape": [2]}},
        {"w": "F32"},
        {"w": None},
        {"w": entry("F32", [2], 0, 8), "v": entry("F32", [2], 0, 8)},  # overlapping
        {"w": entry("F32", [1], 0, 4)},  # bytes behind the last tensor
        {"w": entry("F32", [1], 0, 4), "v": entry("U8", [2], 6, 8)},  # a gap
        {},
        {"__metadata__": 1, "w": entry("F32", [2], 0, 8)},
        {"__metadata__": {"a": 1}, "w": entry("F32", [2], 0, 8)},
        twice("F16", (0, 4), (4, 8)),
    ],
)
@pytest.mark.parametrize("begin", ["", "file://"])
def test_wrong_headers(tmp_path, header, begin):
    path = write_file(tmp_path / "x.safetensors", header, b"\0" * 8)
    with pytest.raises(InputError, match=r"x.safetensors: not a safetensors file, or damaged: "):
        safetensors.read(f"{begin}{path}")


@pytest.mark.parametrize("begin", ["", "file://"])
def test_a_dtype_that_is_not_read(tmp_path, begin):
    path = write_file(tmp_path / "x.safetensors", {"w": entry("F8_E4M3", [8], 0, 8)}, b"\0" * 8)
    with pytest.raises(InputError, match="w: has the dtype F8_E4M3; read are F64, F32, "):
        safetensors.read(f"{begin}{path}")


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "absent"])
def test_what_is_no_file(tmp_path, kind):
    path = tmp_path / "model.safetensors"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    with pytest.raises(InputError, match=r"model.safetensors: cannot be read: "):
        safetensors.read(str(path))
    with pytest.raises(InputError, match=r"model.safetensors: cannot be read: "):
        huggingface.tensors(str(path))


arrays = hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))


@given(st.dictionaries(st.text(max_size=5).filter(lambda name: name != "__metadata__"), arrays))
def test_round_trip(tmp_path_factory, tensors):
    path = str(tmp_path_factory.mktemp("files") / "x.safetensors")
    safetensors.write(path, tensors)
    again = safetensors.read(path)
    assert again.keys() == tensors.keys()
    for name, value in tensors.items():
        assert again[name].shape == value.shape
        np.testing.assert_array_equal(again[name].read(), value)


def test_files_are_the_same_whatever_the_order_and_aligned(tmp_path):
    a, b = np.arange(3, dtype=np.float32), np.arange(4.0).reshape(2, 2).T
    safetensors.write(str(tmp_path / "1"), {"a": a, "b": b})
    safetensors.write(str(tmp_path / "2"), {"b": b, "a": a})
    content = (tmp_path / "1").read_bytes()
    assert content == (tmp_path / "2").read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    assert length % 8 == 0
    assert sorted(tmp_path.iterdir()) == [tmp_path / "1", tmp_path / "2"]
    header = json.loads(content[8 : 8 + length])
    assert header["b"] == {"dtype": "F32", "shape": [2, 2], "data_offsets": [12, 28]}
    np.testing.assert_array_equal(safetensors.read(str(tmp_path / "1"))["b"].read(), b)


def test_written_in_another_dtype(tmp_path):
    path = str(tmp_path / "x.safetensors")
    values = np.array([1.0, 1.00390625, -3.5], np.float32)  # the second one needs 9 bits
    safetensors.write(path, {"w": values}, "BF16")
    (stored,) = safetensors.read(path).values()
    assert stored.read().dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(stored.read().astype(np.float32), [1.0, 1.0, -3.5])
