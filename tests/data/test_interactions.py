"""Tables and questions to protos and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data import interactions
from mate_tf.data.interactions import Question, interaction_from_table, table_of
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables.numbers import Date
from mate_tf.tables.table import Table

TABLE = Table.from_rows(
    ["City", "Founded", "People"],
    [["Bern", "May 1191", "133,883"], ["Biel", "June 1230", "55"], ["Chur", "July 1980", None]],
    title="Towns",
    table_id="towns.csv",
    heading="Cantons",
    caption="Some",
    url="http://x",
)
QUESTION = Question(
    "towns-0_0",
    "Which  City has 55 People?",
    coordinates=[(1, 0)],
    texts=["Biel"],
    aggregation="NONE",
    float_value=1.5,
    class_index=1,
)


def test_all_fields():
    interaction = interaction_from_table(TABLE, "towns-0", [QUESTION])
    assert interaction.id == "towns-0"
    question = interaction.questions[0]
    assert question.original_text == "Which  City has 55 People?"
    assert question.text == "which city has 55 people?"
    span = question.annotations.spans[0]
    assert question.text[span.begin_index : span.end_index] == "55"
    assert span.values[0].float_value == 55
    answer = question.answer
    assert [(c.row_index, c.column_index) for c in answer.answer_coordinates] == [(1, 0)]
    assert list(answer.answer_texts) == ["Biel"]
    assert answer.aggregation_function == interaction_pb2.Answer.NONE
    assert answer.HasField("aggregation_function")
    assert (answer.float_value, answer.class_index, answer.is_valid) == (1.5, 1, True)
    unknown = interaction_from_table(TABLE, "towns-0", [Question("q", "x", is_valid=False)])
    answer = unknown.questions[0].answer
    assert not answer.is_valid
    assert not answer.HasField("float_value")
    assert not answer.HasField("aggregation_function")


def test_numbers_of_cells():
    table = interaction_from_table(TABLE, "towns-0", []).table
    assert not table.rows[0].cells[0].HasField("numeric_value")
    date = table.rows[2].cells[1].numeric_value.date
    assert (date.year, date.month, date.HasField("day")) == (1980, 7, False)
    values = interactions.cell_values(table)
    assert values[0] == [None] * 3
    assert values[1][2] == Date(1980, 7, None)
    assert values == interactions.cell_values(_bare(TABLE))


def test_numbers_of_questions():
    question = interaction_from_table(TABLE, "towns-0", [QUESTION]).questions[0]
    bare = interaction_pb2.Question(original_text="WHICH has 55?")
    assert interactions.question_values(question) == [55.0]
    assert interactions.question_values(bare) == [55.0]
    # Annotations that are there, even none, are final.
    bare.annotations.SetInParent()
    assert interactions.question_values(bare) == []


def test_annotating_again_changes_nothing():
    interaction = interaction_from_table(TABLE, "towns-0", [QUESTION])
    before = interaction.SerializeToString(deterministic=True)
    interactions.annotate(interaction)
    assert interaction.SerializeToString(deterministic=True) == before


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=2),
        min_size=1,
        max_size=4,
    )
)
def test_tables_come_back(rows):
    table = Table.from_rows(rows[0], rows[1:], title="x", table_id="y")
    interaction = interaction_from_table(table, "x-0", [])
    assert table_of(interaction) == table
    copy = interaction_pb2.Interaction.FromString(interaction.SerializeToString())
    assert table_of(copy) == table


def test_all_table_fields_come_back():
    assert table_of(interaction_from_table(TABLE, "towns-0", [])) == TABLE


@pytest.mark.parametrize("coordinate", [(3, 0), (0, 3), (-1, 0)])
def test_answer_outside_the_table(coordinate):
    with pytest.raises(InputError, match=r"question q: .*row .*towns\.csv of 3 rows and 3 columns"):
        interaction_from_table(TABLE, "towns-0", [Question("q", "x", coordinates=[coordinate])])


def test_unknown_aggregation():
    with pytest.raises(InputError, match="'MAX' is not one of NONE, SUM, AVERAGE, COUNT"):
        interaction_from_table(TABLE, "towns-0", [Question("q", "x", aggregation="MAX")])


def test_single_questions_share_the_annotated_table():
    questions = [Question("a-0_0", "in 1990?"), Question("b-0_0", "who?", [(0, 0)])]
    first, second = interactions.interactions_of_single_questions(TABLE, questions)
    assert (first.id, second.id) == ("a-0", "b-0")
    expected = interaction_from_table(TABLE, "b-0", questions[1:])
    assert second == expected
    assert first.table == expected.table
    assert [question.id for question in first.questions] == ["a-0_0"]


def test_why_an_answer_is_not_valid():
    questions = [
        Question("a-0_0", "x", is_valid=False, problem="no text"),
        Question("a-0_1", "x", is_valid=False),
        Question("a-0_2", "x"),
    ]
    found = interaction_from_table(TABLE, "a-0", questions).questions
    assert list(map(interactions.problem, found)) == ["no text", "", ""]


def test_ids():
    question_id = interactions.create_question_id(interactions.create_interaction_id("a-b"), 2)
    assert question_id == "a-b-0_2"
    assert interactions.parse_question_id(question_id) == ("a-b", "0", 2)
    assert interactions.get_interaction_id(question_id) == "a-b-0"
    with pytest.raises(InputError, match="'a_0' is not"):
        interactions.parse_question_id("a_0")


def _bare(table):
    """The table without annotations."""
    proto = interaction_pb2.Table()
    for text in table.columns:
        proto.columns.add(text=text)
    for texts in table.rows:
        row = proto.rows.add()
        for text in texts:
            row.cells.add(text=text)
    return proto
