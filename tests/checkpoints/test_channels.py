"""Weights in 8 bits, with a scale for each channel."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mate_tf.checkpoints import channels, safetensors
from mate_tf.errors import InputError

from .test_safetensors import entry, write_file

WIDTHS = st.floats(-1e4, 1e4, width=32)
matrices = hnp.arrays(np.float32, st.tuples(*[st.integers(1, 5)] * 2), elements=WIDTHS)


@pytest.mark.parametrize(("name", "axis"), [("a/kernel", 0), ("bert/embeddings/words", 1)])
@given(values=matrices)
def test_error_is_half_a_step_of_the_channel(name, axis, values):
    """A step is a 127th of the largest value in the column, or in the row of an embedding."""
    again = channels.restored("", channels.rounded({name: values}))[name]
    step = np.abs(values).max(axis, keepdims=True) / 127
    assert (np.abs(again - values) <= 0.5001 * step + 1e-37).all()


@given(values=matrices)
def test_rounding_twice_changes_nothing(values):
    once = channels.rounded({"w": values})
    twice = channels.rounded(channels.restored("", once))
    for name, expected in once.items():
        used = (once["w"] != 0).any(axis=0)  # the scale of a channel of zeros is free
        np.testing.assert_array_equal(twice[name][:, used], expected[:, used])


def test_vectors_stay(tmp_path):
    weights = {"bias": np.array([1, 0.1], np.float32), "kernel": 127 * np.eye(2, dtype=np.float32)}
    path = str(tmp_path / "x.safetensors")
    safetensors.write(path, channels.rounded(weights), None)
    found = safetensors.read(path)
    assert found.keys() == weights.keys()
    for name, expected in weights.items():
        np.testing.assert_array_equal(found[name].read(), expected)


def test_eight_bits_without_scales_are_whole_numbers(tmp_path):
    path = str(tmp_path / "x.safetensors")
    safetensors.write(path, {"w": np.array([[1, 2]], np.int8), "v.scale": np.ones(1)}, None)
    found = safetensors.read(path)
    assert found.keys() == {"w", "v.scale"}
    assert found["w"].read().dtype == np.int8


def test_tensors_stay_aligned(tmp_path):
    path = tmp_path / "x.safetensors"
    safetensors.write(str(path), {"a": np.ones(3, np.int8), "b": np.ones(2, np.float32)}, None)
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert header["b"]["data_offsets"] == [0, 8]
    assert header["a"]["data_offsets"] == [8, 11]


def test_scales_of_another_shape(tmp_path):
    header = {"w": entry("I8", [2, 3], 0, 6), "w.scale": entry("F32", [2], 8, 16)}
    header["pad"] = entry("U8", [2], 6, 8)
    path = write_file(tmp_path / "x.safetensors", header, bytes(16))
    with pytest.raises(InputError, match=r"x\.safetensors: w\.scale: has the shape \[2\], which"):
        safetensors.read(path)
