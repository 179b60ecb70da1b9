"""Tables from what is pasted into a page or uploaded to it."""

import os
import pathlib
import tempfile

from mate_tf.errors import InputError
from mate_tf.tables.table import Table

PASTED = "pasted table"


def uploaded(path: str | os.PathLike) -> Table:
    """The table in a CSV, TSV or JSON file, told apart by the ending of its name.

    Raises:
        InputError: as the readers of `Table` raise it, but without the folder, which is a
            temporary one of the server's.
    """
    path = pathlib.Path(path)
    return _read(path, path.name)


def pasted(text: str) -> Table:
    """The table in a text: CSV or TSV (commas, semicolons or tabs, whatever cuts it), or JSON.

    Raises:
        InputError: there is no text, or it is no table.
    """
    if not text.strip():
        raise InputError("paste a table first, or upload one")
    ending = ".json" if text.lstrip().startswith(("{", "[{")) else ".csv"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, PASTED + ending)
        # What is no text is told by the reader, as of a file.
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return _read(path, PASTED)


def _read(path: pathlib.Path, name: str) -> Table:
    readers = {".tsv": Table.from_tsv, ".json": Table.from_json}
    try:
        return readers.get(path.suffix.lower(), Table.from_csv)(path)
    except InputError as error:
        raise InputError(str(error).replace(str(path), name)) from error
