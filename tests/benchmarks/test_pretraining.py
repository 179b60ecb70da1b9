"""The comparison of starting points runs each training once and reports all seeds."""

import json
import sys

import pytest


@pytest.fixture
def benchmark(load_benchmark):
    return load_benchmark("pretraining")


def test_each_training_runs_once(benchmark, tmp_path, monkeypatch, capsys):
    runs = []

    def train(options, log, *flags):
        runs.append(dict(flag.lstrip("-").split("=", 1) for flag in flags))
        log.parent.mkdir(parents=True, exist_ok=True)
        table = f"  loss             0.5\n  answer accuracy {len(runs)}1.00 %\n"
        return f"step 4/4  loss 0.5  acc 3.0 %\ntrained | step 4\n{table}"

    monkeypatch.setattr(benchmark, "train", train)
    arguments = [
        "pretraining.py",
        f"--fine_tuning_data={tmp_path / 'sqa'}",
        f"--pretraining_data={tmp_path / 'pre'}",
        f"--output={tmp_path / 'out'}",
        "--pretraining_steps=6",
        "--steps=4",
        "--seeds",
        "0",
        "1",
    ]
    (tmp_path / "pre" / "full").mkdir(parents=True)
    (tmp_path / "pre" / "full" / "ckpt-6.index").touch()
    monkeypatch.setattr(sys, "argv", arguments)
    benchmark.main()
    pretrained = [run for run in runs if "init_checkpoint" not in run and "attention" in run]
    assert {run["attention"] for run in pretrained} == {"mate_efficient"}  # full was there
    starts = [run.get("init_checkpoint") for run in runs if "attention" not in run]
    mate, full = (str(tmp_path / "pre" / name / "ckpt-6") for name in ("mate_efficient", "full"))
    assert starts == [None, None, mate, mate, full, full]
    found = json.loads((tmp_path / "out" / "pretraining.json").read_text())["accuracy"]
    assert found["nothing"] == [0.11, 0.21]
    assert "nothing              16.0  11.0  21.0" in capsys.readouterr().out
    assert (tmp_path / "out" / "pretraining.png").stat().st_size > 1000
    # Again: all results are there.
    done = len(runs)
    (tmp_path / "pre" / "mate_efficient").mkdir(exist_ok=True)
    (tmp_path / "pre" / "mate_efficient" / "ckpt-6.index").touch()
    benchmark.main()
    assert len(runs) == done
