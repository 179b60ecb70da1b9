"""Reads WikiSQL (Zhong et al., 2017): questions with the SQL queries that answer them.

The official release has two files for each split, `<split>.jsonl` with the questions and
`<split>.tables.jsonl` with the tables. A query selects one column of the rows that meet all
conditions, or computes maximum, minimum, count, sum or average of these cells.

Queries are executed by the rules of the release's own engine (a database). If those are stricter
than the importer of google-research/tapas, the rules of the importer are used: texts are equal if
they have the same words and punctuation in lower case. There are differences to both:
- Each condition has its own value. (The engine uses, for all conditions on a column, the value of
  the last one.)
- Numbers in columns of text are added up too, if all cells are numbers.
- MAX and MIN select all cells with the value. (The importer selects one of them.)
- If the answer is one cell, its text is the text of the cell. (The importer writes 5.0 for "5", and
  does not find that in the table.)
"""

import dataclasses
import math
import operator
import os
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from mate_tf.answers import execution
from mate_tf.answers.gold import AnswerError, GoldAnswer, SupervisionMode, parse_answer
from mate_tf.data.interactions import (
    Question,
    create_interaction_id,
    create_question_id,
    interactions_of_single_questions,
)
from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_lines
from mate_tf.protos import interaction_pb2
from mate_tf.tables.numbers import to_float32
from mate_tf.tables.table import Table
from mate_tf.tables.text import convert_to_float, tokenize_string

SPLITS = ("train", "dev", "test")

AGGREGATIONS = ("", "MAX", "MIN", "COUNT", "SUM", "AVG")
"""Aggregations, by their numbers in the release."""

OPERATORS = ("=", ">", "<")
"""Operators of conditions, by their numbers in the release."""

REAL = "real"
"""Type of a column of numbers; the other type is "text"."""

NO_ROWS = "no row meets the conditions"
NOT_A_NUMBER = "condition on a number is not one"
NO_NUMBERS = "not all cells are numbers"

_ABOUT = {"title": "page_title", "heading": "section_title", "caption": "caption"}
_AGGREGATION_NAMES = {"COUNT": "COUNT", "SUM": "SUM", "AVG": "AVERAGE"}
_COMPARISONS = {"=": operator.eq, ">": operator.gt, "<": operator.lt}
# A number inside a longer text, found like in the official engine.
_NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")


class Condition(NamedTuple):
    """Condition `column <operator> value`; columns count from 0."""

    column: int
    operator: str
    value: str


@dataclasses.dataclass(frozen=True)
class Query:
    """Query SELECT aggregation(column) FROM the table WHERE all conditions hold."""

    column: int
    aggregation: str = ""
    conditions: tuple[Condition, ...] = ()


class Result(NamedTuple):
    """Result of a query.

    Attributes:
        coordinates: the selected cells; for MAX and MIN the cells with the value.
        aggregation: operation over these cells, "NONE", "SUM", "AVERAGE" or "COUNT".
        texts: the answer: the computed number, or the texts of the cells.
        value: the answer, if it is one finite number.
    """

    coordinates: tuple[tuple[int, int], ...]
    aggregation: str
    texts: tuple[str, ...]
    value: float | None


class TypedTable(NamedTuple):
    """A table with the type of each column, "real" or "text"."""

    table: Table
    types: tuple[str, ...]


