"""Excel workbooks as tables, read by pandas and openpyxl (the extra `excel`)."""

import datetime
import importlib.util
import os
import zipfile
from typing import Any

from mate_tf.errors import InputError
from mate_tf.tables.table import Table

LARGEST = 200 * 2**20
"""Largest uncompressed size of a workbook, in bytes: a small file can unpack to any size."""

_NEEDED = ("pandas", "openpyxl")


def read_workbook(path: str | os.PathLike) -> Table:
    """Reads the first sheet of an .xlsx file. Its first row is the header.

    Formulas have the values that were stored with them. Empty rows at the end are left out.

    Raises:
        InputError: if the extra is not installed, or the file is not a workbook, is too large, or
            its first sheet has no rows.
    """
    if not all(importlib.util.find_spec(name) for name in _NEEDED):
        raise InputError(
            f"{path}: .xlsx needs pandas and openpyxl (pip install 'mate-tf[excel]'); "
            "or save the sheet as CSV"
        )
    _check_size(path)
    import pandas

    try:
        frame = pandas.read_excel(path, header=None, dtype=object, na_filter=False)
    except Exception as error:  # openpyxl raises whatever the broken part happens to cause
        raise InputError(f"{path}: not a readable .xlsx workbook: {error}") from error
    header, *rows = [[_plain(value) for value in row] for row in frame.values.tolist()] or [[]]
    while rows and not any(value != "" for value in rows[-1]):
        rows.pop()
    if not rows:
        raise InputError(f"{path}: the first sheet has no rows below its header")
    return Table.from_rows(header, rows)


def refuse_xls(path: str | os.PathLike) -> Table:
    """Raises InputError, because .xls files are not read."""
    raise InputError(f"{path}: .xls, the format of old Excel, is not read; save it as .xlsx or CSV")


def _check_size(path) -> None:
    try:
        with zipfile.ZipFile(path) as parts:
            size = sum(part.file_size for part in parts.infolist())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except zipfile.BadZipFile as error:
        raise InputError(f"{path}: not a readable .xlsx workbook: {error}") from error
    if size > LARGEST:
        raise InputError(f"{path}: unpacks to {size / 2**20:.0f} MiB; {LARGEST // 2**20} at most")


def _plain(value: Any) -> Any:
    """Returns dates without a time of midnight, and whole numbers without ".0"."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
