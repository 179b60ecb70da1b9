"""QUESTIONS: the settings of its task, and the scores by kind of question."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.data.datasets import questions
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table

TABLE = Table.from_rows(["Town", "Price"], [["Bern", "3"], ["Thun", "5"]], table_id="t")


def test_generation_is_that_of_the_config(monkeypatch):
    task = tasks.create(tasks.experiment("QUESTIONS").task)
    own = {"generation_seed": 3, "questions_per_table": 2, "cut_share": 0.5}
    task.task_config.override({**own, "statements_per_table": 4})
    asked = {}
    monkeypatch.setattr(questions, "read_dir", lambda *args, **options: asked.update(options))
    task.interactions("folder", "train")
    assert asked == {"seed": 3, "per_table": 2, "statements_per_table": 4, "cut_share": 0.5}


def test_scores_by_kind():
    task = tasks.create(tasks.experiment("QUESTIONS").task)
    found = interaction_from_table(
        TABLE,
        "t-0",
        [
            Question("t-0_0", "price of bern?", [(0, 1)], ["3"], "NONE", given="lookup"),
            Question("t-0_1", "price of thun?", [(1, 1)], ["5"], "NONE", given="lookup"),
            Question("t-0_2", "total price?", [(0, 1), (1, 1)], ["8"], "SUM", 8.0, given="sum"),
        ],
    )
    predicted = {
        "t-0_0": Prediction("t-0_0", ((0, 1),)),
        "t-0_1": Prediction("t-0_1", ((0, 1),)),
        "t-0_2": Prediction("t-0_2", ((0, 1), (1, 1)), aggregation="SUM"),
    }
    measured = task.measure([found], predicted)
    assert measured["kind"] == {"lookup": (0.5, 2), "sum": (1.0, 1)}
    assert measured["QUESTIONS"]["denotation accuracy"] == 2 / 3


def mixed_task():
    task = tasks.create(tasks.experiment("QUESTIONS").task)
    model = {"num_classification_labels": 2, "cells_or_class": True}
    task.task_config.override({"statements_per_table": 4, "model": model})
    return task


def test_statements_have_scores_of_their_own():
    task = mixed_task()
    asked = [Question("t/0-0_0", "price of bern?", [(0, 1)], ["3"], "NONE", given="lookup")]
    said = [
        Question(f"t/s{index}-0_0", "bern is 3", class_index=index % 2, given="statement")
        for index in range(4)
    ]
    found = [interaction_from_table(TABLE, f"{one.id[:-2]}", [one]) for one in asked + said]
    predicted = {
        "t/0-0_0": Prediction("t/0-0_0", ((0, 1),), class_index=1),
        **{one.id: Prediction(one.id, ((0, 0),), class_index=1) for one in said[1:]},
    }
    measured = task.measure(found, predicted)
    assert measured["QUESTIONS"]["denotation accuracy"] == 1
    assert measured["QUESTIONS"]["questions"] == 1
    assert measured["STATEMENTS"]["accuracy"] == 0.5
    assert measured["STATEMENTS"]["entailed"] == (1.0, 2)
    assert measured["STATEMENTS"]["unanswered"] == 1
    assert measured["kind"] == {"lookup": (1.0, 1), "statement": (0.5, 4)}
    of_cells = {"t/0-0_0": Prediction("t/0-0_0", ((0, 1),))}
    assert "STATEMENTS" not in task.measure(found, of_cells)


def test_classes_are_those_of_statements():
    plain = tasks.create(tasks.experiment("QUESTIONS").task)
    assert plain.class_names == ()
    assert "majority class" not in plain.baselines
    task = mixed_task()
    assert task.class_names == ("refuted", "entailed")
    assert "majority class" in task.baselines
    assert task.model_config().cells_or_class
    task.task_config.model.override({"cells_or_class": False})
    with pytest.raises(InputError, match=r"needs task.model.cells_or_class=true and .*labels=2"):
        task.model_config()


def test_metrics_are_of_the_examples_with_such_a_label():
    task = mixed_task()
    labels = {
        "label_ids": np.array([[0, 1], [0, 0], [0, 1]]),
        "input_mask": np.ones([3, 2], int),
        "column_ids": np.ones([3, 2], int),
        "aggregation_function_id": np.array([[3], [0], [0]]),
        "classification_class_index": np.array([[0], [1], [0]]),
    }
    outputs = {
        "selected_tokens": tf.constant([[0, 1], [0, 1], [0, 0]]),
        "pred_aggr": tf.constant([3, 3, 3]),
        "pred_cls": tf.constant([1, 1, 1]),
    }
    found = task.build_metrics()
    labels = {name: tf.constant(value, tf.int32) for name, value in labels.items()}
    task.process_metrics(found, labels, outputs)
    values = {metric.name: float(metric.result()) for metric in found}
    assert values == {"answer_accuracy": 0.5, "aggregation_accuracy": 0.5, "class_accuracy": 1.0}
