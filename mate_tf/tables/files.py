"""Reads whole CSV files and texts, with detailed errors."""

import os

from mate_tf.errors import InputError
from mate_tf.tables import delimited, opening
from mate_tf.tables.limits import UNLIMITED

Path = str | os.PathLike


def read_csv(
    path: Path, delimiter: str, *, escape: str | None = None
) -> tuple[list[str], list[list[str]]]:
    """Reads header and all rows of a UTF-8 CSV file; empty lines are skipped.

    Args:
      path: the file.
      delimiter: delimiter of cells.
      escape: character that escapes quotation marks and itself in cells. None: quotation marks are
        doubled instead.

    Raises:
      InputError: if the file cannot be read, is empty, has only a header, is not UTF-8, has an
        unclosed quotation mark, or has a row that is longer or shorter than the header.
    """
    header, rows, _ = delimited.read(path, delimiter, escape, UNLIMITED)
    return header, rows


def read_text(path: Path) -> str:
    """Reads a UTF-8 file without its byte order mark.

    Raises:
      InputError: if the file cannot be read, is blank, is not UTF-8, or is a pipe or a device.
    """
    with opening.opened(path) as file, opening.invalid_named(path):
        text = file.read()
    if not text.strip():
        raise InputError(f"{path}: the file is empty")
    return text
