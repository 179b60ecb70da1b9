"""Reads HybridQA (Chen et al., 2020): questions about Wikipedia tables and linked passages.

The official files are the questions in `released_data/` and, for each table, one file in
`tables_tok/` and one with its passages in `request_tok/`. These two folders are in an archive
`WikiTables-WithLinks.zip`, in a folder of that name, or next to `released_data/`.
"""

import collections
import functools
import os
import pathlib
import re
import urllib.parse
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from mate_tf.data.interactions import create_interaction_id, create_question_id
from mate_tf.errors import InputError
from mate_tf.files import zips
from mate_tf.files.json_files import parse_json
from mate_tf.protos import annotated_text_pb2, interaction_pb2
from mate_tf.tables.files import read_text
from mate_tf.tables.passages import AnswerFinder
from mate_tf.tables.table import Table

SPLITS = ("train", "dev", "test")

NO_TABLE = "questions left out because their table is not there"
BROKEN_TABLE = "questions left out because a file of their table is broken"
BROKEN_QUESTION = "questions left out because their entry is broken"
NO_PASSAGE = "links without a passage"

_FILES = {
    "train": ("train.traced.json", "train.json", "train_partial.json"),
    "dev": ("dev.traced.json", "dev.json"),
    "test": ("test.json",),
}
_RELEASED = "released_data"
_ARCHIVE = "WikiTables-WithLinks"
_TABLES, _PASSAGES = "tables_tok", "request_tok"
_MEMBER = re.compile(rf"(?:.*/)?({_TABLES}|{_PASSAGES})/([^/]+)\.json", re.DOTALL)
_LARGEST_MEMBER = 64 * 2**20  # bytes; the largest of the official archive has 0.3 million
_CACHED_TABLES = 256  # questions about a table are close to each other in the file

_LINKS = annotated_text_pb2.AnnotatedText.annotated_cell_ext
_DESCRIPTIONS = annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext


class Questions:
    """Interactions of one question each, in the order of the official file.

    Questions without a table are left out.

    Args:
        entries: content of the file of questions.
        source: path of that file.
        files: the files of tables and passages.

    Attributes:
        defects: defects of the files, kind -> messages; complete at the end of an iteration. Each
            kind is a noun in the plural.
    """

    def __init__(self, entries: list, source: pathlib.Path, files: "_Folder | _Archive"):
        self.defects: dict[str, list[str]] = collections.defaultdict(list)
        self._entries, self._source, self._files = entries, source, files
        self._table = functools.lru_cache(_CACHED_TABLES)(self._read_table)
        self._seen: set[str] = set()  # tables with reported links without passages

    def __iter__(self) -> Iterator[interaction_pb2.Interaction]:
        self.defects.clear()
        self._seen.clear()
        for index, entry in enumerate(self._entries):
            where = f"{self._source} entry {index}"
            try:
                question = _question(entry, where)
            except InputError as error:
                self.defects[BROKEN_QUESTION].append(str(error))
                continue
            try:
                table = self._table(question.table_id)
            except _MissingError as error:
                self.defects[NO_TABLE].append(f"{where} (question {question.id}): {error}")
            except InputError as error:
                self.defects[BROKEN_TABLE].append(f"{where} (question {question.id}): {error}")
            else:
                if question.table_id not in self._seen:
                    self._seen.add(question.table_id)
                    for message in table.defects:
                        self.defects[NO_PASSAGE].append(message)
                yield _interaction(question, table)

    def _read_table(self, table_id: str) -> "_LinkedTable":
        content = self._files.read(_TABLES, table_id)
        try:
            passages = self._files.read(_PASSAGES, table_id)
        except _MissingError:
            passages = {}
        return _linked_table(table_id, content, passages, self._files)


def read(input_dir: str | os.PathLike, split: str) -> Questions:
    """Reads the questions of a split that have a table, with the candidate cells of their answers.

    Ids are those of the reference: question "4e5f" is question "4e5f-0_0" of interaction "4e5f-0".
    Cells have the identifiers of the entities that they link to, and the interaction has the
    passages. The coordinates of the answer are all cells with the answer in their text or in a
    linked passage (`tables.passages.AnswerFinder`). The first alternative answer has the cells with
    the answer in their text. If no cell is found, there are no coordinates. Questions of the test
    set, in which answers are hidden, have no answer.

    Args:
        input_dir: the folder with `released_data/` and the tables.
        split: one of `SPLITS`. If there are several files for it, the one with traced answers is
            read.

    Raises:
        InputError: if the split is unknown, the questions or all tables cannot be read, or a path
            in the archive leads out of it. Defects of single tables and questions are counted
            instead, see `Questions.defects`.
    """
    if split not in SPLITS:
        raise InputError(f"HybridQA has no split {split!r}, only {', '.join(SPLITS)}")
    source = _questions_file(input_dir, split)
    if source is None:
        released = pathlib.Path(input_dir) / _RELEASED
        raise InputError(f"{released}: has none of {', '.join(_FILES[split])}")
    entries = _parse(read_text(source), str(source), list)
    return Questions(entries, source, _open(pathlib.Path(input_dir)))