def read(
    input_dir: str | os.PathLike, split: str, *, supervised: bool = False
) -> Iterator[interaction_pb2.Interaction]:
    """Reads interactions of one question each, grouped by table.

    Questions have the ids of the reference, such as "train-7-0_0" for line 8. Tables have the
    official ids. Questions with a query without an answer are not valid; the reason is in the
    question's `InvalidAnswer`.

    Args:
        input_dir: the folder with the files, or a folder that has them in `data/`.
        supervised: take cells and aggregation from the query. Otherwise only texts and number are
            taken, and the cells are found in the table: in "train" a text in several cells is not
            valid, in other splits the first cell is used.

    Raises:
        InputError: if the split is unknown, or a file is missing or malformed; the message names
            the file and the line.
    """
    if split not in SPLITS:
        raise InputError(f"WikiSQL has no split {split!r}, only {', '.join(SPLITS)}")
    folder = _folder(pathlib.Path(input_dir), split)
    mode = SupervisionMode.REMOVE_ALL
    if supervised:
        mode = SupervisionMode.NONE
    elif split == "train":
        mode = SupervisionMode.REMOVE_ALL_STRICT
    tables = read_tables(folder / f"{split}.tables.jsonl")
    by_table: dict[str, list[Question]] = {}
    path = folder / f"{split}.jsonl"
    for number, fields in read_json_lines(path):
        where = f"{path} line {number}"
        text = _field(where, fields, "question", str)
        table_id = _field(where, fields, "table_id", str)
        if table_id not in tables:
            raise InputError(f"{where}: table_id: no table {table_id!r} in {folder}")
        query = parse_query(where, _field(where, fields, "sql", dict), tables[table_id])
        question_id = create_question_id(create_interaction_id(f"{split}-{number - 1}"), 0)
        question = _question(question_id, text, query, tables[table_id], mode)
        by_table.setdefault(table_id, []).append(question)
    for table_id, questions in by_table.items():
        yield from interactions_of_single_questions(tables[table_id].table, questions)


def read_tables(path: str | os.PathLike) -> dict[str, TypedTable]:
    """Reads the tables of a file, by id.

    Raises:
        InputError: if the file cannot be read, or a table is malformed.
    """
    tables = {}
    for number, fields in read_json_lines(path):
        where = f"{path} line {number}"
        table_id = _field(where, fields, "id", str)
        header, rows = _field(where, fields, "header", list), _field(where, fields, "rows", list)
        types = _field(where, fields, "types", list)
        if len(types) != len(header) or not all(kind in ("text", REAL) for kind in types):
            raise InputError(f"{where}: types: not one of text and real for each column")
        if not all(isinstance(row, list) for row in rows):
            raise InputError(f"{where}: rows: expected a list of rows")
        if table_id in tables:
            raise InputError(f"{where}: id: table {table_id!r} is a duplicate")
        about = {
            name: str(fields[key]) for name, key in _ABOUT.items() if fields.get(key) is not None
        }
        try:
            table = Table.from_rows(header, rows, table_id=table_id, **about)
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
        tables[table_id] = TypedTable(table, tuple(types))
    return tables


def parse_query(where: str, fields: dict[str, Any], table: TypedTable) -> Query:
    """Parses a query of the release and checks it against its table.

    Args:
        fields: "sel", "agg" and "conds", a list of [column, operator, value].

    Raises:
        InputError: if there is no column, aggregation or operator with a given number.
    """
    names = table.table.columns
    column = _index(f"{where}: sql: sel", fields.get("sel"), names)
    aggregation = _index(f"{where}: sql: agg", fields.get("agg"), AGGREGATIONS)
    conditions = []
    for condition in _field(f"{where}: sql", fields, "conds", list):
        if not isinstance(condition, list) or len(condition) != 3:
            raise InputError(f"{where}: sql: conds: expected [column, operator, value]")
        left, comparison, value = condition
        left = _index(f"{where}: sql: conds: column", left, names)
        comparison = _index(f"{where}: sql: conds: operator", comparison, OPERATORS)
        if not isinstance(value, (str, int, float)):
            raise InputError(f"{where}: sql: conds: value: expected text or a number")
        conditions.append(Condition(left, OPERATORS[comparison], str(value)))
    return Query(column, AGGREGATIONS[aggregation], tuple(conditions))


