"""Tables as users give them: files of any kind, frames, dicts, lists."""

import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mate_tf.errors import InputError
from mate_tf.tables import opening
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table
from mate_tf.tables.text_table import FileOptions

_WORKBOOK, _OLD_WORKBOOK, _ZIP = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x05\x06"
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"  # DuckDB's mark is at byte 8
_REFUSED = {
    b"%PDF": "a PDF file",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"BZh": "a file packed by bzip2; unpack it",
    b"\xfd7zXZ": "a file packed by xz; unpack it",
    b"7z\xbc\xaf": "a 7-Zip archive; unpack it",
    b"\x7fELF": "a program",
    b"\x80\x04": "a Python pickle, which is not read since it can run code",
    b"\x93NUMPY": "a NumPy array; give it as a list of rows",
}
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson", ".geojson")


def read_table(
    path: str | os.PathLike,
    limits: Limits | None = None,
    asked: FileOptions | None = None,
    sheet: str | None = None,
    query: str | None = None,
) -> Table:
    """Reads a table from a file. Its content, not its ending, tells what it is.

    Text (comma, semicolon, tab, vertical bar, Markdown; any encoding), JSON and JSON lines, HTML,
    workbooks (.xlsx, .xlsm, .xls, .ods), Parquet, gzip and zip archives with one table, SQLite and
    DuckDB files, and any database by its SQLAlchemy URL with the extra `sql`.

    Args:
        path: the file, with "#table" after a database; or the URL of a database.
        limits: how much of it is read at most; by default `Limits()`. `Table.unread` says what is
            not read.
        asked: delimiter, line of the header and encoding of a text file; None: detected.
        sheet: name of a workbook's sheet; by default the first visible one with a table.
        query: SQL for a database.

    Raises:
        InputError: if it cannot be read, is not a table, has no rows, or is beyond a limit that
            refuses it.
    """
    limits, name = limits or Limits(), os.fspath(path)
    if "://" in name or name.startswith("sqlite:"):
        if name.partition("://")[0] in ("http", "https", "ftp", "s3", "gs", "file"):
            raise InputError(f"{name}: URLs are not read; download the file first")
        return _database(name, limits, query)
    file, _, member = (
        name.rpartition("#") if "#" in name and not os.path.exists(name) else (name, "", "")
    )
    if os.path.isdir(file):
        raise InputError(f"{file}: is a folder, not a table; give a file in it")
    with opening.opened_bytes(file, limits) as raw:
        begin = raw.read(2048)
    if begin.startswith(_SQLITE) or begin[8:12] == _DUCKDB:
        if asked and not asked.databases:
            raise InputError(f"{file}: is a database, which is not read here; give a table of it")
        kind = "sqlite" if begin.startswith(_SQLITE) else "duckdb"
        return _database(f"{kind}:///{os.path.abspath(file)}", limits, query, member, file)
    if query:
        raise InputError(f"{file}: --query is for databases")
    if member:
        raise InputError(f"{name}: no such file")
    reader = _reader(file, begin, sheet, asked)
    if sheet and reader is not _workbook:
        raise InputError(f"{file}: --sheet is for workbooks")
    return reader(file, limits, asked or FileOptions(), sheet)


def _reader(path: str, begin: bytes, sheet: str | None, asked: FileOptions | None) -> Callable:
    if begin.startswith(_OLD_WORKBOOK):
        return _workbook
    if begin.startswith((_WORKBOOK, _ZIP)):
        return _workbook if sheet or _is_workbook(path) else _archive
    if begin.startswith(_GZIP):
        return _gzip
    if begin.startswith(_PARQUET):
        return _parquet
    for mark, what in _REFUSED.items():
        if begin.startswith(mark):
            raise InputError(f"{path}: is {what}, not a table")
    text = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
    if asked and asked.delimiter:
        return _text
    low = text[:1024].lower()
    if low.startswith((b"<!doctype html", b"<html", b"<table")) or b"<table" in low[:512]:
        return _html
    is_json = text.startswith((b"{", b"[{", b"[[", b"[\n", b"[ "))
    if is_json or path.lower().endswith(_JSON_ENDINGS):
        return _json
    return _text


def _text(path: str, limits: Limits, asked: FileOptions, sheet: str | None) -> Table:
    del sheet
    if path.lower().endswith(".tsv") and not asked.delimiter:
        asked = asked._replace(delimiter="\t")
    return Table.from_text(path, limits=limits, asked=asked)


def _json(path: str, limits: Limits, asked: FileOptions, sheet: str | None) -> Table:
    del asked, sheet
    return Table.from_json(path, limits=limits)


