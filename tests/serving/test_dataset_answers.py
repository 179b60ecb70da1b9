"""The questions of a data set are asked in order, each with the answer before it."""

import pytest

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.serving import dataset_answers
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.tables.table import Table


class LastRow:
    """Selects the last row; it cannot be asked "why"."""

    def __init__(self):
        self.batches = []

    def ask_batch(self, pairs, previous):
        self.batches.append(len(pairs))
        if any(question == "why" for _, question in pairs):
            raise InputError("too long")
        return [
            Answer((AnswerCell(2, 0, table.rows[2][0], 0.5),), "NONE", None, 0.5, "c")
            for table, _ in pairs
        ]


@pytest.fixture
def conversations():
    table = Table.from_rows(["A", "B"], [["a", "1"], ["b", "2"], ["c", "3"]])
    texts = (("who", "and then", "last"), ("which", "why"))
    return [
        interaction_from_table(
            table,
            f"t-{number}",
            [Question(f"t-{number}_{i}", each, ((i, 1),)) for i, each in enumerate(asked)],
        )
        for number, asked in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("previous", "expected"),
    [(None, None), (dataset_answers.OWN, [(2, 0)]), (dataset_answers.GOLD, [(0, 1)])],
)
def test_previous_answers(conversations, previous, expected):
    found = list(dataset_answers.ask(LastRow(), conversations, previous))
    before = {each.question.id: each.previous and each.previous.coordinates for each in found}
    assert list(before) == ["t-0_0", "t-1_0", "t-0_1", "t-1_1", "t-0_2"]
    assert before["t-0_0"] is before["t-1_0"] is None
    assert before["t-0_1"] == before["t-1_1"] == expected


def test_questions_that_cannot_be_asked(conversations):
    """The others of their batch are answered, and they count as wrong."""
    predictor = LastRow()
    found = {each.question.id: each for each in dataset_answers.ask(predictor, conversations)}
    assert predictor.batches == [2, 2, 1, 1, 1]
    assert found["t-1_1"].answer is None
    assert found["t-0_1"].answer.coordinates == [(2, 0)]
    made = {name: dataset_answers.prediction(name, each.answer, ()) for name, each in found.items()}
    assert made["t-1_1"].coordinates == ()
    assert made["t-0_1"].coordinates == ((2, 0),)
    assert made["t-0_1"].probabilities == (0.5,)


def test_classes():
    answer = Answer((), "NONE", None, 0.9, "yes")
    made = dataset_answers.prediction("q", answer, ["no", "yes"])
    assert (made.coordinates, made.class_index) == ((), 1)


def test_what_is_derived_from_cells_is_judged_by_its_text():
    cells = (AnswerCell(0, 1, "4", 1.0), AnswerCell(1, 1, "3", 1.0))
    made = dataset_answers.prediction("t-0_0", Answer(cells, "NONE", 1.0, 0.9, "1"), ())
    assert (made.texts, made.coordinates) == (("1",), ((0, 1), (1, 1)))
    for answer in (
        Answer(cells, "NONE", None, 0.9, "4, 3"),
        Answer(cells, "SUM", 7.0, 0.9, "7"),
        Answer((), "NONE", None, 0.9, "", answerable=False),
    ):
        assert dataset_answers.prediction("t-0_0", answer, ()).texts == ()