def execute(query: Query, table: TypedTable) -> Result:
    """Executes a query.

    Texts are compared in lower case. In columns of numbers, a cell without a number meets no
    condition.

    Raises:
        AnswerError: if the query has no answer; the reason is a constant of this module.
    """
    holds = [_compiled(condition, table) for condition in query.conditions]
    rows = [
        (number, row[query.column])
        for number, row in enumerate(table.table.rows)
        if all(hold(row) for hold in holds)
    ]
    if query.aggregation in ("MAX", "MIN") and rows:
        rows = _extreme(rows, query.aggregation, table.types[query.column])
    coordinates = tuple((number, query.column) for number, _ in rows)
    texts = tuple(text for _, text in rows)
    aggregation = _AGGREGATION_NAMES.get(query.aggregation, execution.NONE)
    if not rows and aggregation != execution.COUNT:
        raise AnswerError(NO_ROWS)
    if aggregation == execution.NONE:
        # Several cells with the largest value are one answer, not several.
        texts = texts[:1] if query.aggregation else texts
        value = _finite(texts[0]) if len(rows) == 1 else None
        return Result(coordinates, aggregation, texts, value)
    value, text = execution.result(aggregation, texts)
    if value is None or not math.isfinite(to_float32(value)):
        raise AnswerError(NO_NUMBERS)
    return Result(coordinates, aggregation, (text,), value)


def _compiled(condition: Condition, table: TypedTable) -> Callable[[tuple[str, ...]], bool]:
    """Returns a function that is True for rows that meet a condition."""
    compare = _COMPARISONS[condition.operator]
    if table.types[condition.column] == REAL:
        key, value = _number, _sought_number(condition.value)
    else:
        key = tokenize_string if condition.operator == "=" else str.lower
        value = key(condition.value)

    def holds(row: tuple[str, ...]) -> bool:
        cell = key(row[condition.column])
        return cell is not None and compare(cell, value)

    return holds


def _extreme(rows, aggregation: str, kind: str) -> list[tuple[int, str]]:
    """Selects the pairs (row, text) with the largest or smallest text or number."""
    key = _number if kind == REAL else str.lower
    keys = [key(text) for _, text in rows]
    known = [result for result in keys if result is not None]
    if not known:
        raise AnswerError(NO_NUMBERS)
    wanted = max(known) if aggregation == "MAX" else min(known)
    return [row for row, result in zip(rows, keys, strict=True) if result == wanted]


def _number(text: str) -> float | None:
    """Returns the number of a cell; None if its text is not a number."""
    try:
        number = convert_to_float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _sought_number(text: str) -> float:
    """Returns the number of a condition's value, or the first number in it."""
    number = _number(text)
    if number is None:
        match = _NUMBER.search(text)
        if match is None:
            raise AnswerError(NOT_A_NUMBER)
        number = float(match.group())
    return number


def _finite(text: str) -> float | None:
    """Returns the number of a text, if it is finite as float32."""
    number = _number(text)
    return number if number is not None and math.isfinite(to_float32(number)) else None


def _question(
    question_id: str, text: str, query: Query, table: TypedTable, mode: SupervisionMode
) -> Question:
    question = Question(question_id, text)
    try:
        result = execute(query, table)
        question = dataclasses.replace(question, texts=result.texts)
        if mode is SupervisionMode.NONE:
            return dataclasses.replace(
                question,
                coordinates=result.coordinates,
                aggregation=result.aggregation,
                float_value=result.value,
            )
        answer = parse_answer(table.table, GoldAnswer(result.texts, (), result.value), mode)
    except AnswerError as error:
        return dataclasses.replace(question, is_valid=False, problem=error.reason)
    number = answer.float_value
    return dataclasses.replace(
        question,
        coordinates=answer.coordinates,
        float_value=number if number is None or math.isfinite(number) else None,
    )


def _folder(input_dir: pathlib.Path, split: str) -> pathlib.Path:
    """Returns the folder with the files of a split."""
    inner = input_dir / "data"
    return input_dir if (input_dir / f"{split}.jsonl").exists() or not inner.is_dir() else inner


def _field(where: str, fields: dict[str, Any], key: str, kind: type):
    """Returns the value of a key; raises InputError if it has another type."""
    if not isinstance(fields.get(key), kind):
        names = {str: "text", list: "a list", dict: "an object"}
        raise InputError(f"{where}: {key}: expected {names[kind]}")
    return fields[key]


def _index(where: str, value: Any, names: Sequence[str]) -> int:
    """Returns a value that is an index of `names`; raises InputError for others."""
    if type(value) is not int or not 0 <= value < len(names):
        raise InputError(f"{where}: expected a number from 0 to {len(names) - 1}, not {value!r}")
    return value