def _html(path: str, limits: Limits, asked: FileOptions, sheet: str | None) -> Table:
    from mate_tf.tables import html_tables

    del limits, asked, sheet
    page = html_tables.read_page(path)
    if not page.tables:
        raise InputError(f"{path}: has no table with a header and rows")
    table = max((each.table for each in page.tables), key=lambda each: each.num_rows)
    others = len(page.tables) - 1 + page.num_left_out
    said = (f"the largest of {others + 1} tables of the page is read",) if others else ()
    return table.with_remarks(said)


def _workbook(path: str, limits: Limits, asked: FileOptions, sheet: str | None) -> Table:
    from mate_tf.tables import spreadsheet

    return spreadsheet.read_workbook(path, limits=limits, sheet=sheet, header_row=asked.header_row)


def _parquet(path: str, limits: Limits, asked: FileOptions, sheet: str | None) -> Table:
    import pyarrow
    from pyarrow import parquet

    del asked, sheet
    try:
        file = parquet.ParquetFile(path)
        rows = max(1, limits.max_table_cells // max(1, len(file.schema_arrow.names)))
        batches, taken = [], 0
        for batch in file.iter_batches(batch_size=min(rows, 2**16)):
            batches.append(batch)
            taken += batch.num_rows
            if taken >= rows:
                break
        frame = pyarrow.Table.from_batches(batches, file.schema_arrow).slice(0, rows)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file: {error}") from None
    unread = ""
    if file.metadata.num_rows > frame.num_rows:
        unread = f"all rows after row {rows:,} not read: max_table_cells={limits.max_table_cells}"
    return Table.from_dataframe(frame, table_id=os.path.basename(path), unread=unread)


def _gzip(path: str, limits: Limits, asked: FileOptions, sheet: str | None) -> Table:
    from mate_tf.tables import archives

    return archives.read_gzip(path, limits, asked, sheet, read_table)


def _archive(path: str, limits: Limits, asked: FileOptions, sheet: str | None) -> Table:
    from mate_tf.tables import archives

    return archives.read_zip(path, limits, asked, sheet, read_table)


def _is_workbook(path: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except zipfile.BadZipFile:
        return path.lower().endswith((".xlsx", ".xlsm", ".ods"))
    return (
        "xl/workbook.xml" in names
        or ("content.xml" in names and "mimetype" in names)
        or any(name.startswith("xl/") for name in names)
    )


def _database(url: str, limits: Limits, query: str | None, name: str = "", path: str = "") -> Table:
    from mate_tf.tables import database

    return database.read(url, limits, query, name, path or url)


def as_table(given: Any, limits: Limits | None = None) -> Table:
    """Makes a table from any of the forms that users have.

    Args:
        given: a Table; the path of a file or URL of a database, as `read_table` takes it; a frame
            of pandas, polars, Arrow, DuckDB or any other that narwhals knows; a dict from the name
            of each column to its values; a list of rows, the header first; or a list of dicts, one
            per row.
        limits: limits of a file, as for `read_table`.

    Raises:
        InputError: if it is not one of these, has no rows, or rows or columns differ in length.
    """
    if isinstance(given, Table):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_table(given, limits)
    if isinstance(given, Mapping):
        return _from_columns(given)
    if isinstance(given, Sequence) and given:
        if all(isinstance(row, Mapping) for row in given):
            header = list(dict.fromkeys(name for row in given for name in row))
            return Table.from_rows(header, [[row.get(name) for name in header] for row in given])
        if all(isinstance(row, Sequence) and not isinstance(row, str) for row in given):
            header, *rows = given
            if not rows:
                raise InputError("table: there is a header but no rows")
            return Table.from_rows(header, rows)
    if not isinstance(given, Sequence) and not isinstance(given, (int, float, bool, type(None))):
        return Table.from_dataframe(given)
    raise InputError(
        f"table: {type(given).__name__} is not a table; give the path of a file, a Table, a frame, "
        "a dict of columns or a list of rows"
    )


def _from_columns(columns: Mapping) -> Table:
    if columns and all(isinstance(values, Mapping) for values in columns.values()):
        columns = _unstack_labels(columns)
    for name, values in columns.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise InputError(f"table: column {name!r} is not a list of values")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise InputError(f"table: columns of different lengths: {listed} values")
    if not any(lengths.values()):
        raise InputError("table: no rows")
    return Table.from_rows(columns, zip(*columns.values(), strict=True))


def _unstack_labels(columns: Mapping) -> dict:
    """Returns the columns of `frame.to_dict()`: name -> {label of a row: value}.

    Labels become a separate column unless they number the rows.
    """
    labels = list(dict.fromkeys(label for values in columns.values() for label in values))
    unstacked = {} if labels == list(range(len(labels))) else {"": labels}
    return unstacked | {
        name: [values.get(each) for each in labels] for name, values in columns.items()
    }
