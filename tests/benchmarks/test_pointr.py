"""The comparison of POINTR's variants runs each once, on one reader, and prints them together."""

import json
import shutil
import sys

import pytest
import tensorflow as tf
import yaml

from mate_tf.models.encoder import TableEncoder
from mate_tf.training import experiments

from ..cli import test_pointr


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


@pytest.mark.slow
def test_two_steps_for_real(jobs_in_this_process, benchmark, tmp_path, monkeypatch, capsys):
    """Passage-Only, which has examples and a reader of its own, from a tiny encoder's weights."""
    test_pointr.write_data(tmp_path / "data")
    (tmp_path / "tiny.yaml").write_text(test_pointr.CONFIG)
    experiment = experiments.load(task="HYBRIDQA_RC")
    stage = yaml.safe_load(test_pointr.CONFIG)["read"]
    experiments.override(experiment, stage, "test")
    encoder = TableEncoder(experiment.task.model.encoder)
    tf.train.Checkpoint(encoder=encoder).save(str(tmp_path / "weights" / "ckpt"))
    shutil.copy(tmp_path / "data" / "vocab.txt", tmp_path / "weights")
    arguments = ["x", f"--input_dir={tmp_path / 'data'}", f"--weights={tmp_path / 'weights'}"]
    arguments += [f"--config={tmp_path / 'tiny.yaml'}", f"--data={tmp_path / 'out'}"]
    arguments += [f"--output={tmp_path / 'results'}", "--variants", "Passage-Only"]
    monkeypatch.setattr(sys, "argv", arguments)
    benchmark.main()
    found = json.loads((tmp_path / "results" / "pointr.json").read_text())["Passage-Only"]
    assert found["answers"]["total"]["questions"] == 7
    assert 0 <= found["answers"]["total"]["EM"] <= found["answers"]["total"]["F1"] <= 1
    for hits in found["hits"].values():
        assert hits.keys() >= {"model", benchmark.RANKER}
    model_dir = tmp_path / "out" / "variants" / "Passage-Only"
    params = yaml.safe_load((model_dir / "read" / "params.yaml").read_text())
    assert params["task"]["reading"]["sources"] == "passages"
    answers = json.loads((model_dir / "dev.predictions.json").read_text())
    passages = [text for number in (4, 5) for text in test_pointr.passages(number).values()]
    for each in answers:
        assert any(each["pred"] in text for text in passages)
    assert "Passage-Only" in capsys.readouterr().out
