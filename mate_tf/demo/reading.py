"""Reads tables that users paste into the page or upload."""

import os
import pathlib
import tempfile
from collections.abc import Iterable

from mate_tf.demo import uploads
from mate_tf.errors import InputError
from mate_tf.tables import cell_texts
from mate_tf.tables.any_table import read_table
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table
from mate_tf.tables.text_table import FileOptions

PASTED = "pasted table"


def uploaded(path: str | os.PathLike, limits: Limits | None = None) -> Table:
    """Reads a table from a file (CSV, TSV, JSON or XLSX by its extension) and removes the file.

    Args:
        path: the file.
        limits: limits of the table, as for `read_table`.

    Raises:
        InputError: see the readers of `Table`. The message has the file's name only, because the
            folder is a temporary one of the server.
    """
    path = pathlib.Path(path)
    try:
        return _read(path, path.name, limits, FileOptions(databases=False))
    finally:
        path.unlink(missing_ok=True)


def texts(paths: Iterable[str | os.PathLike]) -> tuple[tuple[str, str], ...]:
    """Reads texts about cells from files, as `cell_texts.read_file`, and removes the files.

    Raises:
        InputError: one cannot be read. The message has the name without its folder.
    """
    paths = [pathlib.Path(path) for path in paths]
    try:
        return tuple(each for path in paths for each in cell_texts.read_file(path, path.name))
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


def pasted(text: str, limits: Limits | None = None) -> Table:
    """Reads a table from a text in CSV (commas, semicolons or tabs) or JSON.

    Args:
        text: the text.
        limits: limits of the table, as for `read_table`.

    Raises:
        InputError: if the text is empty or not a table.
    """
    if not text.strip():
        raise InputError("paste a table first, or upload one")
    ending = ".json" if text.lstrip().startswith(("{", "[{")) else ".csv"
    with tempfile.TemporaryDirectory(dir=os.environ.get(uploads.VARIABLE)) as folder:
        path = pathlib.Path(folder, PASTED + ending)
        # Lone surrogates are written as invalid UTF-8, and the reader raises for them.
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return _read(path, PASTED, limits, FileOptions(encoding="utf-8", databases=False))


def _read(path: pathlib.Path, name: str, limits: Limits | None, asked: FileOptions) -> Table:
    try:
        return read_table(path, limits, asked)
    except InputError as error:
        raise InputError(str(error).replace(str(path), name)) from error
