"""The comparison of attentions on SQA runs each training once and reports it with the baselines."""

import json
import sys

import pytest


@pytest.fixture
def benchmark(load_benchmark):
    return load_benchmark("sqa_attention")


def test_each_training_runs_once(benchmark, tmp_path, monkeypatch, capsys):
    runs = []

    def run(options, config, mode, *flags):
        given = dict(flag.lstrip("-").split("=", 1) for flag in flags)
        runs.append((config, mode, given))
        if mode == "create_data":
            (tmp_path / "data" / "tf_examples").mkdir(parents=True)
            (tmp_path / "data" / "tf_examples" / "train.tfrecord").touch()
        if mode == "predict_and_evaluate":
            folder = tmp_path / "data" / "attention" / given["model_dir"].rpartition("/")[2]
            folder.mkdir(parents=True)
            scores = {"ALL": 0.2 + len(runs) / 100, "SEQ": 0.05, "questions": 400}
            lexical = {"ALL": 0.1, "SEQ": 0.01, "questions": 400}
            systems = {"model": scores, "given gold answers": scores, "lexical match": lexical}
            found = {"dev": {"SQA": systems}, "test": {"SQA": systems}}
            (folder / "metrics.json").write_text(json.dumps(found))

    monkeypatch.setattr(benchmark, "run", run)
    flags = [f"--{name}={tmp_path / name}" for name in ("data", "output", "input_dir")]
    flags += ["--bert_vocab_file=vocab.txt", "--steps=400"]
    monkeypatch.setattr(sys, "argv", ["sqa_attention.py", *flags])
    benchmark.main()
    assert [(config, mode) for config, mode, _ in runs] == [
        ("sqa_small", "create_data"),
        *(("sqa_small", mode) for mode in ("train", "predict_and_evaluate")),
        *(("sqa_mate_tree", mode) for mode in ("train", "predict_and_evaluate")),
        *(("sqa_relation_mask", mode) for mode in ("train", "predict_and_evaluate")),
    ]
    # Schedules end where the shorter training does.
    assert "task.train_data.curriculum_steps=100" in runs[1][2]["params_override"]
    assert "bootstrap.steps_before=100" in runs[3][2]["params_override"]
    assert "attention.temperature_steps=300" in runs[5][2]["params_override"]
    rows = json.loads((tmp_path / "output" / "sqa_attention.json").read_text())["rows"]
    assert [row["system"] for row in rows[:4]] == [*benchmark.VARIANTS, "lexical match"]
    printed = capsys.readouterr().out
    assert "mate_tree             ALL  25.0 [21.0, 29.5]  SEQ   5.0" in printed
    assert printed.count("lexical match         ALL  10.0") == 2
    assert (tmp_path / "output" / "sqa_attention.png").stat().st_size > 1000
    done = len(runs)
    benchmark.main()  # all results are there
    assert len(runs) == done
