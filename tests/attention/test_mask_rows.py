"""Attention row by row, in a compiled loop."""

import importlib.util

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from mate_tf.attention import AttentionConfig, mask_files, mask_rows
from mate_tf.errors import InputError

from .conftest import context_of


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**31 - 1),
    n=st.integers(1, 60),
    heads=st.sampled_from([1, 3]),
    share=st.sampled_from([0.0, 0.05, 0.5]),
    shorter=st.integers(0, 30),
)
def test_rows_against_numpy(seed, n, heads, share, shorter):
    """Rows that see nothing or all, padding anywhere, and inputs shorter than the mask."""
    rng = np.random.default_rng(seed)
    mask = rng.random([heads, n, n]) < share
    mask[:, rng.integers(n)] = True
    mask[:, rng.integers(n)] = False
    own = mask_rows.rows(mask)
    np.testing.assert_array_equal(mask_rows.dense_mask(*own, n), mask)
    seq = max(n - shorter, 1)
    query, key, value = rng.normal(size=[3, 2, 3, seq, 8]).astype(np.float32)
    real = rng.random([2, seq]) < 0.8
    found = mask_rows._attend(query, key, value, *own, real, np.float32(0.5))
    allowed = mask[None, :, :seq, :seq] & real[:, None, :, None] & real[:, None, None]
    weights = np.exp(0.5 * query @ key.swapaxes(-1, -2)) * allowed
    weights /= np.maximum(weights.sum(-1, keepdims=True), 1e-30)
    np.testing.assert_allclose(found, weights @ value, atol=1e-5)


def test_large_scores_and_other_dtypes(tables, tmp_path):
    """Scores of any size, and bfloat16 in and out."""
    path = tmp_path / "mask.npz"
    mask_files.save(path, np.random.default_rng(0).random([1, 40, 40]) < 0.1)
    config = AttentionConfig(name="static_mask", mask=str(path), form="rows")
    context = context_of(40)
    run = tables.layer_pair(config)
    masked = tables.layer_pair(AttentionConfig(config, form="masked"))
    parts = [1e4 * tf.random.stateless_normal([1, 40, 4, 4], [i, 0]) for i in range(3)]
    expected = masked.layer.attend(*parts, masked.pattern(context))
    found = run.layer.attend(*parts, run.pattern(context))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-2)
    halves = [tf.cast(part / 1e4, tf.bfloat16) for part in parts]
    found = run.layer.attend(*halves, run.pattern(context))
    assert found.dtype == tf.bfloat16
    expected = masked.layer.attend(
        *(tf.cast(x, tf.float32) for x in halves), masked.pattern(context)
    )
    np.testing.assert_allclose(tf.cast(found, tf.float32), expected, atol=0.02)


def test_gradients_are_those_of_the_mask(tables, tmp_path):
    path = tmp_path / "mask.npz"
    mask_files.save(path, np.random.default_rng(0).random([4, 50, 50]) < 0.1)
    x = tf.random.stateless_normal([2, 48, 16], [1, 2])
    context = context_of(48, [48, 31])
    gradients = []
    for form in ("masked", "rows"):
        config = AttentionConfig(name="static_mask", mask=str(path), form=form)
        run = tables.layer_pair(config)

        @tf.function(autograph=False)
        def compute(run=run):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(tf.sin(run(x, context)))
            return tape.gradient(loss, [x, *run.layer.trainable_variables])

        gradients.append(compute())
    assert np.abs(gradients[0][0]).max() > 0.1
    for masked, rows in zip(*gradients, strict=True):
        np.testing.assert_allclose(rows, masked, atol=2e-5)


def test_without_numba(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "numba" else found(name)
    )
    with pytest.raises(InputError, match=r"form rows needs Numba: pip install 'mate-tf\[rows\]'"):
        mask_rows.check_installed()
