"""Types of answers by the cells that have them."""

import pytest

from mate_tf.answers.hybridqa import ANSWER_TYPES, answer_type
from mate_tf.protos import interaction_pb2

EXPECTED = {
    (0, 0): "no_answer",
    (1, 0): "1_in_table",
    (2, 0): "2+_in_table",
    (0, 1): "1_in_text",
    (0, 3): "2+_in_text",
    (1, 1): "table_&_text",
    (2, 2): "table_&_text",
}


@pytest.mark.parametrize(("in_table", "in_text"), EXPECTED)
def test_types(in_table, in_text):
    question = interaction_pb2.Question()
    own = question.alternative_answers.add()
    for row in range(in_table + in_text):
        question.answer.answer_coordinates.add(row_index=row)
    for row in range(in_table):
        own.answer_coordinates.add(row_index=row)
    assert answer_type(question) == EXPECTED[in_table, in_text]


def test_without_alternatives_all_cells_are_of_texts():
    question = interaction_pb2.Question()
    question.answer.answer_coordinates.add()
    assert answer_type(question) == "1_in_text"
    assert set(EXPECTED.values()) == set(ANSWER_TYPES)
