"""Tables as users give them: files, DataFrames, dicts, lists."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from mate_tf.errors import InputError
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table


def read_table(path: str | os.PathLike, limits: Limits | None = None) -> Table:
    """Reads a table from a file. The extension selects TSV, JSON or XLSX; others are read as CSV.

    Args:
        path: the file.
        limits: how much of it is read at most; by default `Limits()`. `Table.unread` says what is
            not read.

    Raises:
        InputError: if it cannot be read, has no rows, or is beyond a limit that refuses it.
    """
    extension = os.path.splitext(path)[1].lower()
    readers = {".tsv": Table.from_tsv, ".json": Table.from_json}
    if extension in (".xlsx", ".xls"):
        from mate_tf.tables import spreadsheet

        readers = {".xlsx": spreadsheet.read_workbook, ".xls": spreadsheet.refuse_xls}
    return readers.get(extension, Table.from_csv)(path, limits=limits or Limits())


def as_table(given: Any, limits: Limits | None = None) -> Table:
    """Makes a table from any of the forms that users have.

    Args:
        given: a Table; the path of a file, as `read_table` takes it; a pandas DataFrame; a dict
            from the name of each column to its values; a list of rows, the header first; or a list
            of dicts, one per row.
        limits: limits of a file, as for `read_table`.

    Raises:
        InputError: if it is not one of these, has no rows, or rows or columns differ in length.
    """
    if isinstance(given, Table):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_table(given, limits)
    if hasattr(given, "columns") and hasattr(given, "iloc"):
        return Table.from_dataframe(given)
    if isinstance(given, Mapping):
        return _of_columns(given)
    if isinstance(given, Sequence) and given:
        if all(isinstance(row, Mapping) for row in given):
            header = list(dict.fromkeys(name for row in given for name in row))
            return Table.from_rows(header, [[row.get(name) for name in header] for row in given])
        if all(isinstance(row, Sequence) and not isinstance(row, str) for row in given):
            header, *rows = given
            if not rows:
                raise InputError("table: there is a header but no rows")
            return Table.from_rows(header, rows)
    raise InputError(
        f"table: a {type(given).__name__} is no table; give the path of a file, a Table, a "
        "DataFrame, a dict of columns or a list of rows"
    )


def _of_columns(columns: Mapping) -> Table:
    for name, values in columns.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise InputError(f"table: column {name!r} is no list of values")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise InputError(f"table: columns of different lengths: {listed} values")
    if not any(lengths.values()):
        raise InputError("table: there are no rows")
    return Table.from_rows(columns, zip(*columns.values(), strict=True))
