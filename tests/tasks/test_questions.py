"""QUESTIONS: the settings of its task, and the scores by kind of question."""

from mate_tf import tasks
from mate_tf.data.datasets import questions
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table

TABLE = Table.from_rows(["Town", "Price"], [["Bern", "3"], ["Thun", "5"]], table_id="t")


def test_generation_is_that_of_the_config(monkeypatch):
    task = tasks.create(tasks.experiment("QUESTIONS").task)
    task.task_config.override({"generation_seed": 3, "questions_per_table": 2, "cut_share": 0.5})
    asked = {}
    monkeypatch.setattr(questions, "read_dir", lambda *args, **options: asked.update(options))
    task.interactions("folder", "train")
    assert asked == {"seed": 3, "per_table": 2, "cut_share": 0.5}


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
