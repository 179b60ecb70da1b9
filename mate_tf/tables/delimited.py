"""Reads delimited text record by record, in memory that does not grow with the file."""

import csv
import dataclasses
import itertools
import os
from collections.abc import Iterator
from typing import IO, Any

from mate_tf.errors import InputError
from mate_tf.tables import opening
from mate_tf.tables.limits import LimitedRows, Limits

_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_LARGEST_FIELD = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Form:
    """Form of the records of a file.

    Attributes:
        delimiter: what separates cells.
        escape: character that escapes quotation marks; None: they are doubled instead.
        has_quotes: quotation marks enclose cells; otherwise they are text.
        skips_space: spaces after a delimiter do not belong to the cell.
    """

    delimiter: str
    escape: str | None = None
    has_quotes: bool = True
    skips_space: bool = False

    def reader(self, lines) -> Any:
        """Returns a reader of the csv module."""
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            escapechar=self.escape,
            doublequote=self.escape is None,
            quoting=csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE,
            skipinitialspace=self.skips_space,
        )


def read(
    path: str | os.PathLike, delimiter: str, escape: str | None, limits: Limits
) -> tuple[list[str], list[list[str]], str]:
    """Reads header and rows of a UTF-8 file in a known form, up to the limits.

    Args:
        path: the file.
        delimiter, escape: see `Form`.
        limits: limits of the table.

    Returns:
        header, rows, and the description of what is not read; "" if everything was.

    Raises:
        InputError: as `files.read_csv`; if the file is beyond a limit.
    """
    with opening.opened(path, limits) as file, opening.invalid_named(path):
        first = file.read(opening.CHUNK)
        while first and not first.strip():
            first = file.read(opening.CHUNK)
        if not first:
            raise InputError(f"{path}: the file is empty")
        file.seek(0)
        result = records(path, file, Form(delimiter, escape), limits)
        header, kept = keep(path, result, delimiter, limits)
        return header, kept.rows, kept.unread(opening.share_read(file))


def keep(
    path: Any, records_read: Iterator[tuple[int, list[str]]], delimiter: str, limits: Limits
) -> tuple[list[str], LimitedRows]:
    """Keeps records up to the limits; the first one is the header.

    Args:
        path: the file, for messages.
        records_read: line number and cells of each record.
        delimiter: the delimiter, for messages.
        limits: limits of the table.

    Raises:
        InputError: a record that is longer or shorter than the header; no row below it.
    """
    kept, header = LimitedRows(path, limits), []
    for number, (line, record) in enumerate(records_read):
        header = header or record
        where = f"row {number} (line {line})" if number else "header"
        if len(record) != len(header):
            raise InputError(
                f"{path}: {where} has {opening.counted(record)}, but the header has "
                f"{opening.counted(header)} (separated by {_NAMES.get(delimiter, repr(delimiter))})"
            )
        if number == 0:
            kept.add_header(record)
        elif not kept.add(record, where):
            break
    if not kept.rows and not kept.exceeded:
        raise InputError(f"{path}: there is a header but no rows")
    return header, kept


def records(
    path: Any, file: IO[str], form: Form, limits: Limits, first_line: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Yields line number and cells of each record of a file from its position on.

    Empty lines are skipped. The csv module does not report an unclosed quotation mark. To detect
    it, a line is appended: it is read as a separate record only if all quotation marks are
    closed.

    Args:
        path: the file, for messages.
        file: the open file.
        form: how it is written.
        limits: limits of the table.
        first_line: number of the line at the file's position.

    Raises:
        InputError: if a quotation mark is never closed, or a record is longer than the limit.
    """
    # The limit is global to the csv module, so it is only raised, never lowered.
    largest = min(limits.max_table_characters + 1, _LARGEST_FIELD)
    csv.field_size_limit(max(csv.field_size_limit(), largest))
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

    reader = form.reader(itertools.chain(lines(), ["\n", *end]))
    before, begin = None, first_line
    for record in reader:
        if before:
            yield before
        before = (begin, record) if record else None
        begin, taken = reader.line_num + first_line, 0
    if before is None or before[1] != end:
        raise InputError(f"{path}: a quotation mark is opened and never closed")
