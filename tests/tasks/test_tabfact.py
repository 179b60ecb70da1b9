"""TABFACT: which files are read, and how answers are judged."""

import json

import pytest

from mate_tf import tasks
from mate_tf.evaluation.predictions import Prediction


@pytest.fixture
def folder(tmp_path):
    """TabFact's files with three statements in "dev"."""
    for path, text in {
        "tokenized_data/val_examples.json": json.dumps(
            {"a.csv": [["bern has 1", "bern has 2", "basel has 2"], [1, 0, 1], "towns"]}
        ),
        "data/val_id.json": json.dumps(["a.csv"]),
        "data/all_csv/a.csv": "town#number\nbern#1\nbasel#2\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return str(tmp_path)


@pytest.fixture
def task():
    return tasks.create(tasks.experiment("TABFACT").task)


def test_accuracy_in_total_and_by_class(task, folder):
    found = list(task.interactions(folder, "dev"))
    assert [each.questions[0].original_text for each in found] == [
        "bern has 1",
        "bern has 2",
        "basel has 2",
    ]
    ids = [each.questions[0].id for each in found]
    # The first and the third are entailed; the third is answered "refuted".
    predicted = {
        name: Prediction(name, (), class_index=index)
        for name, index in zip(ids, [1, 0, 0], strict=True)
    }
    measured = task.measure(found, predicted)["TABFACT"]
    assert measured["accuracy"] == pytest.approx(2 / 3)
    assert (measured["entailed"], measured["refuted"]) == ((0.5, 2), (1.0, 1))
    assert measured["95 % from"] < 2 / 3 < measured["95 % to"]
