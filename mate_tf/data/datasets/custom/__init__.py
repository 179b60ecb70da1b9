"""Reads the user's own tables and questions: a folder of tables and a file of questions per split.

The format is described in docs/tasks/custom.md. Question "x" is "x-0_0" in predictions, and the
questions of conversation "x" are "x-0_0", "x-0_1", …
"""

import dataclasses
import functools
import itertools
import math
import os
import pathlib
from collections.abc import Iterator

from mate_tf.answers import execution
from mate_tf.answers.gold import (
    AnswerError,
    GoldAnswer,
    SupervisionMode,
    answer_at,
    format_number,
    parse_answer,
)
from mate_tf.data.datasets.custom.lines import NONE, Line, questions_path, read_lines, shown
from mate_tf.data.datasets.custom.summary import SPLITS, Size, Summary, class_index, describe
from mate_tf.data.interactions import (
    Question,
    interaction_from_table,
    interactions_of_single_questions,
)
from mate_tf.errors import InputError
from mate_tf.lazy import on_first_use
from mate_tf.protos import interaction_pb2
from mate_tf.tables.any_table import read_table
from mate_tf.tables.numbers import column_values, to_float32
from mate_tf.tables.table import Table
from mate_tf.tables.text_table import FileOptions

__all__ = ["SPLITS", "Size", "Summary", "describe", "read"]

__getattr__, __dir__ = on_first_use(__name__)

_TABLES_IN_MEMORY = 64
_LINES_TOGETHER = 500


def read(
    input_dir: str | os.PathLike, split: str, *, seed: int = 0
) -> Iterator[interaction_pb2.Interaction]:
    """Reads the interactions of a split in order, one per question or conversation.

    Given cells are used unchanged. The cells of texts and numbers are found in the table by the
    rules of `answers.gold`, in "train" by the strict ones. A question is marked as invalid if its
    answer is not found. In weakly supervised data, an answer computed from cells has its number
    only, since answer cells then are cells that contain the answer.

    Args:
        split: "train", "dev" or "test".
        seed: seed of the choice of tables that are held out.

    Raises:
        InputError: see `describe`; also if a table cannot be read or lacks a cell.
    """
    if split not in SPLITS:
        raise InputError(f"there is no split {split!r}, only {', '.join(SPLITS)}")
    input_dir = pathlib.Path(input_dir)
    summary = describe(input_dir, seed=seed)
    source = "train" if split == "dev" and summary.held_out else split
    tables = functools.lru_cache(_TABLES_IN_MEMORY)(functools.partial(_read_table, input_dir))
    answers = _Answers(summary, strict=split == "train")
    lines = read_lines(questions_path(input_dir, source), source)
    for _, group in itertools.groupby(lines, _group_key):
        first, *others = group
        if source == "train" and (first.table in summary.held_out) != (split == "dev"):
            continue
        try:
            table = tables(first.table)
        except InputError as error:
            raise InputError(f"{first.where}: table: {error}") from error
        table = dataclasses.replace(table, title=first.title or table.title)
        questions = [answers.question(line, table) for line in (first, *others)]
        if first.in_conversation:
            yield interaction_from_table(table, first.interaction_id, questions)
        else:
            yield from interactions_of_single_questions(table, questions)


def _group_key(line: Line):
    """Returns a key that is equal for lines of a conversation, or about the same table."""
    if line.in_conversation:
        return line.interaction_id
    return line.table, line.title, line.number // _LINES_TOGETHER


_FORM = FileOptions(header_row=1)
"""A header that is not there would move all cells that answers name."""


def _read_table(input_dir: pathlib.Path, name: str) -> Table:
    return dataclasses.replace(read_table(input_dir / name, asked=_FORM), table_id=name)


class _Answers:
    """Conversion of lines to questions; `strict` rejects texts that are in several cells."""

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
            index = class_index(line, self._labels)
            return dataclasses.replace(question, class_index=index)
        question = dataclasses.replace(question, aggregation=line.aggregation)
        find = self._find_cells if line.kind == "cells" else self._found
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

    def _find_cells(self, line: Line, table: Table) -> GoldAnswer:
        """Returns an answer given by cells: the cells, or the number computed from them."""
        answer = answer_at(table, _coordinates(line, table))
        if line.aggregation is None or not line.is_computed:
            return answer
        columns = {column: column_values(table.column(column)) for _, column in answer.coordinates}
        numbers = [columns[column][row] for row, column in answer.coordinates]
        numbers = [number if isinstance(number, float) else None for number in numbers]
        value, text = execution.result(line.aggregation, answer.texts, numbers)
        if value is None or not math.isfinite(to_float32(value)):
            raise AnswerError(f"{line.aggregation} of cells that are not numbers")
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
    result = {}
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
                f" the header is not a row{'; ' if table.unread else ''}{table.unread}"
            )
        result[row, index] = True
    return list(result)
