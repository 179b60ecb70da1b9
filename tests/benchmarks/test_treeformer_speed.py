"""The benchmark of tree attention runs, spreads tokens as it says, and counts as the paper does."""

import argparse
import json

import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    module = load_benchmark("treeformer_speed")
    module.HIDDEN, module.HEADS, module.HEIGHT = 16, 2, 3
    return module


def test_flops_by_hand(benchmark):
    """Of trees of height 3: three nodes on a path, all seven where the levels are scored whole."""
    full = 4 * 1000**2 * 16
    assert benchmark.flops("full", 1000, 16) == full
    assert benchmark.flops("tree_fine", 1000, 16) == full / 8 + 4 * 1000 * 16 * 3
    assert benchmark.flops("tree_fine", 1000, 16, at_once=True) == full / 8 + 4 * 1000 * 16 * 7
    assert benchmark.flops("tree_coarse", 1000, 16) == 4 * 1000 * 16 * 3 + 1000 * 16 + 4 * 15 * 16


def test_measures(benchmark, tmp_path, capsys):
    layers = [{"leaf_shares": [0.4, 0.3, 0.2, 0.1]}, {"leaf_shares": [1.0, 0.0, 0.0, 0.0]}]
    (tmp_path / "layers.jsonl").write_text(json.dumps({"step": 1, "layers": layers}) + "\n")
    args = argparse.Namespace(lengths=[80], repeats=1, variants=None, trained=str(tmp_path))
    results = benchmark.measure_speed(args)
    by_name = {row["variant"]: row for row in results}
    assert next(iter(by_name)) == "full"
    assert by_name["tree_fine"]["largest_leaf"] < 0.3
    assert 0.3 < by_name["tree_fine skewed"]["largest_leaf"] < 0.7
    assert by_name["tree_fine trained"]["largest_leaf"] == 1
    assert "x full" in capsys.readouterr().out


def test_tokens_are_spread_in_the_shares_wanted(benchmark):
    x = tf.random.stateless_normal([1, 400, 16], [1, 1])
    case = ("tree_fine", {"tree_height": 2}, [[0.5, 0.25, 0.25, 0.0]])
    _, layer = benchmark.make("tree_fine", case, x)
    leaves = np.concatenate(layer.leaves(x), axis=-1)[0, 0]
    for head in leaves:
        shares = np.bincount(head, minlength=4) / len(head)
        np.testing.assert_allclose(shares, [0.5, 0.25, 0.25, 0.0], atol=0.01)


def test_profiler_counts_what_the_formula_does(benchmark):
    """Apart from sums over segments, which it does not know, and integers."""
    full = benchmark.profiled_flops("full", 256, 16, 2)
    assert full == pytest.approx(benchmark.flops("full", 256, 16), rel=0.3)
    coarse = benchmark.profiled_flops("tree_coarse", 256, 16, 2)
    assert coarse == pytest.approx(benchmark.flops("tree_coarse", 256, 16, at_once=True), rel=0.3)
