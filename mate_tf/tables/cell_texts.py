"""Texts that belong to cells of a table, as users give them: a folder, files or JSON."""

import collections
import dataclasses
import os
import pathlib
import re
from collections.abc import Iterable
from typing import Any

from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_lines
from mate_tf.tables.files import read_text
from mate_tf.tables.table import Table

LINES, TEXT = ".jsonl", ".txt"
"""Endings of a file of JSON lines, and of one with the text about the cells of its name."""


def read(path: str | os.PathLike) -> list[tuple[str, str]]:
    """Reads texts from a folder or a file of JSON lines.

    In a folder `Ann Lee.txt` is about the cells "Ann Lee", and so is the line
    `{"cell": "Ann Lee", "text": "Ann Lee was born in Basel."}` of a file.

    Returns:
        list of pairs: the text of a cell, and a text about it.

    Raises:
        InputError: the texts cannot be read, or there are none.
    """
    path = pathlib.Path(path)
    files = sorted(path.glob(f"*{TEXT}")) if path.is_dir() else [path]
    texts = [each for file in files for each in read_file(file, str(file))]
    if not texts:
        raise InputError(f"{path}: no texts")
    return texts


def read_file(path: pathlib.Path, name: str) -> list[tuple[str, str]]:
    """Reads the texts of one file: of a .txt about the cells of its name, or of JSON lines.

    Args:
        path: the file.
        name: what it is called in messages.

    Raises:
        InputError: see `read`.
    """
    try:
        if path.suffix.lower() == TEXT:
            return [(path.name[: -len(TEXT)], read_text(path))]
        return [_pair(each, f"{path}: line {line}: ") for line, each in read_json_lines(path)]
    except InputError as error:
        raise InputError(str(error).replace(str(path), name)) from None


def parse(given: Any, where: str = "texts: ") -> list[tuple[str, str]]:
    """Returns the texts of a JSON value, a list of objects with "cell" and "text".

    Raises:
        InputError: it is something else.
    """
    if not isinstance(given, list):
        raise InputError(f'{where}expected a list of objects with "cell" and "text"')
    return [_pair(each, f"{where}number {number}: ") for number, each in enumerate(given, 1)]


def add(table: Table, texts: Iterable[tuple[str, str]], where: str) -> Table:
    """Returns a table with texts about its cells.

    Args:
        table: the table.
        texts: pairs as `read` returns them.
        where: name of their source, for the message.

    Raises:
        InputError: none of them is about a cell of the table.
    """
    texts = tuple(texts)
    linked = dataclasses.replace(table, texts=texts)
    if not links(linked)[0]:
        raise InputError(f"{where}: none of the {len(texts)} texts is about a cell of the table")
    return linked


def links(table: Table) -> tuple[dict[tuple[int, int], list[str]], dict[str, str]]:
    """Finds the cells that the texts of a table are about: those that read as their names.

    Upper and lower case and the width of gaps do not count. A name that no cell has so may differ
    from one in punctuation, which names of files cannot have, as in `St Gallen.txt`.

    Returns:
        (row, column), from 0 and without the header -> names of texts, in their order; name ->
        text, of the texts that are about a cell.
    """
    cells: dict[str, list[tuple[int, int]]] = collections.defaultdict(list)
    words: dict[str, list[tuple[int, int]]] = collections.defaultdict(list)
    for cell in table.cells() if table.texts else ():
        cells[_key(cell.text)].append(cell[:2])
        words[_words(cell.text)].append(cell[:2])
    result: dict[tuple[int, int], list[str]] = {}
    passages: dict[str, str] = {}
    for number, (cell, text) in enumerate(table.texts, start=1):
        about = cells.get(_key(cell)) or (_words(cell) and words.get(_words(cell)))
        if about:
            name = cell if cell not in passages else f"{cell} ({number})"
            passages[name] = text
            for each in about:
                result.setdefault(each, []).append(name)
    return result, passages


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text)).casefold()


def _pair(given: Any, where: str) -> tuple[str, str]:
    if not isinstance(given, dict):
        raise InputError(f'{where}expected an object with "cell" and "text"')
    for key in ("cell", "text"):
        if not isinstance(given.get(key), str) or not given[key].strip():
            raise InputError(f'{where}"{key}" is not a text')
    return given["cell"], given["text"]
