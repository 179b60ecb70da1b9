"""Texts that belong to cells of a table, as users give them: a folder or a file of JSON lines."""

import os
import pathlib
from collections.abc import Iterator

from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_lines
from mate_tf.tables.files import read_text
from mate_tf.tables.table import Table

_ENDING = ".txt"


def read(
    table: Table, path: str | os.PathLike
) -> tuple[dict[tuple[int, int], list[str]], dict[str, str]]:
    """Reads texts, and finds the cells that they are about.

    A text is about each cell that reads as its name, in upper or lower case: in a folder
    `Ann Lee.txt` is about the cells "Ann Lee", and in a file of JSON lines
    `{"cell": "Ann Lee", "text": "Ann Lee was born in Basel."}`.

    Args:
        table: the table.
        path: the folder or file.

    Returns:
        (row, column), from 0 and without the header -> names of texts; name -> text. Texts of one
        cell follow each other in the order of the file.

    Raises:
        InputError: the texts cannot be read, or none is about a cell of the table.
    """
    cells: dict[str, list[tuple[int, int]]] = {}
    for row, texts in enumerate(table.rows):
        for column, text in enumerate(texts):
            cells.setdefault(_key(text), []).append((row, column))
    links: dict[tuple[int, int], list[str]] = {}
    passages: dict[str, str] = {}
    number = 0
    for number, (cell, text) in enumerate(_texts(pathlib.Path(path)), start=1):
        about = cells.get(_key(cell), [])
        if about:
            name = cell if cell not in passages else f"{cell} ({number})"
            passages[name] = text
            for each in about:
                links.setdefault(each, []).append(name)
    if not passages:
        found = f"none of its {number} texts is about a cell of the table" if number else "no texts"
        raise InputError(f"{path}: {found}")
    return links, passages


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def _texts(path: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Yields (text of a cell, text about it)."""
    if path.is_dir():
        for file in sorted(path.glob(f"*{_ENDING}")):
            yield file.name.removesuffix(_ENDING), read_text(file)
        return
    for line, content in read_json_lines(path):
        for key in ("cell", "text"):
            if not isinstance(content.get(key), str) or not content[key].strip():
                raise InputError(f'{path}: line {line}: "{key}" is not a text')
        yield content["cell"], content["text"]
