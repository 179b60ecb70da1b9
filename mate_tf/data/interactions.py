"""Tables and questions as `Interaction` protos, the format in which data sets are stored.

```
table = Table.from_csv("cities.csv")
question = Question("cities-0_0", "which city is largest?", coordinates=[(2, 0)])
interaction = interaction_from_table(table, "cities-0", [question])
```
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mate_tf.errors import InputError
from mate_tf.protos import given_answer_pb2, interaction_pb2, invalid_answer_pb2
from mate_tf.tables import numbers
from mate_tf.tables.table import Table
from mate_tf.tables.text import normalize_for_match

PADDING_QUESTION_ID = "EMPTY-0_0"
"""Id of padding examples, which only fill the last batch."""

_INVALID = invalid_answer_pb2.InvalidAnswer.invalid_answer_ext
_GIVEN = given_answer_pb2.GivenAnswer.given_answer_ext
_TABLE_FIELDS = {  # of a `Table`, with their names in protos
    "table_id": "table_id",
    "title": "document_title",
    "heading": "context_heading",
    "caption": "caption",
    "url": "document_url",
}
_QUESTION_ID = re.compile(r"(?P<example>.+)-(?P<annotator>[^-]+)_(?P<position>\d+)", re.DOTALL)


@dataclass(frozen=True)
class Question:
    """A question with its answer, if it is known.

    Attributes:
        id: id in the form of `create_question_id`.
        text: original text of the question.
        coordinates: (row, column) of the answer's cells, both from 0 and without the header.
        texts: texts of the answer in the data set.
        aggregation: "NONE", "SUM", "AVERAGE" or "COUNT" of the cells; None if unknown.
        float_value: the answer, if it is one number.
        class_index: the class, in classification tasks.
        is_valid: False if the answer could not be parsed; the question then gives no example.
        problem: the reason for that, a short fixed text by which such questions can be counted.
        given: how the answer was given, a short fixed text such as "number"; "" if not known.
    """

    id: str
    text: str
    coordinates: Sequence[tuple[int, int]] = ()
    texts: Sequence[str] = ()
    aggregation: str | None = None
    float_value: float | None = None
    class_index: int | None = None
    is_valid: bool = True
    problem: str = ""
    given: str = ""


class QuestionId(NamedTuple):
    """The parts of <example>-<annotator>_<position>."""

    example: str
    annotator: str
    position: int


def interaction_from_table(
    table: Table, interaction_id: str, questions: Iterable[Question]
) -> interaction_pb2.Interaction:
    """Makes the interaction of a table and its questions, with annotated numbers and dates.

    Raises:
        InputError: if a cell of an answer is outside the table, or its aggregation is unknown.
    """
    interaction = interaction_pb2.Interaction(id=interaction_id, table=_table_proto(table))
    for question in questions:
        _check_answer(question, table)
        proto = interaction.questions.add(id=question.id, original_text=question.text)
        _set_answer(proto.answer, question)
        if question.problem:
            proto.Extensions[_INVALID].reason = question.problem
        if question.given:
            proto.Extensions[_GIVEN].kind = question.given
    annotate(interaction)
    return interaction


def interactions_of_single_questions(
    table: Table, questions: Iterable[Question]
) -> Iterator[interaction_pb2.Interaction]:
    """Yields one interaction per question, for questions that do not refer to each other.

    Numbers in the table are found once for all questions. Ids are those of `get_interaction_id`.

    Raises:
        InputError: see `interaction_from_table`.
    """
    all_questions = interaction_from_table(table, "", questions)
    for question in all_questions.questions:
        yield interaction_pb2.Interaction(
            id=get_interaction_id(question.id), table=all_questions.table, questions=[question]
        )


def table_of(interaction: interaction_pb2.Interaction) -> Table:
    """Returns the table of an interaction.

    Raises:
        InputError: if rows have different lengths, or there are no columns.
    """
    table = interaction.table
    return Table(
        tuple(cell.text for cell in table.columns),
        tuple(tuple(cell.text for cell in row.cells) for row in table.rows),
        **{name: getattr(table, field) for name, field in _TABLE_FIELDS.items()},
    )


def annotate(interaction: interaction_pb2.Interaction) -> None:
    """Adds normalized questions, numbers and dates in place, if they are missing."""
    if not _has_cell_values(interaction.table):
        for column, values in enumerate(cell_values(interaction.table)):
            for row, value in zip(interaction.table.rows, values, strict=True):
                if value is not None:
                    _set_value(row.cells[column].numeric_value, value)
    for question in interaction.questions:
        question.text = question_text(question)
        if not question.HasField("annotations"):
            question.annotations.SetInParent()
            for begin, end, values in numbers.numeric_spans(question.text):
                span = question.annotations.spans.add(begin_index=begin, end_index=end)
                for value in values:
                    _set_value(span.values.add(), value)


def problem(question: interaction_pb2.Question) -> str:
    """Returns the reason of an invalid answer; "" for valid answers and unknown reasons."""
    return question.Extensions[_INVALID].reason if question.HasExtension(_INVALID) else ""


def given(question: interaction_pb2.Question) -> str:
    """Returns how the answer was given (`Question.given`); "" if this is not known."""
    return question.Extensions[_GIVEN].kind if question.HasExtension(_GIVEN) else ""


def invalidate(question: interaction_pb2.Question, reason: str) -> None:
    """Marks a question in place as invalid, with a reason for `problem`; it gives no example."""
    question.answer.is_valid = False
    question.Extensions[_INVALID].reason = reason


def question_text(question: interaction_pb2.Question) -> str:
    """Returns the normalized text; it is computed from the original text if it is missing."""
    return question.text or normalize_for_match(question.original_text)


def question_values(question: interaction_pb2.Question) -> list[numbers.Value]:
    """Returns numbers and dates in a question: annotated ones, or else those found in its text."""
    if question.HasField("annotations"):
        values = (value for span in question.annotations.spans for value in span.values)
        return [result for result in map(_value, values) if result is not None]
    text = normalize_for_match(question_text(question))
    return [value for span in numbers.numeric_spans(text) for value in span.values]


def cell_values(table: interaction_pb2.Table) -> list[list[numbers.Value | None]]:
    """Returns, for each column, the number or date of each cell; None for cells without one.

    They are the annotations of the cells. If no cell of the table is annotated, they are found in
    the texts.
    """
    columns = [[row.cells[index] for row in table.rows] for index in range(len(table.columns))]
    if _has_cell_values(table):
        return [[_value(cell.numeric_value) for cell in column] for column in columns]
    return [numbers.column_values([cell.text for cell in column]) for column in columns]


def create_interaction_id(example_id: str, index: int | None = None) -> str:
    """Returns an interaction id of annotator 0; `index` numbers several parts of an example."""
    return f"{example_id}-0" if index is None else f"{example_id}/{index}-0"


def create_question_id(interaction_id: str, position: int) -> str:
    """Returns the id of a question in an interaction."""
    return f"{interaction_id}_{position}"


def parse_question_id(question_id: str) -> QuestionId:
    """Splits "nt-12-0_3" into ("nt-12", "0", 3).

    Raises:
        InputError: if the id does not have this form.
    """
    match = _QUESTION_ID.fullmatch(question_id)
    if match is None:
        raise InputError(f"question id {question_id!r} is not <example>-<annotator>_<position>")
    return QuestionId(match["example"], match["annotator"], int(match["position"]))


def get_interaction_id(question_id: str) -> str:
    """Returns the id of a question's interaction: the part before the last "_"."""
    return question_id.rpartition("_")[0] or question_id


