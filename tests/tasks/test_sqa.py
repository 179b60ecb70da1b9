"""SQA: its splits from the official files, its hyper-parameters as TAPAS has them."""

import itertools

import pytest

from mate_tf import tasks
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table


def test_reads_every_split(sqa_dir):
    task = tasks.create(tasks.experiment("SQA").task)
    assert task.sequential
    for split in task.splits:
        (interaction,) = itertools.islice(task.interactions(str(sqa_dir), split), 1)
        assert interaction.questions
        assert interaction.table.rows
    with pytest.raises(InputError, match="no split 'valid', only train, dev, test"):
        task.interactions(str(sqa_dir), "valid")


def test_a_sequence_counts_if_all_its_answers_are_right():
    task = tasks.create(tasks.experiment("SQA").task)
    table = Table.from_rows(["city"], [["Paris"], ["Rome"]])
    questions = [Question(f"nt-1_0_{i}", "which?", [(i, 0)]) for i in range(2)]
    found = [interaction_from_table(table, "nt-1_0", questions)]
    right = {f"nt-1_0_{i}": Prediction(f"nt-1_0_{i}", ((i, 0),)) for i in range(2)}
    assert task.measure(found, right)["SQA"]["SEQ"] == 1.0
    wrong = right | {"nt-1_0_1": Prediction("nt-1_0_1", ((0, 0),))}
    measured = task.measure(found, wrong)["SQA"]
    assert (measured["ALL"], measured["SEQ"], measured["POS1"], measured["POS2"]) == (0.5, 0, 1, 0)
