"""Weights with NaN or infinity are refused, wherever they are read from."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.checkpoints import finite
from mate_tf.errors import InputError
from mate_tf.models.encoder import EncoderConfig, TableEncoder

from .conftest import SIZES


@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", tf.bfloat16.as_numpy_dtype])
def test_values(value, word, dtype):
    values = np.ones([3, 4], dtype)
    finite.check("a/model", "kernel", values)
    values[1, 2] = value
    with pytest.raises(InputError, match=f"^a/model: the weights kernel have {word}; .*another"):
        finite.check("a/model", "kernel", values)


def test_what_has_no_such_values():
    for values in (np.ones([2], np.int64), np.ones([0, 3], np.float32), np.array(b"text")):
        finite.check("a/model", "kernel", values)


def test_variables():
    good, bad = tf.Variable([1.0], name="good"), tf.Variable([1.0, np.nan], name="bad")
    finite.check_variables("a/model", [good, tf.Variable(3)])
    with pytest.raises(InputError, match="a/model: the weights bad have NaN"):
        finite.check_variables("a/model", [good, bad])


@pytest.mark.parametrize("kind", ["tensorflow", "huggingface"])
def test_load(tmp_path, kind):
    model = TableEncoder(EncoderConfig(**SIZES))
    words = next(each for each in model.variables if "word_embeddings" in each.name)
    values = words.numpy()
    values[3, 1] = np.nan
    words.assign(values)
    if kind == "tensorflow":
        tf.train.Checkpoint(model).save(tmp_path / "ckpt")
    else:
        checkpoints.save_huggingface(model, tmp_path)
    with pytest.raises(InputError, match=r"the weights .*word_embeddings.* have NaN"):
        checkpoints.load(TableEncoder(EncoderConfig(**SIZES)), tmp_path)
