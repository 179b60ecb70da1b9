"""The user's own data decide which heads a model has."""

import json

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.data import records
from mate_tf.data.features import QUESTION_ID_LENGTH
from mate_tf.data.interactions import PADDING_QUESTION_ID
from mate_tf.data.records import create_data
from mate_tf.evaluation.metrics import confidence_interval
from mate_tf.evaluation.predictions import Prediction

TABLE = "City,Country,People\nRome,Italy,2800000\nBari,Italy,315000\nBern,Switzerland,134000\n"


@pytest.fixture
def folder(tmp_path):
    """Writes questions about one table, a line for each split and answer."""

    def write(**answers):
        (tmp_path / "cities.csv").write_text(TABLE)
        for split, found in answers.items():
            lines = [{"table": "cities.csv", "question": "which?", **answer} for answer in found]
            (tmp_path / f"{split}.jsonl").write_text("\n".join(map(json.dumps, lines)))
        return tmp_path

    return write


def decided(path):
    task = tasks.experiment("CUSTOM").task
    task.override(tasks.get("CUSTOM").decided_by_data(str(path)))
    return tasks.create(task)


def test_classes(folder, capsys):
    path = folder(train=[{"class": "no"}, {"class": "yes"}], dev=[{"class": "yes"}])
    task = decided(path)
    assert "labels: no, yes" in capsys.readouterr().out
    assert task.class_names == ("no", "yes")
    assert task.splits == ("train", "dev")
    assert task.task_config.model.num_classification_labels == 2
    assert task.label_names() == ["classification_class_index"] * 2 + ["question_id_ints"]
    (interaction,) = task.interactions(str(path), "dev")
    (question,) = interaction.questions
    predicted = {question.id: Prediction(question.id, (), class_index=1)}
    right = (1.0, 1)
    found = task.measure([interaction], predicted)["answers"]
    assert (found.pop("95 % from"), found.pop("95 % to")) == confidence_interval(1, 1)
    assert found == {"all": right, "class": right, "class yes": right}
    assert task.baselines == ("commonest answer",)


def test_cells_of_conversations(folder):
    asked = [{"cells": [[0, 0]], "conversation": "a"}, {"cells": [[0, 2]], "conversation": "a"}]
    path = folder(train=asked, dev=asked)
    task = decided(path)
    model = task.task_config.model
    assert task.sequential
    assert task.baselines[-1] == "previous column"
    (conversation,) = task.interactions(str(path), "dev")
    predicted = {"a-0_0": Prediction("a-0_0", ((0, 0),))}
    found = task.measure([conversation], predicted)
    assert found["answers"].items() >= {"all": (0.5, 2), "cells": (0.5, 2)}.items()
    assert (found["conversations"]["SEQ"], found["conversations"]["POS1"]) == (0.0, 1.0)
    assert model.cell_cross_entropy
    assert not model.num_aggregation_labels
    assert "label_ids" in task.label_names()


def test_texts_and_numbers(folder):
    found = [{"text": "Rome"}, {"number": 3115000}]
    path = folder(train=found, dev=found)
    task = decided(path)
    model = task.task_config.model
    assert model.num_aggregation_labels == 4
    assert model.use_answer_as_supervision
    assert {"answer", "numeric_values"} <= set(task.label_names())
    interactions = list(task.interactions(str(path), "dev"))
    rome, number = (interaction.questions[0].id for interaction in interactions)
    predicted = {
        rome: Prediction(rome, ((0, 0),)),
        number: Prediction(number, ((0, 2), (1, 2)), aggregation="SUM"),
    }
    right = {"all": (1.0, 2), "number": (1.0, 1), "text": (1.0, 1)}
    assert task.measure(interactions, predicted)["answers"].items() >= right.items()
    assert not task.warnings(interactions, predicted)
    assert "2 of 2 predicted answers are empty" in task.warnings(interactions, {})[0]


def test_cells_with_operations_are_full_supervision(folder):
    found = [{"cells": [[0, "People"], [1, "People"]], "aggregation": "SUM"}]
    model = decided(folder(train=found, dev=found)).task_config.model
    assert model.num_aggregation_labels == 4
    assert not model.use_answer_as_supervision
    assert not model.cell_cross_entropy


def test_evaluations_judge_answers_as_the_scores_do(folder, tmp_path):
    """Steps of two replicas, with a padding example; questions without an example are wrong."""
    found = [{"text": "Rome"}, {"number": 3115000}, {"text": "Bern"}]
    path = folder(train=found, dev=found)
    task = decided(path)
    examples = create_data.examples_path(tmp_path, "dev")
    task.task_config.validation_data.input_path = examples
    interactions = list(task.interactions(str(path), "dev"))
    ids = [interaction.questions[0].id for interaction in interactions]

    def of_replica(*rows):
        """(question, row, tokens of the row that are selected, operation) of each example."""
        names = np.zeros([len(rows), QUESTION_ID_LENGTH], np.int32)
        for codes, (name, *_) in zip(names, rows, strict=True):
            codes[: len(name)] = [ord(char) + 1 for char in name]
        selected = np.array([chosen for _, chosen, _ in rows], np.float32)
        ones = np.ones(selected.shape, int)
        return {
            "question_id_ints": names,
            "row_ids": ones * [1, 2],
            "column_ids": ones * 3,
            "probs": selected,
            "selected_tokens": selected,
            "pred_aggr": np.array([operation for *_, operation in rows]),
        }

    def step(*replicas):
        return {key: tuple(tf.constant(each[key]) for each in replicas) for key in replicas[0]}

    right, wrong = (ids[1], [1.0, 1.0], 1), (ids[0], [0.0, 1.0], 0)
    logs = task.aggregate_logs(None, step(of_replica(right), of_replica(wrong)))
    assert task.reduce_aggregated_logs(logs) == {}  # without interactions
    records.write_interactions(interactions, create_data.interactions_path(tmp_path, "dev"))
    records.write_examples([tf.train.Example()] * 2, examples)
    logs = task.aggregate_logs(logs, step(of_replica((PADDING_QUESTION_ID, [0.0, 0.0], 0))))
    assert task.reduce_aggregated_logs(logs) == {"answer_accuracy": pytest.approx(1 / 3)}
    # Of more examples only those of the steps count.
    records.write_examples([tf.train.Example()] * 3, examples)
    assert task.reduce_aggregated_logs(logs) == {"answer_accuracy": 0.5}
