"""The comparison at equal steps: its examples, trainings that run once, and intervals."""

import json
import sys

import pytest
import tensorflow as tf

from mate_tf.data import interactions, records
from mate_tf.data.records.create_data import examples_path, interactions_path
from mate_tf.tables.table import Table


@pytest.fixture
def benchmark(load_benchmark):
    return load_benchmark("equal_steps")


def example(name, tokens):
    found = tf.train.Example()
    found.features.feature["question_id"].bytes_list.value.append(name.encode())
    found.features.feature["input_mask"].int64_list.value.extend([1] * tokens + [0] * 3)
    return found


@pytest.fixture
def data(tmp_path):
    """Three interactions of dev, the second of them with a short example, and a subset of it."""
    folder = str(tmp_path / "data")
    table = Table.from_rows(["a"], [["1"]])
    found, examples = [], []
    for number, lengths in enumerate([(9, 8), (9, 3), (7, 7)]):
        names = [f"i{number}-0_{position}" for position in range(2)]
        questions = [interactions.Question(name, "what?") for name in names]
        found.append(interactions.interaction_from_table(table, f"i{number}-0", questions))
        examples += [example(*pair) for pair in zip(names, lengths, strict=True)]
    for path in (examples_path(folder, "dev"), interactions_path(folder, "dev")):
        tf.io.gfile.makedirs(path.rpartition("/")[0])
    records.write_examples(examples, examples_path(folder, "dev"))
    records.write_examples([example("t0", 5), example("t1", 6)], examples_path(folder, "train"))
    for split, chosen in (("train", found[:1]), ("dev", found), ("dev_hard", found[1:])):
        records.write_interactions(chosen, interactions_path(folder, split))
    return folder


def test_each_training_runs_once(benchmark, data, tmp_path, monkeypatch, capsys):
    runs = []

    def run(options, mode, *flags):
        given = dict(flag.lstrip("-").split("=", 1) for flag in flags)
        runs.append((mode, given))
        folder = tmp_path / "work" / given["model_dir"].rpartition("/")[2]
        if mode == "predict_and_evaluate":
            folder.mkdir(parents=True)
            share = (
                0.5
                + 0.1 * (given["init_checkpoint"] == "a/b")
                + 0.01 * int(given["tf_random_seed"])
            )
            found = {"dev": {"SQA": {"model": {"ALL": share, "questions": 4}}}}
            (folder / "metrics.json").write_text(json.dumps(found))

    monkeypatch.setattr(benchmark, "run", run)
    flags = [f"--data={data}", f"--work_dir={tmp_path / 'work'}", f"--output={tmp_path / 'out'}"]
    flags += ["--config_file=configs/sqa_mini.yaml", "--metric=SQA | ALL", "--longer_than=5"]
    flags += ["--starts", "mini=a/b", "other=c", "--attention", "full", "--steps=7"]
    monkeypatch.setattr(sys, "argv", ["equal_steps.py", *flags, "--seeds", "0", "1"])
    benchmark.main()
    examples = str(tmp_path / "work" / "examples")
    kept = [
        [
            benchmark._question(each)
            for each in records.read_examples(examples_path(examples, split))
        ]
        for split in ("train", "dev")
    ]
    assert kept == [["t1"], ["i0-0_0", "i0-0_1", "i2-0_0", "i2-0_1"]]
    for split, expected in (("dev", ["i0-0", "i2-0"]), ("dev_hard", ["i2-0"]), ("train", ["i0-0"])):
        asked = records.read_interactions(interactions_path(examples, split))
        assert [each.id for each in asked] == expected
    assert [mode for mode, _ in runs] == ["train", "predict_and_evaluate"] * 4
    assert [given["init_checkpoint"] for _, given in runs[::2]] == ["a/b", "a/b", "c", "c"]
    assert {given["attention"] for _, given in runs} == {"full"}
    assert "task.train_data.seed=1" in runs[2][1]["params_override"]
    rows = json.loads((tmp_path / "out" / "equal_steps_sqa_mini_7.json").read_text())["rows"]
    assert [row["name"] for row in rows] == ["mini, full", "other, full"]
    assert [row["mean"] for row in rows] == pytest.approx([60.5, 50.5])
    assert rows[0]["difference, from, to"][0] == pytest.approx(10)
    assert "mini, full" in (printed := capsys.readouterr().out)
    assert "of 4 dev questions; differences to other, full" in printed
    assert (tmp_path / "out" / "equal_steps_sqa_mini_7.png").stat().st_size > 1000
    benchmark.main()  # all results are there
    assert len(runs) == 8


def test_fewer_questions(benchmark, data, tmp_path):
    options = type("Options", (), {"data": data, "work_dir": tmp_path, "longer_than": 0})
    options.dev_questions = 3
    assert benchmark.write_subset(options) == 4  # every second of three interactions
    options.longer_than = 9
    with pytest.raises(SystemExit, match="no dev question has more than 9 tokens"):
        benchmark.write_subset(options)


def test_intervals(benchmark):
    """Of seeds by Welch's t; of one seed by the questions."""
    mean, low, high = benchmark.difference([0.6], [0.5], 100)
    assert (mean, high - mean) == (pytest.approx(0.1), pytest.approx(mean - low))
    assert high - mean == pytest.approx(1.96 * 0.07, abs=1e-3)  # sqrt(0.0024 + 0.0025)
    mean, low, high = benchmark.difference([0.6, 0.62, 0.61], [0.5, 0.52, 0.51], 100)
    assert (mean, low, high) == pytest.approx((0.1, 0.0773, 0.1227), abs=1e-3)
