"""WIKISQL and WIKISQL_SUPERVISED: what each learns from, and how answers are judged."""

import json

import pytest

from mate_tf import tasks
from mate_tf.evaluation.predictions import Prediction

TABLE = {
    "id": "1",
    "header": ["Player", "Points"],
    "types": ["text", "real"],
    "rows": [["Ann", 3], ["Bob", 2], ["Cyd", 2]],
}
SUM = 4  # of WikiSQL's operations
QUESTION = {
    "table_id": "1",
    "question": "Points of those with 2?",
    "sql": {"sel": 1, "agg": SUM, "conds": [[1, 0, 2]]},
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "dev.jsonl").write_text(json.dumps(QUESTION) + "\n")
    (tmp_path / "dev.tables.jsonl").write_text(json.dumps(TABLE) + "\n")
    return str(tmp_path)


@pytest.mark.parametrize(("name", "cells"), [("WIKISQL", 0), ("WIKISQL_SUPERVISED", 2)])
def test_only_the_supervised_task_knows_cells_and_operation(folder, name, cells):
    task = tasks.create(tasks.experiment(name).task)
    (found,) = task.interactions(folder, "dev")
    answer = found.questions[0].answer
    assert (answer.float_value, len(answer.answer_coordinates)) == (4.0, cells)
    assert answer.HasField("aggregation_function") == bool(cells)


def test_what_an_operation_gives_is_judged(folder):
    task = tasks.create(tasks.experiment("WIKISQL").task)
    (found,) = task.interactions(folder, "dev")
    name = found.questions[0].id
    for cells, accuracy in (((1, 1), (2, 1)), 1.0), (((0, 1), (1, 1)), 0.0):
        predicted = {name: Prediction(name, cells, aggregation="SUM")}
        assert task.measure([found], predicted)["WIKISQL"]["denotation accuracy"] == accuracy
