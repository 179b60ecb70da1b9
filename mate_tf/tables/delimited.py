"""Reads CSV and TSV record by record, in memory that does not grow with the file."""

import csv
import itertools
import os
from collections.abc import Iterator
from typing import IO, Any

from mate_tf.errors import InputError
from mate_tf.tables import opened
from mate_tf.tables.limits import Kept, Limits

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
_LARGEST_FIELD = 2**31 - 1


def read(
    path: str | os.PathLike, delimiter: str | None, escape: str | None, limits: Limits
) -> tuple[list[str], list[list[str]], str]:
    """Reads header and rows up to the limits, and describes what is not read.

    Args:
        path: the file.
        delimiter: delimiter of cells. None detects a comma, a semicolon or a tab, by the rows that
            are read.
        escape: character that escapes quotation marks; None: they are doubled instead.
        limits: limits of the table.

    Returns:
        header, rows, and the description; "" if everything was read.

    Raises:
        InputError: as `files.read_csv`; if the file is beyond a limit.
    """
    with opened.opened(path, limits) as file, opened.invalid_named(path):
        first = file.read(opened.CHUNK)
        while first and not first.strip():
            first = file.read(opened.CHUNK)
        if not first:
            raise InputError(f"{path}: the file is empty")
        delimiter = delimiter or _sniffed(path, file, limits)
        kept, header = Kept(path, limits), None
        for number, (line, record) in enumerate(_records(path, file, delimiter, escape, limits)):
            header = header or record
            where = f"row {number} (line {line})" if number else "header"
            if len(record) != len(header):
                raise InputError(
                    f"{path}: {where} has {opened.counted(record)}, but the header has "
                    f"{opened.counted(header)} (separated by "
                    f"{_DELIMITERS.get(delimiter, repr(delimiter))})"
                )
            if number == 0:
                kept.add_header(record)
            elif not kept.add(record, where):
                break
        unread = kept.unread(opened.share_read(file))
    if not kept.rows:
        raise InputError(f"{path}: there is a header but no rows")
    return header, kept.rows, unread


def _records(
    path: Any, file: IO[str], delimiter: str, escape: str | None, limits: Limits
) -> Iterator[tuple[int, list[str]]]:
    """Yields line number and cells of each record of a file, from its begin.

    The csv module does not report an unclosed quotation mark. To detect it, a line is appended: it
    is read as a record of its own only if all quotation marks are closed.

    Raises:
        InputError: if a quotation mark is never closed, or a record is longer than the limit.
    """
    # The limit is global to the csv module, so it is only raised, never lowered.
    largest = min(limits.max_table_characters + 1, _LARGEST_FIELD)
    csv.field_size_limit(max(csv.field_size_limit(), largest))
    file.seek(0)
    end, taken = ["end"], 0  # characters of the record so far

    def lines():
        nonlocal taken
        while line := file.readline(limits.max_table_characters + 1 - taken):
            taken += len(line)
            if taken > limits.max_table_characters:
                raise InputError(
                    f"{path}: the record that begins in line {begin} has more than "
                    f"{limits.max_table_characters:,} characters (max_table_characters); is a "
                    "quotation mark opened and never closed?"
                )
            yield line

    lines = itertools.chain(lines(), ["\n", *end])
    reader = csv.reader(lines, delimiter=delimiter, escapechar=escape, doublequote=escape is None)
    before, begin = None, 1
    for record in reader:
        if before:
            yield before
        before = (begin, record) if record else None
        begin, taken = reader.line_num + 1, 0
    if before is None or before[1] != end:
        raise InputError(f"{path}: a quotation mark is opened and never closed")


def _sniffed(path: Any, file: IO[str], limits: Limits) -> str:
    """Returns the first delimiter that gives all records the same number of cells, above one.

    Only records within the limits count. Without such a delimiter, returns the one that gives the
    header most cells.
    """
    header_cells = {}
    for delimiter in _DELIMITERS:
        counts, seen = [], 0
        try:
            for _, record in _records(path, file, delimiter, None, limits):
                seen += len(record)
                if counts and seen > limits.max_table_cells:
                    break
                counts.append(len(record))
        except InputError:
            counts = [1]
        header_cells[delimiter] = counts[0] if counts else 1
        if len(set(counts)) == 1 and counts[0] != 1:
            return delimiter
    return max(header_cells, key=header_cells.get)
