"""WTQ and WIKISQL: what is read, what each learns from, and the rules that judge answers."""

import json

import pytest

from mate_tf import tasks
from mate_tf.evaluation.predictions import Prediction

LINES = {
    "data/random-split-1-dev.tsv": "nt-1\twho won?\tcsv/204-csv/1.csv\tAnna",
    "data/random-split-3-dev.tsv": "nt-2\thow many points in all?\tcsv/204-csv/1.csv\t5",
}


@pytest.fixture
def folder(tmp_path):
    """The dev questions of two of the five random splits, one question each."""
    for name, line in LINES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"id\tutterance\tcontext\ttargetValue\n{line}\n")
    (tmp_path / "csv" / "204-csv").mkdir(parents=True)
    (tmp_path / "csv" / "204-csv" / "1.csv").write_text('"Name","Points"\n"Anna","3"\n"Cleo","2"\n')
    return str(tmp_path)


def make(random_split):
    config = tasks.experiment("WTQ").task
    config.random_split = random_split
    return tasks.create(config)


@pytest.mark.parametrize(("random_split", "name"), [(1, "nt-1"), (3, "nt-2")])
def test_the_random_split_of_the_config_is_read(folder, random_split, name):
    (found,) = make(random_split).interactions(folder, "dev")
    assert found.questions[0].id.startswith(name)


@pytest.mark.parametrize(("aggregation", "accuracy"), [("SUM", 1.0), ("AVERAGE", 0.0)])
def test_what_an_operation_gives_is_judged(folder, aggregation, accuracy):
    task = make(3)
    (found,) = task.interactions(folder, "dev")
    name = found.questions[0].id
    predicted = {name: Prediction(name, ((0, 1), (1, 1)), aggregation=aggregation)}
    measured = task.measure([found], predicted)["WTQ"]
    assert measured["denotation accuracy"] == accuracy
    assert measured[f"answered by {aggregation}"] == (accuracy, 1)


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
def wikisql(tmp_path):
    (tmp_path / "dev.jsonl").write_text(json.dumps(QUESTION) + "\n")
    (tmp_path / "dev.tables.jsonl").write_text(json.dumps(TABLE) + "\n")
    return str(tmp_path)


@pytest.mark.parametrize(("name", "cells"), [("WIKISQL", 0), ("WIKISQL_SUPERVISED", 2)])
def test_only_the_supervised_task_knows_cells_and_operation(wikisql, name, cells):
    task = tasks.create(tasks.experiment(name).task)
    (found,) = task.interactions(wikisql, "dev")
    answer = found.questions[0].answer
    assert (answer.float_value, len(answer.answer_coordinates)) == (4.0, cells)
    assert answer.HasField("aggregation_function") == bool(cells)


def test_what_an_operation_gives_is_judged_as_in_wikisql(wikisql):
    task = tasks.create(tasks.experiment("WIKISQL").task)
    (found,) = task.interactions(wikisql, "dev")
    name = found.questions[0].id
    for cells, accuracy in (((1, 1), (2, 1)), 1.0), (((0, 1), (1, 1)), 0.0):
        predicted = {name: Prediction(name, cells, aggregation="SUM")}
        assert task.measure([found], predicted)["WIKISQL"]["denotation accuracy"] == accuracy
