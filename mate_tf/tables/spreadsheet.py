"""Excel workbooks as tables, read by openpyxl (the extra `excel`)."""

import datetime
import importlib.util
import itertools
import os
import zipfile
from collections.abc import Iterator
from typing import Any

from mate_tf.errors import InputError
from mate_tf.files import zips
from mate_tf.tables import opened
from mate_tf.tables.limits import MIB, UNLIMITED, Kept, Limits
from mate_tf.tables.table import Table

LARGEST = Limits().max_unpacked_mb * MIB
"""Largest uncompressed size of a workbook by default, in bytes."""

_LAST_ROW = 2**20  # of Excel


def read_workbook(path: str | os.PathLike, *, limits: Limits | None = None) -> Table:
    """Reads the first sheet of an .xlsx file row by row. Its first row is the header.

    Formulas have the values that were stored with them. Empty rows at the end are left out.

    Args:
        path: the file.
        limits: how much of it is read at most; by default `Limits()`.

    Raises:
        InputError: if the extra is not installed, or the file is not a workbook, is beyond a limit
            that refuses it, or its first sheet has no rows.
    """
    if not importlib.util.find_spec("openpyxl"):
        raise InputError(
            f"{path}: .xlsx needs openpyxl (pip install 'mate-tf[excel]'); or save the sheet as CSV"
        )
    limits = limits or Limits()
    _check_size(path, limits)
    kept, header = Kept(path, limits), None
    blank = 0  # rows since the last one with a value; at the end of a sheet they are left out
    try:
        for number, row in enumerate(_rows(path)):
            if header is None:
                header = row
                kept.add_header(row)
            elif not row:
                blank += 1
            elif not all(kept.add(each, f"row {number}") for each in [*[[]] * blank, row]):
                break
            else:
                blank = 0
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever the broken part happens to cause
        raise InputError(f"{path}: not a readable .xlsx workbook: {error}") from error
    unread = kept.unread()
    if not kept.rows:
        raise InputError(f"{path}: the first sheet has no rows below its header")
    width = max(map(len, [header, *kept.rows]))
    header, *rows = ([*row, *[""] * (width - len(row))] for row in [header, *kept.rows])
    if width == 1:
        rows = [row for row in rows if row != [""]]  # as empty lines of a CSV file
    return Table.from_rows(header, rows, unread=unread)


def refuse_xls(path: str | os.PathLike, *, limits: Limits = UNLIMITED) -> Table:
    """Raises InputError, because .xls files are not read."""
    del limits
    raise InputError(f"{path}: .xls, the format of old Excel, is not read; save it as .xlsx or CSV")


def _check_size(path, limits: Limits) -> None:
    with opened.opened_bytes(path, limits) as file:
        try:
            with zipfile.ZipFile(file) as parts:
                largest = limits.max_unpacked_mb * MIB
                zips.check(parts, opened.size(file), largest, limits.max_zip_ratio)
        except InputError as error:
            raise InputError(f"{path}: {error} (max_unpacked_mb, max_zip_ratio)") from None
        except zips.DAMAGED as error:
            raise InputError(f"{path}: not a readable .xlsx workbook: {error}") from error


def _rows(path) -> Iterator[list[Any]]:
    """Yields the rows of the first sheet, without empty cells at their ends."""
    import openpyxl

    with opened.opened_bytes(path) as file:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # those in the file may be wrong
        for row in itertools.islice(sheet.rows, _LAST_ROW):
            values = [_plain(cell) for cell in row]
            while values and values[-1] == "":
                values.pop()
            yield values


def _plain(cell: Any) -> Any:
    """Returns a cell's value: "" for none, dates without midnight, whole numbers without ".0"."""
    value = cell.value
    if value is None or cell.data_type == "e":
        return ""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