def get_example_id(question_id: str) -> str:
    """Returns the example id of a question or interaction id, without annotator and part."""
    return get_interaction_id(question_id).rpartition("-")[0].partition("/")[0] or question_id


def _table_proto(table: Table) -> interaction_pb2.Table:
    proto = interaction_pb2.Table(columns=_cells(table.columns))
    proto.rows.extend(interaction_pb2.Cells(cells=_cells(row)) for row in table.rows)
    for name, field in _TABLE_FIELDS.items():
        if getattr(table, name):
            setattr(proto, field, getattr(table, name))
    return proto


def _cells(texts: Iterable[str]) -> list[interaction_pb2.Cell]:
    return [interaction_pb2.Cell(text=text) for text in texts]


def _check_answer(question: Question, table: Table) -> None:
    """Raises InputError for cells outside the table and unknown operations."""
    where = f"question {question.id}"
    for row, column in question.coordinates:
        if not (0 <= row < table.num_rows and 0 <= column < table.num_columns):
            raise InputError(
                f"{where}: the answer's cell (row {row}, column {column}) is not in table"
                f" {table.table_id or 'without id'} of {table.num_rows} rows and"
                f" {table.num_columns} columns"
            )
    known = interaction_pb2.Answer.AggregationFunction.keys()
    if question.aggregation is not None and question.aggregation not in known:
        raise InputError(
            f"{where}: aggregation {question.aggregation!r} is not one of {', '.join(known)}"
        )


def _set_answer(answer: interaction_pb2.Answer, question: Question) -> None:
    answer.SetInParent()
    answer.answer_texts.extend(question.texts)
    for row, column in question.coordinates:
        answer.answer_coordinates.add(row_index=row, column_index=column)
    if question.aggregation is not None:
        answer.aggregation_function = interaction_pb2.Answer.AggregationFunction.Value(
            question.aggregation
        )
    if question.float_value is not None:
        answer.float_value = question.float_value
    if question.class_index is not None:
        answer.class_index = question.class_index
    if not question.is_valid:
        answer.is_valid = False


def _has_cell_values(table: interaction_pb2.Table) -> bool:
    return any(cell.HasField("numeric_value") for row in table.rows for cell in row.cells)


def _set_value(proto: interaction_pb2.NumericValue, value: numbers.Value) -> None:
    if isinstance(value, numbers.Date):
        proto.date.SetInParent()
        for part, number in value._asdict().items():
            if number is not None:
                setattr(proto.date, part, number)
    else:
        proto.float_value = value


def _value(proto: interaction_pb2.NumericValue) -> numbers.Value | None:
    kind = proto.WhichOneof("value")
    if kind == "float_value":
        return proto.float_value
    if kind == "date":
        date = proto.date
        return numbers.Date(
            date.year if date.HasField("year") else None,
            date.month if date.HasField("month") else None,
            date.day if date.HasField("day") else None,
        )
    return None
