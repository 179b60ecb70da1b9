"""The benchmark of attention runs and counts what it says."""

import argparse

import pytest


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("attention")


def test_flops_of_two_bert_base_layers(benchmark):
    """MATE's products at 2048 tokens are 62.3 GFLOP; the limits of its speed-up follow."""
    assert benchmark.flops("mate_efficient", 2048) / 1e9 == pytest.approx(62.3, abs=0.05)
    ratios = {
        n: benchmark.flops("full", n) / benchmark.flops("mate_efficient", n)
        for n in (2048, 4096, 8192)
    }
    assert ratios == pytest.approx({2048: 1.34, 4096: 1.76, 8192: 2.58}, abs=0.01)


SMALL = {
    "HIDDEN": 16,
    "HEADS": 4,
    "INTERMEDIATE": 32,
    "GLOBAL_LENGTH": 8,
    "RADIUS": 4,
    "QUESTION": 4,
    "MATMUL": (64, 16, 32),
}


@pytest.mark.parametrize("training", [False, True])
def test_measures_and_plots(benchmark, training, tmp_path, capsys, monkeypatch):
    for name, value in SMALL.items():
        monkeypatch.setattr(benchmark, name, value)
    args = argparse.Namespace(
        lengths=[60],
        variants=["full", "mate_efficient"],
        compile="plain",
        repeats=1,
        training=training,
    )
    results = benchmark.measure_speed(args)
    assert [row["variant"] for row in results] == ["full", "mate_efficient"]
    assert all(row["seconds"] > 0 for row in results)
    assert "x full" in capsys.readouterr().out
    benchmark.plot(results, "seconds", "seconds", tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000
