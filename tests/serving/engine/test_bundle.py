"""Variables of SavedModels, read without TensorFlow, are those that TensorFlow reads."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.serving.engine import bundle


@pytest.fixture
def prefix(tmp_path):
    """Variables of several shapes and types; names that share their beginnings."""
    draw, module = np.random.default_rng(0), tf.Module()
    module.kept = [
        tf.Variable(draw.normal(size=shape).astype(np.float32))
        for shape in ((), (3,), (0, 2), (40, 50), *[(7, 2)] * 300)
    ]
    module.half = tf.Variable(tf.constant([1.5, -2.0], tf.bfloat16))
    module.number = tf.Variable(3)
    tf.saved_model.save(module, str(tmp_path / "saved"))
    return str(tmp_path / "saved" / "variables" / "variables")


def test_all_variables(prefix):
    found, reader = bundle.read(prefix), tf.train.load_checkpoint(prefix)
    types = reader.get_variable_to_dtype_map()
    floats = {name for name, dtype in types.items() if dtype in (tf.float32, tf.bfloat16)}
    assert found.keys() == floats
    assert len(found) == 305
    for name, values in found.items():
        expected = np.asarray(reader.get_tensor(name), np.float32)
        assert values.dtype == np.float32
        np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("ending", ["index", "data-00000-of-00001"])
def test_damaged_files(prefix, ending):
    """Every byte that is flipped or cut off is noticed, but for those that nothing needs."""
    path = f"{prefix}.{ending}"
    with open(path, "rb") as file:
        content = file.read()
    expected, noticed, tried = bundle.read(prefix), 0, 0
    for place in range(0, len(content), max(1, len(content) // 97)):
        for damaged in (
            content[:place],
            content[:place] + bytes([content[place] ^ 32]) + content[place + 1 :],
        ):
            with open(path, "wb") as file:
                file.write(damaged)
            tried += 1
            found = None
            with contextlib.suppress(InputError):
                found = bundle.read(prefix)
            if found is None:
                noticed += 1
                continue
            assert found.keys() == expected.keys()
            for name, values in found.items():
                np.testing.assert_array_equal(values, expected[name])
    # The object graph, which is not read, is half of this small file of data.
    assert noticed > (0.8 if ending == "index" else 0.45) * tried


def test_missing_files(tmp_path):
    with pytest.raises(InputError, match=r"not readable variables \(.*No such file"):
        bundle.read(str(tmp_path / "variables"))
