"""Reads requests: their JSON or form, their tables, and the answer that a question refers to."""

import json
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Collection
from typing import IO, Any

from mate_tf.errors import InputError, suggestion
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.tables import cell_texts, json_table
from mate_tf.tables.any_table import read_table
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table
from mate_tf.tables.text_table import FileOptions

LONGEST_QUESTION = 10_000
"""Characters of a question."""

JSON_KEYS = {
    "ask": ("table", "table_id", "question", "previous", "texts"),
    "table": ("table", "texts"),
}
"""Keys of a request for an answer, and of one with a table only."""

FORM_KEYS = {
    "ask": ("file", "table_id", "question", "previous", "texts"),
    "table": ("file", "texts"),
}
"""Fields of the same requests as forms."""

_CELL = ("row", "column", "text", "probability")
_ENDING = re.compile(r"(\.[a-z0-9]{1,10}){1,2}$", re.IGNORECASE)


class _Number(str):
    """A number of a request, in its spelling."""

    __slots__ = ()


_decoder = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_Number)


def parse(body: bytes | str, what: str = "the body") -> Any:
    """Returns the value of a JSON text, with numbers as texts in their spelling.

    Raises:
        InputError: it is not JSON in UTF-8.
    """
    try:
        return _decoder.decode(body if isinstance(body, str) else body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{what} is not valid JSON: {error}") from None


def check_keys(given: Any, known: Collection[str], where: str = "") -> None:
    """Raises InputError unless `given` is an object with keys among those that are known."""
    if not isinstance(given, dict):
        raise InputError(f"{where}expected an object with the keys {', '.join(known)}")
    for key in given:
        if key not in known:
            raise InputError(f"{where}unknown key {key[:60]!r}; {suggestion(key, known)}")


def check_one_table(given: dict, key: str, where: str = "") -> None:
    """Raises InputError unless there is either a table, under `key`, or the id of one."""
    if (key in given) == ("table_id" in given):
        raise InputError(f'{where}give either "{key}" or "table_id"')
    if "table_id" in given and type(given["table_id"]) is not str:
        raise InputError(f"{where}table_id: expected a text")


def question(given: dict, where: str = "") -> str:
    """Returns the question of a request.

    Raises:
        InputError: there is none, it is not text, empty or too long.
    """
    text = given.get("question")
    if text is None:
        raise InputError(f'{where}"question" is missing')
    if type(text) is not str:
        raise InputError(f"{where}question: expected a text")
    if not text.strip():
        raise InputError(f"{where}question: is empty")
    if len(text) > LONGEST_QUESTION:
        raise InputError(
            f"{where}question: {len(text):,} characters; at most {LONGEST_QUESTION:,} are allowed"
        )
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{where}question: has a character that UTF-8 cannot encode")
    return text


def previous(given: Any, table: Table, where: str = "") -> Answer | None:
    """Returns the answer that a question refers to, of the cells of its JSON.

    Args:
        given: "cells" of the answer, a list of objects with "row" and "column", or None.
        table: the table of both questions.
        where: begin of an error.

    Raises:
        InputError: it is something else, or the table has no such cell.
    """
    if given is None:
        return None
    where = f"{where}previous: "
    if not isinstance(given, list):
        raise InputError(f'{where}expected the list "cells" of an answer')
    cells = []
    for number, cell in enumerate(given, start=1):
        check_keys(cell, _CELL, f"{where}cell {number}: ")
        row = _index(cell, "row", table.num_rows, f"{where}cell {number}: ")
        column = _index(cell, "column", table.num_columns, f"{where}cell {number}: ")
        cells.append(AnswerCell(row, column, table.rows[row][column], 0.0))
    return Answer(tuple(cells), "NONE", None, 0.0, "")


def _index(cell: dict, key: str, number: int, where: str) -> int:
    text = cell.get(key)
    if not isinstance(text, _Number) or not re.fullmatch("[0-9]{1,9}", text):
        raise InputError(f"{where}{key}: expected a whole number of 0 or more")
    if int(text) >= number:
        raise InputError(f"{where}the table has no {key} {text}")
    return int(text)


def table(given: Any, limits: Limits, where: str = "") -> Table:
    """Returns the table of a JSON value: rows, objects, columns and rows, or lists by column.

    Raises:
        InputError: as `json_table.parse_table`. Text is not read as a path.
    """
    header, rows, about, unread = json_table.parse_table(given, f"{where}table", limits)
    return Table.from_rows(header, rows, **{"table_id": "table", "unread": unread, **about})


def with_texts(given: dict, table: Table, where: str = "") -> Table:
    """Returns the table of a request with its texts about cells, if it has any.

    Raises:
        InputError: they are not a list of objects with "cell" and "text", or none is about a cell.
    """
    if given.get("texts") is None:
        return table
    texts = cell_texts.parse(given["texts"], f"{where}texts: ")
    return cell_texts.add(table, texts, f"{where}texts")


def file(content: IO[bytes], name: str, limits: Limits) -> Table:
    """Returns the table of a file that was sent, of any format that `ask` reads but databases.

    Args:
        content: the file.
        name: its name; only the ending is used.
        limits: limits of the table.

    Raises:
        InputError: as `read_table`.
    """
    ending = _ENDING.search(name)
    with tempfile.TemporaryDirectory(prefix="mate-tf-service-") as folder:
        path = pathlib.Path(folder, "table" + (ending[0].lower() if ending else ""))
        with path.open("wb") as copy:
            shutil.copyfileobj(content, copy)
        return without_folder(path, limits)


def without_folder(path: str | os.PathLike, limits: Limits) -> Table:
    """Reads a file; errors name it without its folder, which is nobody's business.

    Raises:
        InputError: as `read_table`, and if it is a database.
    """
    path = pathlib.Path(path)
    try:
        return read_table(path, limits, FileOptions(databases=False))
    except InputError as error:
        raise InputError(str(error).replace(str(path), path.name)) from None
