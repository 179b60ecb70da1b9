"""The comparison of POINTR's variants runs each once, on one reader, and prints them together."""

import json
import sys

import pytest


@pytest.fixture
def benchmark(load_benchmark):
    return load_benchmark("pointr")


def test_variants_share_a_reader(benchmark, tmp_path, monkeypatch, capsys):
    runs = []

    def run(options, mode, model_dir, *flags):
        runs.append((mode, model_dir.name, flags))
        if mode == "create_data":
            (options.data / "read" / "tf_examples").mkdir(parents=True)
        if mode == "train":
            (model_dir / "read").mkdir(exist_ok=True)
            (model_dir / "read" / model_dir.name).touch()
        if mode == "predict_and_evaluate":
            share = 0.1 * len(runs)
            hits = {
                f"Hits@{k}": {
                    "model": {"all": [share, 9]},
                    benchmark.RANKER: {"all": [0.1, 9]},
                }
                for k in (1, 3, 5)
            }
            difference = {benchmark.RANKER: {"Hits@1": "+1.0% [+0.5%, +1.5%]"}}
            (model_dir / "point").mkdir()
            point = {"dev": hits | {benchmark.DIFFERENCE: difference}}
            (model_dir / "point" / "metrics.json").write_text(json.dumps(point))
            answers = {"dev": {"total": {"EM": share / 2, "F1": share / 4}}}
            (model_dir / "metrics.json").write_text(json.dumps(answers))

    monkeypatch.setattr(benchmark, "run", run)
    arguments = ["pointr.py", "--input_dir=i", "--weights=w", f"--data={tmp_path / 'data'}"]
    variants = ["full", "no ambiguous", "hard EM", "Passage-Only"]
    arguments += [f"--output={tmp_path / 'out'}", "--variants", *variants]
    monkeypatch.setattr(sys, "argv", arguments)
    benchmark.main()
    assert [(mode, name) for mode, name, _ in runs] == [
        ("create_data", "full"),
        ("train", "full"),
        ("predict_and_evaluate", "full"),
        # Other examples to learn from, and so a folder of its own.
        ("create_data", "no_ambiguous"),
        ("train", "no_ambiguous"),
        ("predict_and_evaluate", "no_ambiguous"),
        ("train", "hard_EM"),
        ("predict_and_evaluate", "hard_EM"),
        # Other examples and a reader of its own.
        ("create_data", "Passage-Only"),
        ("train", "Passage-Only"),
        ("predict_and_evaluate", "Passage-Only"),
    ]
    assert {flags for _, name, flags in runs if name == "full"} == {("--attention=full",)}
    reader = tmp_path / "data" / "variants" / "reader"
    assert {path.name for path in reader.iterdir()} == {"full", "no_ambiguous", "hard_EM"}
    own = tmp_path / "data" / "variants" / "Passage-Only" / "read"
    assert not own.is_symlink()
    assert [path.name for path in own.iterdir()] == ["Passage-Only"]
    assert {flags[1] for _, name, flags in runs if name == "Passage-Only"} == {
        "--params_override=read.task.reading.sources=passages"
    }
    printed = capsys.readouterr().out
    assert (
        "full                  30.0   30.0   30.0  +1.0% [+0.5%, +1.5%]      15.0    7.5" in printed
    )
    assert f"{benchmark.RANKER:18}    10.0   10.0   10.0" in printed
    assert (tmp_path / "out" / "pointr.png").stat().st_size > 1000
    done = len(runs)
    benchmark.main()
    assert len(runs) == done
