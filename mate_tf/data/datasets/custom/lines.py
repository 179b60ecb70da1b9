"""Reads question files of the user's own data; checks their lines without the tables."""

import dataclasses
import json
import math
import os
import pathlib
import posixpath
from collections.abc import Iterator
from typing import Any

from mate_tf.data.interactions import create_interaction_id, create_question_id
from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_lines
from mate_tf.protos import interaction_pb2
from mate_tf.tables.numbers import to_float32

NONE, *COMPUTED = interaction_pb2.Answer.AggregationFunction.keys()


@dataclasses.dataclass(frozen=True)
class Line:
    """A question; only its coordinates and its label are not checked yet.

    Attributes:
        where: file and line, for messages.
        number: number of the line, from 1.
        interaction_id: id of the question's interaction.
        position: position of the question in its conversation, from 0.
        in_conversation: True if the question is part of a conversation.
        table: path of the table in the data set's folder.
        question: text of the question.
        title: title of the table's document.
        kind: key of the answer, "cells", "text", "number" or "class"; None if there is no answer.
        answer: cells as (row, column number or name), texts, a number, or a label.
        aggregation: operation over the cells, if given.
    """

    where: str
    number: int
    interaction_id: str
    position: int
    in_conversation: bool
    table: str
    question: str
    title: str
    kind: str | None
    answer: Any
    aggregation: str | None

    @property
    def question_id(self) -> str:
        """Id of the question in predictions."""
        return create_question_id(self.interaction_id, self.position)

    @property
    def is_computed(self) -> bool:
        """True if the answer is computed from cells, by `aggregation`."""
        return self.aggregation in COMPUTED

    @property
    def given(self) -> str:
        """Kind of the answer, with its operation if it is computed: "number", "cells, SUM"."""
        return f"{self.kind}, {self.aggregation}" if self.is_computed else self.kind or ""


def questions_path(input_dir: pathlib.Path, split: str) -> pathlib.Path:
    """Returns the path of the questions of a split."""
    return input_dir / f"{split}.jsonl"


def read_lines(path: pathlib.Path, split: str) -> Iterator[Line]:
    """Reads the lines of a file in order.

    Raises:
        InputError: if the file cannot be read or is empty; if a line is malformed or, unless the
            split is "test", has no answer; if an id is not unique; if a conversation is interrupted
            or changes its table.
    """
    seen, last = set[str](), None
    for number, fields in read_json_lines(path):
        where = f"{path} line {number}"
        line = _line(where, number, fields, default_id=f"{split}-{number}")
        if last is not None and line.interaction_id in seen:
            continues = line.in_conversation and last.in_conversation
            if not continues or line.interaction_id != last.interaction_id:
                key = "conversation" if line.in_conversation else "id"
                hint = " (its lines must follow one another)" if line.in_conversation else ""
                name = fields.get(key, line.interaction_id)
                raise InputError(f"{where}: {key}: {name!r} is a duplicate{hint}")
            if line.table != last.table:
                raise InputError(
                    f"{where}: table: differs from {last.table!r}, the table of conversation"
                )
            line = dataclasses.replace(line, position=last.position + 1)
        if line.kind is None and split != "test":
            raise InputError(f"{where}: no answer; give one of {', '.join(_ANSWERS)}")
        seen.add(line.interaction_id)
        last = line
        yield line
    if last is None:
        raise InputError(f"{path}: no questions in it")


def _line(where: str, number: int, fields: dict[str, Any], default_id: str) -> Line:
    """Checks the fields of a line; raises InputError if one is wrong."""
    fields = {key: value for key, value in fields.items() if value is not None}
    known = (*_KEYS, *_ANSWERS)
    for key in fields:
        if key not in known and not key.startswith("_"):
            raise InputError(f"{where}: unknown key {key!r}, not one of {', '.join(known)}")
    for key in ("table", "question"):
        if key not in fields:
            raise InputError(f"{where}: {key}: missing")
    kinds = [key for key in _ANSWERS if key in fields]
    if len(kinds) > 1:
        raise InputError(f"{where}: {' and '.join(kinds)}: a question has only one of them")
    values = {}
    for key, check in (_KEYS | _ANSWERS).items():
        if key in fields:
            try:
                values[key] = check(fields[key])
            except ValueError as error:
                raise InputError(f"{where}: {key}: {error}") from None
    aggregation, kind = values.get("aggregation"), next(iter(kinds), None)
    if aggregation is not None and kind in (None, "class"):
        raise InputError(f"{where}: aggregation: the answer has no cells, text or number")
    name = values.get("conversation", values.get("id", default_id))
    return Line(
        where=where,
        number=number,
        interaction_id=create_interaction_id(name),
        position=0,
        in_conversation="conversation" in values,
        table=values["table"],
        question=values["question"],
        title=values.get("title", ""),
        kind=kind,
        answer=values.get(kind),
        aggregation=aggregation,
    )


# Checks of the values of keys. Each function returns the value or raises ValueError.


def _text(value) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected text, not {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"not valid Unicode: {shown(value)}") from None
    return value


def _name(value) -> str:
    return _text(str(value) if type(value) is int else value)


def _table_path(value) -> str:
    path = posixpath.normpath(_text(value))
    if os.path.isabs(path) or path.split("/")[0] == "..":
        raise ValueError(f"{shown(value)} is not in the folder of the data set")
    return path


def _aggregation(value) -> str:
    if value not in (NONE, *COMPUTED):
        raise ValueError(f"{shown(value)} is not one of {', '.join((NONE, *COMPUTED))}")
    return value


def _cells(value) -> tuple[tuple[int, int | str], ...]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"expected a list of [row, column], not {shown(value)}")
    for cell in value:
        if not isinstance(cell, list) or len(cell) != 2:
            raise ValueError(f"{shown(cell)} is not [row, column]")
        row, column = cell
        if type(row) is not int or type(column) not in (int, str):
            raise ValueError(f"{shown(cell)} is not [row, column]: numbers or a column's name")
    return tuple((row, column) for row, column in value)


def _texts(value) -> tuple[str, ...]:
    if isinstance(value, list) and not value:
        raise ValueError("expected one text or several, not an empty list")
    return tuple(map(_text, value if isinstance(value, list) else [value]))


def _number(value) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"expected a number, not {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(to_float32(number)):
        raise ValueError(f"{shown(value)} is too large (float32)")
    return number


def _label(value) -> int | str:
    if type(value) in (bool, int):
        if value < 0:
            raise ValueError(f"{value} is negative")
        return int(value)
    return _text(value)


_KEYS = {
    "id": _name,
    "conversation": _name,
    "table": _table_path,
    "title": _text,
    "question": _text,
    "aggregation": _aggregation,
}
_ANSWERS = {"cells": _cells, "text": _texts, "number": _number, "class": _label}


def shown(value) -> str:
    """Formats a value of a line for messages, printable and shortened."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 60 else f"{text[:60]}…"
