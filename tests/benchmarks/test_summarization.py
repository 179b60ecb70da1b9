"""The benchmark of summaries: splits without a shared text, each training once, the comparison."""

import json
import pathlib
import sys
import types

import pytest
import tensorflow as tf

from mate_tf.data import records
from mate_tf.data.datasets import summaries
from mate_tf.evaluation import texts
from mate_tf.evaluation.predictions import Prediction
from mate_tf.training import experiments, trainer
from mate_tf.training.prediction import INPUTS


@pytest.fixture
def benchmark(load_benchmark, monkeypatch):
    found = load_benchmark("summarization")
    monkeypatch.setattr(found, "HELD_OUT", 3)
    return found


def passage(number):
    words = " ".join(f"w{number}" for _ in range(12))
    return f"Town {number} is a small town in Ohio . It has {words} . It is old ."


@pytest.fixture
def folder(tmp_path):
    found = {f"/wiki/{number}": passage(number) for number in range(12)}
    (tmp_path / "a.json").write_text(json.dumps(found))
    others = {
        "/wiki/3": "Another text of the same page . " * 3,
        "/wiki/same": passage(4),
        "/wiki/short": "Too short . It has " + "words " * 20 + ".",
        "/wiki/alone": "Town 99 is a town without any further sentence in it .",
        "/wiki/long": "A word " * 30 + ". It has " + "words " * 20 + ".",
    }
    (tmp_path / "b.json").write_text(json.dumps(others))
    return tmp_path


def test_splits(benchmark, folder):
    splits = benchmark.examples(benchmark.read_passages([folder]))
    assert {name: len(found) for name, found in splits.items()} == {"train": 6, "dev": 3, "test": 3}
    first = [each["summary"] for found in splits.values() for each in found]
    assert sorted(first) == sorted(f"Town {i} is a small town in Ohio ." for i in range(12))
    for found in splits.values():
        for each in found:
            number = each["summary"].split()[1]
            assert each["document"].startswith(f"It has w{number} ")
            assert each["document"].endswith("It is old .")
    assert splits == benchmark.examples(benchmark.read_passages([folder]))


def test_comparison(benchmark, folder, tmp_path, monkeypatch, capsys):
    calls = []

    def run(options, mode, *flags):
        calls.append((mode, *flags))
        values = dict(flag.lstrip("-").split("=", 1) for flag in flags)
        if mode == "create_data":
            folder = pathlib.Path(values["input_dir"])
            for split in summaries.SPLITS:
                path = options.data / "interactions" / f"{split}.tfrecord"
                records.write_interactions(summaries.read(folder, split), path)
            records.write_examples([], options.data / "tf_examples" / "test.tfrecord")
        elif mode == "predict":
            lines = (options.data / "passages" / "test.jsonl").read_text().splitlines()
            gold = {f"{each['id']}-0_0": each["summary"] for each in map(json.loads, lines)}
            right = values["model_dir"].endswith("tree_fine") and "beam_size=4" in flags[-1]
            texts.write(
                (Prediction(name, (), texts=(text if right else "a town",), score=-1.0)
                 for name, text in gold.items()),
                pathlib.Path(values["model_dir"]) / "test.jsonl",
            )  # fmt: skip

    monkeypatch.setattr(benchmark, "run", run)
    monkeypatch.setattr("mate_tf.training.trainer.global_step", lambda _: 7)
    losses = {benchmark.WITH_OWN: 2.0, benchmark.WITH_OTHER: 2.5}
    monkeypatch.setattr(benchmark, "_losses", lambda *_: losses)
    arguments = ["summarization.py", f"--passages={folder}", "--weights=w", "--steps=7"]
    arguments += [f"--data={tmp_path / 'data'}", f"--output={tmp_path / 'out'}"]
    monkeypatch.setattr(sys, "argv", arguments)
    benchmark.main()
    assert [mode for mode, *_ in calls] == ["create_data", *["train"] * 2, *["predict"] * 4]
    trees, full = (flags for mode, *flags in calls if mode == "train")
    assert "--num_train_steps=7" in trees
    assert not any("params_override" in flag for flag in trees)
    assert "{name: full}" in full[-1]
    found = json.loads((tmp_path / "out" / "summarization.json").read_text())
    assert found["steps"] == {"tree_fine": 7, "full": 7}
    systems = found["systems"]
    assert systems["tree_fine, beam 4"]["ROUGE-2"] == 1.0
    assert systems["full, beam 4"]["ROUGE-1"] < 0.6
    assert set(systems) >= {"lead-1", "lead-3", "random sentence", "full, greedy"}
    difference = found["differences"]["tree_fine, beam 4 minus full, beam 4"]["ROUGE-2"]
    assert difference.startswith("+")
    assert (tmp_path / "out" / "summarization.png").stat().st_size > 10_000
    output = capsys.readouterr().out
    assert "tree_fine, beam 4 minus lead-1" in output
    assert "loss 2.00  loss with another passage 2.50" in output
    assert found["losses"] == {"tree_fine": losses, "full": losses}
    # Once more: what was written is read.
    calls.clear()
    benchmark.main()
    assert [mode for mode, *_ in calls] == ["train"] * 2


def test_losses_with_the_own_passage_and_another(benchmark, tmp_path, monkeypatch):
    def model(features, training):
        assert not training
        wrong = features["input_ids"][:, :1] != features["target_ids"][:, 1:2]
        return {"example_loss": 1 + 2 * tf.repeat(tf.cast(wrong, tf.float32), 3, axis=1)}

    def batch(numbers):
        first = tf.constant(numbers, tf.int32)[:, None]
        targets = tf.concat([first, first, 0 * first, 0 * first], axis=1)  # one token, no others
        return dict.fromkeys(INPUTS, first) | {"target_ids": targets}

    config = types.SimpleNamespace(max_seq_length=1)
    task = types.SimpleNamespace(conversion=config)
    monkeypatch.setattr(experiments, "load_saved", lambda _: types.SimpleNamespace(task=task))
    monkeypatch.setattr(trainer, "load_model", lambda *_: model)
    batches = [batch([1, 2, 3]), batch([4])]  # the last example has no other to take from
    monkeypatch.setattr(records, "dataset", lambda *_, **__: batches)
    options = types.SimpleNamespace(data=tmp_path)
    (tmp_path / "full").mkdir()
    for _ in range(2):  # the second time from the file
        found = benchmark.losses(options, "full")
        assert found == {benchmark.WITH_OWN: 1.0, benchmark.WITH_OTHER: pytest.approx(2.5)}
        batches.clear()
