"""All ways of attending under a scattered mask give the same, and the plot names them."""

import numpy as np
import pytest
import tensorflow as tf

LENGTH = 16


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    module = load_benchmark("scattered_masks")
    module.HEADS, module.HEAD_SIZE, module.CHUNK = 2, 4, 8
    return module


@pytest.fixture(scope="module")
def mask():
    drawn = np.random.default_rng(0).random((LENGTH, LENGTH)) < 0.2
    drawn |= np.eye(LENGTH, dtype=bool)
    drawn[[0, -1]] = True  # as in the benchmark, the first and the last token attend to all
    return drawn


def test_all_ways_are_equal(benchmark, mask):
    shape = [1, LENGTH, 2, 4]
    query, key, value = (tf.random.stateless_normal(shape, [part, 0]) for part in range(3))
    found = {
        name: attend(query, key, value).numpy()
        for name, attend in benchmark.of_all_scores(mask).items()
    }
    scores = np.einsum("bqhd,bkhd->bhqk", query, key) / 2
    weights = np.exp(np.where(mask, scores, -np.inf))
    expected = np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(-1, keepdims=True), value)
    masked = [name for name in found if name.startswith(("mask", "added"))]
    assert len(masked) == 6
    for name in masked:
        np.testing.assert_allclose(found[name], expected, atol=1e-5, err_msg=name)
    gathered = benchmark.of_allowed_pairs(mask)["gathered keys"](query, key, value)
    np.testing.assert_allclose(gathered[:, 1:-1], expected[:, 1:-1], atol=1e-5)


def test_plot(benchmark):
    rows = [{"way": way, "processor_speedup": speed} for way, speed in (("full", 1), ("b", 0.82))]
    axes = benchmark.plot(rows, 2048).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["full", "b"]
    assert [text.get_text() for text in axes.texts] == ["1.00", "0.82"]
    assert "2,048 tokens" in axes.get_title()
    assert "times as fast as full attention" in axes.get_xlabel()
