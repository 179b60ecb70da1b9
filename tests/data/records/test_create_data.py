"""Whole splits: order, padding, the report, and equal files from any number of processes."""

import json
import os
import signal

import pytest

from mate_tf.data import records
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.data.records import create_data
from mate_tf.errors import InputError
from mate_tf.tables.table import Table

from ..conftest import interaction


def ids(path):
    return [
        example.features.feature["question_id"].bytes_list.value[0].decode()
        for example in records.read_examples(path)
    ]


@pytest.fixture(scope="module")
def created(converter, tmp_path_factory):
    """70 interactions for training, three for evaluation of which one does not fit."""
    folder = tmp_path_factory.mktemp("output")
    splits = {
        "train": [interaction(number) for number in range(70)],
        "dev": [interaction(0), interaction(1, rows=30), interaction(2)],
    }
    reports = create_data.create_data(splits, folder, converter, test_batch_size=4, seed=5)
    return folder, splits, reports


def test_interactions_are_complete(created):
    folder, splits, _ = created
    for split, expected in splits.items():
        path = create_data.interactions_path(folder, split)
        assert path == str(folder / "interactions" / f"{split}.tfrecord")
        assert list(records.read_interactions(path)) == expected
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*"))
    assert names == [
        "interactions/dev.tfrecord",
        "interactions/train.tfrecord",
        "tf_examples/dev.report.json",
        "tf_examples/dev.tfrecord",
        "tf_examples/train.report.json",
        "tf_examples/train.tfrecord",
    ]


def test_train_is_shuffled(created):
    folder, splits, reports = created
    found = ids(folder / "tf_examples" / "train.tfrecord")
    expected = [question.id for one in splits["train"] for question in one.questions]
    assert found != expected
    assert sorted(found) == sorted(expected)
    assert reports["train"].examples == 140
    assert reports["train"].padding_examples == 0


def test_dev_keeps_its_order_and_fills_the_batch(created):
    folder, _, _ = created
    found = ids(folder / "tf_examples" / "dev.tfrecord")
    expected = ["n0-0_0", "n0-0_1", "n1-0_0", "n2-0_0", "n2-0_1"]
    assert found == expected + ["EMPTY-0_0"] * 3


def test_report(created):
    folder, _, _ = created
    path = folder / "tf_examples" / "dev.report.json"
    report = json.loads(path.read_text(encoding="utf-8"))
    assert report["interactions"] == 3
    assert report["questions"] == 6
    assert report["examples"] == 5
    assert report["padding_examples"] == 3
    assert report["dropped"] == {"Couldn't find all answers": 1}
    (dropped,) = report["dropped_questions"]["Couldn't find all answers"]
    assert dropped["question_id"] == "n1-0_1"
    assert "(29, 0)" in dropped["message"]
    # [CLS] who [SEP] red leaves twelve tokens for the rows, one each.
    assert report["cuts"] == {
        "rows": {"examples": 1, "total": 18},
        "cells": {"examples": 1, "total": 12},
    }
    text = str(created[2]["dev"])
    assert text == (
        "5 examples of 6 questions (83.3%); 1 dropped (Couldn't find all answers);"
        " 18 rows dropped in 1 examples; 12 cells shortened in 1 examples"
    )


def test_processes_give_the_same_files(created, converter, tmp_path):
    folder, splits, reports = created
    again = create_data.create_data(
        splits, tmp_path, converter, test_batch_size=4, seed=5, processes=2
    )
    assert again == reports
    for path in sorted(folder.rglob("*.*")):
        assert (tmp_path / path.relative_to(folder)).read_bytes() == path.read_bytes()


def test_another_seed_gives_another_order(created, converter, tmp_path):
    folder, splits, _ = created
    path = tmp_path / "train.tfrecord"
    create_data.convert_split(splits["train"], converter, path, shuffle_seed=6)
    assert ids(path) != ids(folder / "tf_examples" / "train.tfrecord")


def test_interactions_may_be_a_generator(converter, tmp_path):
    report = create_data.convert_split(
        (interaction(number) for number in range(3)), converter, tmp_path / "x.tfrecord"
    )
    assert (report.interactions, report.questions, report.examples) == (3, 6, 6)


def test_nothing_to_write(converter, tmp_path):
    path = tmp_path / "dev.tfrecord"
    with pytest.raises(InputError, match=r"dev\.tfrecord: .*0 examples of 0 questions"):
        create_data.convert_split([], converter, path)
    table = Table.from_rows(["red"], [["blue red"]])
    questions = [
        Question("n0-0_0", "who", is_valid=False),
        Question("n0-0_1", "who", is_valid=False, problem="in several cells"),
    ]
    invalid = interaction_from_table(table, "n0-0", questions)
    message = (
        r"0 examples of 2 questions \(0.0%\); 1 dropped \(Invalid answer\); "
        r"1 dropped \(Invalid answer: in several cells\)"
    )
    with pytest.raises(InputError, match=message):
        create_data.convert_split([invalid], converter, path)
    assert not path.exists()


def test_failing_reader_leaves_no_examples(converter, tmp_path):
    def broken():
        yield interaction(0)
        raise InputError("file x, line 3: no table")

    with pytest.raises(InputError, match="line 3"):
        create_data.create_data({"dev": broken()}, tmp_path, converter)
    assert list(tmp_path.rglob("*.tfrecord")) == []


def test_killed_worker_is_reported_with_its_interactions(converter, tmp_path, monkeypatch):
    """As by the system, when the memory is not enough."""
    monkeypatch.setattr(create_data, "_convert_in_worker", _killed)
    found = [interaction(number) for number in range(2)]
    with pytest.raises(InputError, match=r"killed.* n0-0 to n1-0; .*--num_processes"):
        create_data.convert_split(found, converter, tmp_path / "x.tfrecord", processes=2)
    assert [path.name for path in tmp_path.iterdir()] == []


def _killed(part):
    os.kill(os.getpid(), signal.SIGKILL)
