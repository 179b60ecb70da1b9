"""Reads header and rows of tables from CSV and JSON files, with detailed errors."""

import os
from typing import Any

from mate_tf import tables
from mate_tf.errors import InputError
from mate_tf.tables import delimited, opened
from mate_tf.tables.limits import UNLIMITED

Path = str | os.PathLike


def read_csv(
    path: Path, delimiter: str | None = None, *, escape: str | None = None
) -> tuple[list[str], list[list[str]]]:
    """Reads header and all rows of a UTF-8 CSV file; empty lines are skipped.

    Args:
      path: the file.
      delimiter: delimiter of cells. None detects a comma, a semicolon or a tab.
      escape: character that escapes quotation marks and itself in cells. None: quotation marks are
        doubled instead.

    Raises:
      InputError: if the file cannot be read, is empty, has only a header, is not UTF-8, has an
        unclosed quotation mark, or has a row that is longer or shorter than the header.
    """
    header, rows, _ = delimited.read(path, delimiter, escape, UNLIMITED)
    return header, rows


def read_json(path: Path) -> tuple[list[Any], list[list[Any]], dict[str, str]]:
    """Reads header, all rows and further fields of a table ("title", "table_id", …) from JSON.

    The file has either an object with "columns" (or "header") and "rows" (or "data"), or a list of
    objects with the column names as keys. A missing key gives None. Numbers are returned as text,
    in the spelling of the file.

    Raises:
      InputError: if the file cannot be read, is empty, has no rows, is not UTF-8, is not JSON or
        has another form.
    """
    header, rows, about, _ = tables.json_table.read(path, UNLIMITED)
    return header, rows, about


def read_text(path: Path) -> str:
    """Reads a UTF-8 file without its byte order mark.

    Raises:
      InputError: if the file cannot be read, is blank, is not UTF-8, or is a pipe or a device.
    """
    with opened.opened(path) as file, opened.invalid_named(path):
        text = file.read()
    if not text.strip():
        raise InputError(f"{path}: the file is empty")
    return text
