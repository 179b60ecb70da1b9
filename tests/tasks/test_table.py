"""Tasks over tables: their converter, their measure, and answers for the official evaluator."""

import pytest

from mate_tf import tasks
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table
from mate_tf.tasks.table import TableTask

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EMPTY]", "city", "paris", "rome", "which"]


@pytest.fixture
def task():
    """task(**config) of a kind that overrides nothing."""

    def make(**config):
        experiment = tasks.experiment("SQA")
        experiment.task.override(config)
        return TableTask(experiment.task)

    return make


@pytest.fixture
def interaction():
    table = Table.from_rows(["city"], [["Paris"], ["Rome"]])
    questions = [Question(f"a-0_{i}", "which?", [(i, 0)]) for i in range(2)]
    return interaction_from_table(table, "a-0", questions)


def test_marks_that_the_model_cannot_read_are_refused(task):
    marks = {"mark_matches": True, "mark_previous": True}
    with pytest.raises(InputError, match=r"mark_previous .*type_vocab_sizes\[3\] is 2"):
        task(conversion=marks).build_model()
    model = {"encoder": {"disabled_features": ["prev_label_ids"]}}
    with pytest.raises(InputError, match=r"mark_matches needs prev_label_ids, .*disabled_features"):
        task(conversion={"mark_matches": True}, model=model).build_model()


def test_converter_has_the_options_of_the_config(task, interaction, vocabulary_file):
    converter = task(conversion={"max_seq_length": 12}).converter(vocabulary_file(WORDS))
    features = converter.convert(interaction, 1).features.feature
    assert len(features["input_ids"].int64_list.value) == 12
    pieces = [WORDS[number] for number in features["input_ids"].int64_list.value]
    assert pieces[:8] == ["[CLS]", "which", "[UNK]", "[SEP]", "city", "paris", "rome", "[PAD]"]
    assert list(features["label_ids"].int64_list.value[:8]) == [0, 0, 0, 0, 0, 0, 1, 0]


def test_a_question_counts_if_all_its_cells_are_right(task, interaction):
    predicted = {
        "a-0_0": Prediction("a-0_0", ((0, 0),)),
        "a-0_1": Prediction("a-0_1", ((1, 0), (0, 0))),
    }
    assert task().measure([interaction], predicted) == {"questions": {"accuracy": 0.5}}


def test_answers_are_written_if_the_model_aggregates(task, interaction, tmp_path):
    predicted = {"a-0_0": Prediction("a-0_0", ((0, 0), (1, 0)), aggregation="COUNT")}
    target = str(tmp_path / "dev")
    assert task().write_answers([interaction], predicted, target) == ()
    assert not list(tmp_path.iterdir())
    (path,) = task(model={"num_aggregation_labels": 4}).write_answers(
        [interaction], predicted, target
    )
    assert path == f"{target}.answers.tsv"
    with open(path, encoding="utf-8") as file:
        first = file.readline().rstrip("\n").split("\t")
    assert first[1:] == ["2.0"]