def splits(input_dir: str | os.PathLike) -> list[str]:
    """Returns the splits with a file of questions."""
    return [split for split in SPLITS if _questions_file(input_dir, split)]


def _questions_file(input_dir: str | os.PathLike, split: str) -> pathlib.Path | None:
    """Returns the file with the questions of a split; None if there is none."""
    paths = (pathlib.Path(input_dir) / _RELEASED / name for name in _FILES[split])
    return next((path for path in paths if path.is_file()), None)


def read_linked_table(
    table_path: str | os.PathLike, passages_path: str | os.PathLike
) -> tuple[Table, dict[tuple[int, int], list[str]], dict[str, str]]:
    """Reads a table with its passages, from one file of `tables_tok/` and one of `request_tok/`.

    Returns:
        the table; (row, column) -> identifiers that the cell links to; identifier -> passage.

    Raises:
        InputError: if a file is missing or broken.
    """
    content = _parse(read_text(pathlib.Path(table_path)), str(table_path), dict)
    passages = _parse(read_text(pathlib.Path(passages_path)), str(passages_path), dict)
    header = [text for text, _ in _cells(content.get("header"), f"{table_path}: header")]
    linked = _linked_table(str(table_path), content, passages, _FilePair(table_path, passages_path))
    rows = [[cell.text for cell in row.cells] for row in linked.proto.rows]
    links = {
        (row, column): identifiers
        for row, cells in enumerate(linked.proto.rows)
        for column, cell in enumerate(cells.cells)
        if (identifiers := [each.identifier for each in cell.Extensions[_LINKS].annotations])
    }
    return Table.from_rows(header, rows, title=content.get("title")), links, linked.passages


class _FilePair(NamedTuple):
    """Two files given by the user, named in errors like those of `_Folder`."""

    table: str | os.PathLike
    passages: str | os.PathLike

    def where(self, kind: str, table_id: str) -> str:
        """Returns the name of a file for messages."""
        return str(self.table if kind == _TABLES else self.passages)


class _MissingError(InputError):
    """Error for a missing file of a table."""


class _Folder:
    """Tables and passages as files."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def where(self, kind: str, table_id: str) -> str:
        """Returns the name of a file for messages."""
        return str(self.path / kind / f"{table_id}.json")

    def read(self, kind: str, table_id: str) -> dict[str, Any]:
        """Reads a file; raises `_MissingError`, or `InputError` if the file is broken."""
        path = self.where(kind, table_id)
        if not os.path.isfile(path):
            raise _MissingError(f"{path}: no such file")
        return _parse(read_text(path), path, dict)


class _Archive:
    """Tables and passages in a zip file, which is read without unpacking it to disk."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except zips.DAMAGED as error:
            raise InputError(f"{path}: not a readable zip archive ({error})") from None
        self._members = {}
        for name in self._archive.namelist():
            parts = name.replace("\\", "/").split("/")
            if ".." in parts or not parts[0] or ":" in parts[0]:
                raise InputError(f"{path}: member {name!r} leads out of the archive")
            if match := _MEMBER.fullmatch(name):
                self._members[match[1], match[2]] = name

    def where(self, kind: str, table_id: str) -> str:
        """Returns the name of a member for messages."""
        return f"{self.path}: {kind}/{table_id}.json"

    def read(self, kind: str, table_id: str) -> dict[str, Any]:
        """Reads a member; raises `_MissingError`, or `InputError` if it is broken."""
        where = self.where(kind, table_id)
        if (kind, table_id) not in self._members:
            raise _MissingError(f"{where}: no such member")
        try:
            content = zips.read(self._archive, self._members[kind, table_id], _LARGEST_MEMBER)
            content = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{where}: not valid UTF-8 ({error.reason})") from None
        except (*zips.DAMAGED, InputError) as error:
            raise InputError(f"{where}: cannot be unpacked ({error})") from None
        return _parse(content, where, dict)


def _open(folder: pathlib.Path) -> _Folder | _Archive:
    """Finds the archive or folder of the tables; raises InputError if there is none."""
    archive = folder / f"{_ARCHIVE}.zip"
    if archive.is_file():
        return _Archive(archive)
    for each in (folder / _ARCHIVE, folder):
        if (each / _TABLES).is_dir():
            return _Folder(each)
    raise InputError(f"{folder}: has neither {archive.name} nor a folder {_TABLES}")


