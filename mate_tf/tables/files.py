"""Reads header and rows of tables from CSV and JSON files, with detailed errors."""

import csv
import io
import json
import os
import pathlib
from typing import Any

from mate_tf.errors import InputError

Path = str | os.PathLike

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
_ABOUT = ("title", "table_id", "heading", "caption", "url")


def read_csv(
    path: Path, delimiter: str | None = None, *, escape: str | None = None
) -> tuple[list[str], list[list[str]]]:
    """Reads header and rows of a UTF-8 CSV file; empty lines are skipped.

    Args:
      path: the file.
      delimiter: delimiter of cells. None detects a comma, a semicolon or a tab.
      escape: character that escapes quotation marks and itself in cells. None: quotation marks are
        doubled instead.

    Raises:
      InputError: if the file cannot be read, is empty, has only a header, is not UTF-8, has an
        unclosed quotation mark, or has a row that is longer or shorter than the header.
    """
    text = read_text(path)
    delimiter = delimiter or _sniff_delimiter(text)
    records = _records(text, delimiter, escape)
    if records is None:
        raise InputError(f"{path}: a quotation mark is opened and never closed")
    (_, header), *body = records
    if not body:
        raise InputError(f"{path}: there is a header but no rows")
    for number, (line, row) in enumerate(body, start=1):
        if len(row) != len(header):
            raise InputError(
                f"{path}: row {number} (line {line}) has {_counted(row)}, but the header has "
                f"{_counted(header)} (separated by {_DELIMITERS.get(delimiter, repr(delimiter))})"
            )
    return header, [row for _, row in body]


def read_json(path: Path) -> tuple[list[Any], list[list[Any]], dict[str, str]]:
    """Reads header, rows and further fields of a table ("title", "table_id", …) from JSON.

    The file has either an object with "columns" (or "header") and "rows" (or "data"), or a list of
    objects with the column names as keys. A missing key gives None. Numbers are returned as text,
    in the spelling of the file.

    Raises:
      InputError: if the file cannot be read, is empty, has no rows, is not UTF-8, is not JSON or
        has another form.
    """
    text = read_text(path)
    try:
        content = json.loads(text, parse_int=str, parse_float=str, parse_constant=float)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {error}") from None
    about: dict[str, str] = {}
    if isinstance(content, list) and content and all(isinstance(row, dict) for row in content):
        header = list(dict.fromkeys(name for row in content for name in row))
        rows = [[row.get(name) for name in header] for row in content]
    else:
        fields = content if isinstance(content, dict) else {}
        header = fields.get("columns", fields.get("header"))
        rows = fields.get("rows", fields.get("data"))
        about = {name: str(fields[name]) for name in _ABOUT if fields.get(name) is not None}
    if not isinstance(header, list) or not isinstance(rows, list):
        raise InputError(
            f'{path}: expected an object with the lists "columns" and "rows", or a list of '
            "objects with one key per column"
        )
    if not rows:
        raise InputError(f"{path}: there is a header but no rows")
    for number, row in enumerate([header, *rows]):
        _check_json_row(row, len(header), f"{path}: {f'row {number}' if number else 'header'}")
    return header, rows, about


def read_text(path: Path) -> str:
    """Reads a UTF-8 file without its byte order mark.

    Raises:
      InputError: if the file cannot be read, is blank or is not UTF-8.
    """
    try:
        content = pathlib.Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from the end of the byte order mark.
        offset = error.start + len(content) - len(error.object)
        line = content.count(b"\n", 0, offset) + 1
        raise InputError(
            f"{path}: not valid UTF-8: byte {offset} (line {line}) is 0x{content[offset]:02x}"
        ) from None
    if not text.strip():
        raise InputError(f"{path}: the file is empty")
    return text


def _records(
    text: str, delimiter: str, escape: str | None = None
) -> list[tuple[int, list[str]]] | None:
    """Returns line number and cells of each record; None if a quotation mark is never closed.

    The csv module does not report an unclosed quotation mark. To detect it, a line is appended: it
    is read as a record of its own only if all quotation marks are closed.
    """
    # The limit is global to the csv module, so it is only raised, never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    end = ["end"]
    reader = csv.reader(
        io.StringIO(f"{text}\n{end[0]}", newline=""),
        delimiter=delimiter,
        escapechar=escape,
        doublequote=escape is None,
    )
    records, line = [], 1
    for record in reader:
        if record:
            records.append((line, record))
        line = reader.line_num + 1
    _, last = records.pop()
    return records if last == end else None


def _sniff_delimiter(text: str) -> str:
    """Returns the first delimiter that gives all records the same number of cells, above one.

    Without such a delimiter, returns the one that gives the header most cells.
    """
    header_cells = {}
    for delimiter in _DELIMITERS:
        records = _records(text, delimiter) or [(1, [""])]
        cells = {len(record) for _, record in records}
        header_cells[delimiter] = len(records[0][1])
        if len(cells) == 1 and cells != {1}:
            return delimiter
    return max(header_cells, key=header_cells.get)


def _check_json_row(row: Any, expected: int, where: str) -> None:
    """Raises InputError unless `row` is a list of `expected` plain values."""
    if not isinstance(row, list):
        raise InputError(f"{where} is not a list of cells")
    if len(row) != expected:
        raise InputError(f"{where} has {_counted(row)}, but the header has {expected}")
    for column, value in enumerate(row, start=1):
        if isinstance(value, (dict, list)):
            kind = "an object" if isinstance(value, dict) else "a list"
            raise InputError(
                f"{where}, column {column} holds {kind}, not text, a number, true, false or null"
            )


def _counted(cells: list[Any]) -> str:
    """Returns the number of cells with its noun: "1 cell", "2 cells"."""
    return f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
