"""The benchmark of static masks runs, and its masks are what it says they are."""

import argparse

import numpy as np
import pytest


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    module = load_benchmark("static_masks_speed")
    module.HEADS, module.HEAD_SIZE = 2, 8
    return module


def test_learned_masks_are_sparse_enough(benchmark):
    masks = benchmark.learned_masks(1024)
    of_diagonals = ("banded", "banded by head", "scattered", "scattered by head")
    assert set(masks) == {*of_diagonals, "mixed", "random", "permuted band"}
    for name in ("mixed", "random", "permuted band"):
        assert 0.9 < 1 - masks[name].mean() < 0.95
    for name in of_diagonals:
        mask = masks[name]
        assert 0.9 < 1 - mask.mean() < 0.95
        assert len(mask) == (2 if name.endswith("head") else 1)
        assert mask[:, 0].all()
        assert mask[:, :, -1].all()
        inner = mask[:, 1:-1, 1:-1]
        np.testing.assert_array_equal(inner[:, 1:, 1:], inner[:, :-1, :-1])
        np.testing.assert_array_equal(inner, inner.transpose(0, 2, 1))


def test_measures(benchmark, tmp_path, capsys):
    args = argparse.Namespace(lengths=[1024], repeats=1, variants=["banded"], form="auto")
    full, banded = benchmark.measure(args)
    assert (full["variant"], full["form"]) == ("full", "mask")
    assert (banded["variant"], banded["form"]) == ("banded", "blocks")
    assert banded["speedup"] > 0
    assert "x full" in capsys.readouterr().out
