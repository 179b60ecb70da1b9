"""The safetensors format: what is read, what is refused, what is written."""

import json
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mate_tf.checkpoints import safetensors
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
def test_types(tmp_path, name, dtype):
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
    tensors = safetensors.read(path)
    assert {name: tensor.shape for name, tensor in tensors.items()} == {
        "table": (2, 3),
        "scalar": (),
        "empty": (0, 3),
    }
    assert tensors["table"].read().dtype == dtype
    np.testing.assert_array_equal(tensors["table"].read(), values)
    np.testing.assert_array_equal(tensors["scalar"].read(), first)
    assert tensors["empty"].read().size == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it has 0 bytes"),
        (b"abc", "it has 3 bytes"),
        (struct.pack("<Q", 1 << 60) + b"{}", "its header would end at byte .* but it has 10"),
        (struct.pack("<Q", 3) + b"{}", "cut off: its header would end at byte 11"),
        (struct.pack("<Q", 2) + b"[]", "no JSON object"),
        (struct.pack("<Q", 2) + b"{1", "no JSON object"),
        (struct.pack("<Q", 2) + b"\xff\xff", "no JSON object"),
    ],
)
def test_what_is_no_such_file(tmp_path, content, message):
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"x.safetensors: .*{message}"):
        safetensors.read(str(path))


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (entry("F32", [3], 0, 12), "cut off: w ends at byte .*, but there are"),
        (entry("F32", [2], 4, 12), "cut off"),
        (entry("F32", [2], -8, 0), "cut off"),
        (entry("F32", [2], 8, 0), "-8 bytes do not fit"),
        (entry("F32", [3], 0, 8), r"w: 8 bytes do not fit the shape \[3\]"),
        (entry("F32", [-1, -2], 0, 8), "8 bytes do not fit"),
        (entry("F32", ["2"], 0, 8), "entry cannot be used"),
        (entry("F32", [2], 0), "entry cannot be used"),
        (entry("F8_E4M3", [8], 0, 8), "entry cannot be used: .*F8_E4M3"),
        (entry(["F32"], [2], 0, 8), "entry cannot be used"),
        ({"dtype": "F32", "shape": [2]}, "entry cannot be used"),
        ("F32", "entry cannot be used"),
    ],
)
def test_wrong_entries(tmp_path, tensor, message):
    path = write_file(tmp_path / "x.safetensors", {"w": tensor}, b"\0" * 8)
    with pytest.raises(InputError, match=message):
        safetensors.read(path)


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