def _parse(text: str, where: str, kind: type) -> Any:
    """Parses JSON of a type; raises InputError for other content."""
    content = parse_json(text, where)
    if not isinstance(content, kind):
        raise InputError(f"{where}: expected {'an object' if kind is dict else 'a list'}")
    return content


class _Question(NamedTuple):
    """A checked entry of the file of questions; `answer` is None in the test set."""

    id: str
    text: str
    table_id: str
    answer: str | None


def _question(entry: Any, where: str) -> _Question:
    """Checks an entry; raises InputError if it is broken."""
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object")
    for key in ("question_id", "question", "table_id"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise InputError(f"{where}: {key!r} is not a text")
    table_id = entry["table_id"]
    if "/" in table_id or "\\" in table_id:
        raise InputError(f"{where}: table_id {table_id!r} is not the name of a file")
    answer = entry.get("answer-text")
    if answer is not None and not isinstance(answer, str):
        raise InputError(f"{where}: 'answer-text' is not a text")
    return _Question(entry["question_id"], entry["question"], table_id, answer)


class _LinkedTable(NamedTuple):
    """A table with its passages, shared by all questions about it.

    `defects` has a message for each link without a passage.
    """

    proto: interaction_pb2.Table
    passages: dict[str, str]
    answers: AnswerFinder
    defects: list[str]


def _linked_table(table_id: str, content: dict, texts: dict, files) -> _LinkedTable:
    """Checks the content of the two files of a table; raises InputError if they are broken."""
    where = files.where(_TABLES, table_id)
    header = _cells(content.get("header"), f"{where}: header")
    rows = content.get("data")
    if not isinstance(rows, list):
        raise InputError(f"{where}: 'data' is not a list of rows")
    rows = [_cells(row, f"{where}: row {number}") for number, row in enumerate(rows)]
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise InputError(
                f"{where}: row {number} has {len(row)} cells, the header {len(header)}"
            )
    where = files.where(_PASSAGES, table_id)
    for link, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"{where}: the passage of {link!r} is not a text")
    # Special characters of links and of passages' names may be percent-encoded or not.
    texts = {urllib.parse.unquote(link): text for link, text in texts.items()} | texts
    linked = dict.fromkeys(link for row in (header, *rows) for _, links in row for link in links)
    passages = {link: texts[link] for link in linked if link in texts}
    proto = interaction_pb2.Table(table_id=table_id, columns=map(_cell, header))
    proto.rows.extend(interaction_pb2.Cells(cells=map(_cell, row)) for row in rows)
    for field, key in (
        ("document_title", "title"),
        ("document_url", "url"),
        ("context_heading", "section_title"),
    ):
        if isinstance(content.get(key), str) and content[key]:
            setattr(proto, field, content[key])
    missing = [f"{where}: no passage {link!r}" for link in linked if link not in texts]
    return _LinkedTable(proto, passages, AnswerFinder(rows, passages), missing)


def _cells(row: Any, where: str) -> list[tuple[str, list[str]]]:
    """Checks a row; returns text and linked identifiers of each cell."""
    if not isinstance(row, list):
        raise InputError(f"{where}: expected a list of cells")
    cells = []
    for index, cell in enumerate(row):
        match cell:
            case [str(text), [*links]] if all(isinstance(link, str) for link in links):
                cells.append((text, [urllib.parse.unquote(link) for link in links]))
            case _:
                raise InputError(f"{where}, cell {index}: expected [text, [link, ...]]")
    return cells


def _cell(cell: tuple[str, list[str]]) -> interaction_pb2.Cell:
    text, links = cell
    proto = interaction_pb2.Cell(text=text)
    for link in links:
        proto.Extensions[_LINKS].annotations.add(identifier=link)
    return proto


def _interaction(question: _Question, table: _LinkedTable) -> interaction_pb2.Interaction:
    """Makes the interaction of a question, with its candidate cells."""
    interaction_id = create_interaction_id(question.id)
    interaction = interaction_pb2.Interaction(id=interaction_id, table=table.proto)
    proto = interaction.questions.add(
        id=create_question_id(interaction_id, 0), original_text=question.text
    )
    if question.answer is not None:
        result = table.answers.find(question.answer)
        proto.answer.answer_texts.append(question.answer)
        _set_cells(proto.answer, result.cells)
        _set_cells(proto.alternative_answers.add(), result.in_table)
    interaction.Extensions[_DESCRIPTIONS].descriptions.update(table.passages)
    return interaction


def _set_cells(answer: interaction_pb2.Answer, cells: list[tuple[int, int]]) -> None:
    for row, column in cells:
        answer.answer_coordinates.add(row_index=row, column_index=column)
