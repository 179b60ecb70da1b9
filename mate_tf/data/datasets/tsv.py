"""Reads tab-separated files without quoting, line by line, since they may exceed the memory."""

import csv
import os
from collections.abc import Callable, Iterator, Sequence

from mate_tf.errors import InputError
from mate_tf.files import paths

_BYTE_ORDER_MARK = "\ufeff"


def read(
    path: str | os.PathLike,
    columns: Sequence[str],
    *,
    header: bool = True,
    broken: Callable[[InputError], None] | None = None,
) -> Iterator[tuple[str, dict[str, str]]]:
    """Reads the rows of a UTF-8 file; a byte order mark and carriage returns are removed.

    Quotes are characters like others, since texts have single ones. Only a line with too many cells
    is read again with quoting, as a quoted text may hold a tab.

    Args:
        columns: the required columns; for a file without header, all columns in order.
        header: True if the first line has the names of the columns.
        broken: function that takes the error of a line with another number of cells; the line is
            then left out. By default the error is raised.

    Returns:
        iterator over pairs: "<path> line <number>", for messages, and the row by column.

    Raises:
        InputError: if the file is missing, has no rows or lacks a column, or a line has another
            number of cells or is not UTF-8; the message names the line.
    """
    rows = 0
    lines = _lines(path)
    if header:
        _, line = next(lines, (1, ""))
        given = line.split("\t")
        missing = [name for name in columns if name not in given]
        if missing:
            raise InputError(f"{path} line 1: the header lacks the column(s) {', '.join(missing)}")
        columns = given
    for number, line in lines:
        cells, where = line.split("\t"), f"{path} line {number}"
        if len(cells) > len(columns):
            cells = _quoted_cells(line) or cells
        if len(cells) != len(columns):
            error = InputError(
                f"{where}: has {len(cells)} cells separated by tabs, expected {len(columns)} "
                f"({', '.join(columns)})"
            )
            if broken is None:
                raise error
            broken(error)
            continue
        yield where, dict(zip(columns, cells, strict=True))
        rows += 1
    if not rows:
        raise InputError(f"{path}: has no rows")


def choice(where: str, name: str, text: str, choices: Sequence[str]) -> int:
    """Returns the index of a text in `choices`.

    Raises:
        InputError: if it is not in `choices`; the message begins with `where` and names the
            column.
    """
    if text not in choices:
        raise InputError(f"{where}: {name} is {text!r}, expected one of {', '.join(choices)}")
    return choices.index(text)


def _quoted_cells(line: str) -> list[str]:
    """Returns the cells of a line with quoting; empty if its quotes do not match."""
    try:
        return next(csv.reader([line], delimiter="\t", strict=True))
    except csv.Error:
        return []


def _lines(path: str | os.PathLike) -> Iterator[tuple[int, str]]:
    """Yields number and text of each line."""
    try:
        with paths.open_regular(path) as file:
            for number, line in enumerate(file, start=1):
                try:
                    text = line.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    raise InputError(f"{path} line {number}: not valid UTF-8: {error}") from None
                yield number, text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
