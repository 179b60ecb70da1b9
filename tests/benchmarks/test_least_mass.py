"""Bounds on gradients of trees: trained for two steps for real, and the table of results."""

import json
import sys

import pytest


@pytest.fixture
def benchmark(load_benchmark):
    return load_benchmark("least_mass")


def test_a_line_for_each_bound(benchmark):
    def runs(norm, *accuracies):
        return [
            {"median": norm, "largest": 10 * norm, benchmark.METRIC: each} for each in accuracies
        ]

    lines = benchmark.table({benchmark.NONE: runs(3.0, 0.25), 0.1: runs(0.5, 0.5, 0.25)})
    _, without, bounded = lines.splitlines()
    assert without.split() == ["none", "3", "30", "25.0", "25.0"]
    assert bounded.split() == ["0.1", "0.5", "5", "37.5", "50.0", "25.0"]


@pytest.mark.slow
def test_two_steps_for_real(benchmark, tmp_path, monkeypatch, capsys):
    arguments = ["x", "--steps=2", "--seeds", "0", "--tree_height=1", f"--data={tmp_path / 'data'}"]
    arguments += [f"--output={tmp_path / 'out'}", "--bounds", "1e-9", "0.5"]
    config = (benchmark.ROOT / "configs" / "associative_recall.yaml").read_text("utf-8")
    small = config.replace("num_train: 8000, num_dev: 1000, num_test: 1000", "num_train: 64")
    assert small != config
    (tmp_path / "small.yaml").write_text(
        small.replace("num_train: 64", "num_train: 64, num_dev: 8")
    )
    monkeypatch.setattr(sys, "argv", [*arguments, f"--config={tmp_path / 'small.yaml'}"])
    benchmark.main()
    found = json.loads((tmp_path / "out" / "least_mass.json").read_text())
    assert found.keys() == {"1e-09", "0.5"}
    for ((run,),) in zip(found.values(), strict=True):
        assert run["largest"] > 0
        assert run["largest"] >= run["median"]
        assert 0 <= run[benchmark.METRIC] <= 1
    assert found["1e-09"] != found["0.5"]
    assert "LEAST_MASS" in capsys.readouterr().out
    trained = tmp_path / "data" / "runs" / "0.5_0"
    assert (trained / "ckpt-2.index").exists()
