"""The benchmark of one's own tables: right answers to its questions, scores of unseen tables."""

import csv
import json
import random
import re

import pytest

from mate_tf.data import records
from mate_tf.data.datasets import custom
from mate_tf.data.records.create_data import interactions_path
from mate_tf.evaluation import metrics
from mate_tf.evaluation.predictions import Prediction, write_json


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("custom")


@pytest.fixture
def sheet(benchmark):
    rows = [["lamp", "red", "acme", "12", "3"], ["vase", "red", "norda", "30", "4"]]
    return benchmark.Sheet(benchmark.DOMAINS[0], ["item", "color", "maker", "price", "stock"], rows)


def made(make, sheet):
    """Questions with their kinds and answers."""
    drawn = list(make(random.Random(0), sheet))
    found = {question: (kind, answer) for kind, question, answer in drawn}
    assert len(found) == len(drawn)
    return found


def test_questions(benchmark, sheet):
    asked = made(benchmark.questions, sheet)
    assert asked["what is the price of vase?"] == ("cells", {"cells": [[1, 3]]})
    assert asked["which are the items with color red?"] == ("cells", {"cells": [[0, 0], [1, 0]]})
    assert asked["how many items with maker acme are there?"] == ("counts", {"number": 1})
    total = "what is the total price of items with color red?"
    assert asked[total] == ("sums", {"number": 42})
    # The sum of one number is this number, which is in a cell.
    assert asked["what is the total price of items with maker norda?"][1] == {"number": 30}


def test_statements(benchmark, sheet):
    asked = made(benchmark.statements, sheet)
    labels = {text: answer["class"] for text, (_, answer) in asked.items()}
    assert labels["there are items with color red"] == "entailed"
    assert labels["there are items with price 30"] == "entailed"
    assert labels["the maker of vase is norda"] == "entailed"
    for text, label in labels.items():
        words = text.split()
        of_all = words[0] == "there"
        column = sheet.columns.index(words[-2] if of_all else words[1])
        values = [row[column] for row in sheet.rows if of_all or row[0] in words]
        assert (label == "entailed") == (words[-1] in values)
    assert list(labels.values()).count("entailed") == len(labels) / 2


@pytest.mark.parametrize("name", ["answers", "classes"])
def test_data_sets(benchmark, tmp_path, name, monkeypatch):
    """Both are as CUSTOM reads them, the same each time, with tables of each split on its own."""
    monkeypatch.setattr(benchmark, "TABLES", {"train": 4, "dev": 3})
    for folder in ("a", "b"):
        benchmark.write(tmp_path / folder, benchmark.DATA[name], seed=1)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
    assert len(files) == 4 + 3 + 2
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()
    summary = custom.describe(tmp_path / "a")
    assert {split: size.tables for split, size in summary.splits.items()} == benchmark.TABLES
    lines = list(map(json.loads, (tmp_path / "a" / "train.jsonl").read_text().splitlines()))
    assert summary.labels == (("entailed", "refuted") if name == "classes" else ())
    assert summary.weakly_supervised == (name == "answers")
    for line in lines:
        with open(tmp_path / "a" / line["table"], newline="", encoding="utf-8") as file:
            _, *rows = csv.reader(file)
        assert all(rows[row][column] for row, column in line.get("cells", []))


@pytest.fixture
def answered(benchmark, tmp_path, monkeypatch):
    """Folder of a training on few tables whose model selects the gold cells and never computes."""
    monkeypatch.setattr(benchmark, "TABLES", {"train": 2, "dev": 1})
    benchmark.write(tmp_path, benchmark.questions, seed=0)
    for split in ("train", "dev"):
        asked = list(custom.read(tmp_path, split))
        records.write_interactions(asked, interactions_path(str(tmp_path), split))
    questions = [interaction.questions[0] for interaction in asked]
    (tmp_path / "model").mkdir()
    selected = [Prediction(each.id, tuple(metrics.gold_cells(each))) for each in questions]
    write_json(selected, tmp_path / "model" / "dev.json")
    return tmp_path


def test_scores_of_each_kind_beside_its_commonest_answer(benchmark, answered):
    found = benchmark.scores(answered)
    assert found.keys() == {"cells", "counts", "sums"}
    lines = (answered / "dev.jsonl").read_text().splitlines()
    assert sum(row["questions"] for row in found.values()) == len(lines)
    assert found["cells"]["model"] == found["cells"]["questions"]
    assert found["counts"]["model"] == 0
    sums = read(answered / "dev.jsonl", "sums")
    of_one_row = [each for each in sums if is_in_a_cell(each["number"], answered / each["table"])]
    assert 0 < found["sums"]["model"] == len(of_one_row) < len(sums)
    numbers = {
        split: [each["number"] for each in read(answered / f"{split}.jsonl", "counts")]
        for split in ("train", "dev")
    }
    commonest = min(set(numbers["train"]), key=lambda n: (-numbers["train"].count(n), n))
    assert found["counts"]["commonest answer"] == numbers["dev"].count(commonest) > 0


def is_in_a_cell(number, path):
    with open(path, newline="", encoding="utf-8") as file:
        return any(str(number) in row for row in csv.reader(file))


def read(path, kind):
    """Lines of a kind in a file of questions."""
    lines = map(json.loads, path.read_text().splitlines())
    return [each for each in lines if each["id"].startswith(kind)]


def test_table_of_several_seeds(benchmark):
    of_seeds = [
        {"counts": {"questions": 40, "model": 30, "commonest answer": 20}},
        {"counts": {"questions": 60, "model": 50, "commonest answer": 20}},
    ]
    found = benchmark.together(of_seeds)
    assert found == {"counts": {"questions": 100, "model": 80, "commonest answer": 40}}
    head, row = (re.split("  +", line) for line in benchmark.table(found).splitlines())
    assert head == ["kind", "model", "95 % of it", "commonest answer", "95 % of that", "questions"]
    # Wilson's intervals of 80 and 40 of 100.
    assert row == ["counts", "80.0 %", "71.1 to 86.7", "40.0 %", "30.9 to 49.8", "100"]


def test_a_killed_run_goes_on(benchmark, tmp_path, monkeypatch):
    """What was finished is not done again, and a time that misses a part is a lower bound."""
    modes, killed_in = [], "train"

    def run(command, env, check):
        assert check
        assert {f"--input_dir={tmp_path}", "--flag"} <= set(command)
        modes.append(command[-1].removeprefix("--mode="))
        if modes[-1] == killed_in:
            raise KeyboardInterrupt

    monkeypatch.setattr(benchmark.subprocess, "run", run)
    with pytest.raises(KeyboardInterrupt):
        benchmark.train(tmp_path, tmp_path / "out", "--flag")
    assert modes == ["create_data", "train"]
    killed_in = None
    spent = benchmark.train(tmp_path, tmp_path / "out", "--flag")
    assert modes == ["create_data", "train", "train", "predict_and_evaluate"]
    assert {mode: each.killed for mode, each in spent.items()} == {
        "create_data": False, "train": True, "predict_and_evaluate": False
    }  # fmt: skip
    assert str(spent["train"]) == "at least 0 s, 0 s of processor time"
    assert benchmark.train(tmp_path, tmp_path / "out", "--flag") == spent
    assert len(modes) == 4
