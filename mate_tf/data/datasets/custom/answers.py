"""Makes questions with answers from lines and tables of the user's own data."""

import dataclasses
import math

from mate_tf.answers import execution
from mate_tf.answers.gold import (
    AnswerError,
    GoldAnswer,
    SupervisionMode,
    answer_at,
    format_number,
    parse_answer,
)
from mate_tf.data.datasets.custom import labels
from mate_tf.data.datasets.custom.lines import NONE, Line, shown
from mate_tf.data.datasets.custom.summary import Summary
from mate_tf.data.interactions import Question
from mate_tf.errors import InputError
from mate_tf.tables.numbers import column_values, to_float32
from mate_tf.tables.table import Table


class Answers:
    """Conversion of lines to questions with answers.

    Args:
        summary: summary of the data set.
        strict: reject answers with a text that is in several cells.
    """

    def __init__(self, summary: Summary, strict: bool):
        self._labels = summary.labels
        self._weakly_supervised = summary.weakly_supervised
        self._mode = SupervisionMode.REMOVE_ALL_STRICT if strict else SupervisionMode.REMOVE_ALL

    def question(self, line: Line, table: Table) -> Question:
        """Makes the question of a line; its answer is invalid if it is not found in the table."""
        question = Question(line.question_id, line.question, given=line.given)
        if line.kind is None:
            return question
        if line.kind == "class":
            index = labels.class_index(line, self._labels)
            return dataclasses.replace(question, class_index=index)
        question = dataclasses.replace(question, aggregation=line.aggregation)
        find = self._of_cells if line.kind == "cells" else self._found
        try:
            answer = find(line, table)
        except AnswerError as error:
            # Evaluation compares with texts, whether or not they are in the table.
            texts = line.answer if line.kind == "text" else ()
            texts = (format_number(line.answer),) if line.kind == "number" else texts
            return dataclasses.replace(question, texts=texts, is_valid=False, problem=error.reason)
        return dataclasses.replace(
            question,
            coordinates=answer.coordinates,
            texts=answer.texts,
            float_value=answer.float_value,
        )

    def _of_cells(self, line: Line, table: Table) -> GoldAnswer:
        """Returns an answer given by cells: the cells, or the number computed from them."""
        answer = answer_at(table, _coordinates(line, table))
        if not line.is_computed:
            return answer
        columns = {column: column_values(table.column(column)) for _, column in answer.coordinates}
        numbers = [columns[column][row] for row, column in answer.coordinates]
        numbers = [number if isinstance(number, float) else None for number in numbers]
        value, text = execution.result(line.aggregation, answer.texts, numbers)
        if value is None or not math.isfinite(to_float32(value)):
            raise AnswerError(f"{line.aggregation} of cells that are no numbers")
        coordinates = () if self._weakly_supervised else answer.coordinates
        return GoldAnswer((text,), coordinates, value)

    def _found(self, line: Line, table: Table) -> GoldAnswer:
        """Returns an answer given by text or number, with the cells that contain it."""
        if line.kind == "text":
            given = GoldAnswer(line.answer)
        else:
            given = GoldAnswer(float_value=line.answer)
        if line.is_computed:
            # The answer is computed, so a cell with the same text is a coincidence.
            answer = parse_answer(table, given, SupervisionMode.REMOVE_ALL)
            answer = dataclasses.replace(answer, coordinates=())
        else:
            answer = parse_answer(table, given, self._mode)
        if answer.float_value is not None and not math.isfinite(answer.float_value):
            answer = dataclasses.replace(answer, float_value=None)
        if not answer.coordinates and (line.aggregation == NONE or answer.float_value is None):
            raise AnswerError("neither a cell nor a number")
        return answer


def _coordinates(line: Line, table: Table) -> list[tuple[int, int]]:
    """Returns the distinct cells of a line with column numbers, checked against the table."""
    found = {}
    for row, column in line.answer:
        index = column
        if isinstance(column, str):
            count = table.columns.count(column)
            if count != 1:
                raise InputError(
                    f"{line.where}: cells: {count or 'no'} columns of {line.table} are named"
                    f" {shown(column)}; it has {', '.join(map(shown, table.columns))}"
                )
            index = table.columns.index(column)
        if not (0 <= row < table.num_rows and 0 <= index < table.num_columns):
            raise InputError(
                f"{line.where}: cells: {shown([row, column])} is not in {line.table}, which has"
                f" {table.num_rows} rows and {table.num_columns} columns; both count from 0, and"
                " the header is no row"
            )
        found[row, index] = True
    return list(found)
