"""Tables with texts from files of several formats in a folder, for pre-training.

| file | tables |
|---|---|
| `*.txtpb`, `*.txtpb.gz` | interactions in text format, one on each line: TAPAS's corpus |
| `*.tfrecord`, also with shards | serialized interactions, packed with gzip or not |
| `*.html`, `*.htm` | tables of a page, with title, headings, captions and paragraphs |
| `*.csv`, `*.tsv` | a table; its texts are the lines of the `.txt` file of the same name |
"""

import collections
import hashlib
import os
import re
from collections.abc import Iterator

import tensorflow as tf

from mate_tf.data import records
from mate_tf.data.interactions import Question, create_question_id, interaction_from_table
from mate_tf.data.pretraining.documents import SPLITS, is_of_split
from mate_tf.data.records import text_protos
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables import html_tables
from mate_tf.tables.files import read_text
from mate_tf.tables.table import Table

BAD_SHAPE = "tables without rows, or with rows of different lengths"
LEFT_OUT = "pages with tables that are too small or too large"
NO_TEXT = "tables without a text: .csv and .tsv files need a .txt file of the same name"

_TEXT_PROTOS = re.compile(r".*\.txtpb(\.gz)?")
_RECORDS = re.compile(r".*\.tfrecords?(-\d{5}-of-\d{5})?(\.gz)?")
_PAGE = re.compile(r".*\.html?")
_DELIMITED = re.compile(r".*\.(csv|tsv)")
_TABLE_ID = re.compile(rb'\btable_id:\s*"((?:[^"\\]|\\.)*)"')
_NUMBER = re.compile(rb"_\d+$")
_OF_CREATE_DATA = {"interactions", "tf_examples"}


class TableFolder:
    """Interactions of a split: tables with their texts as questions or titles.

    If the folder has the folders `train/` and `dev/`, these are the splits. Otherwise a hash
    decides, of the page for tables of one page, whose id ends in a number, as TAPAS's do.

    Args:
        input_dir: a folder, which is searched with all sub-folders, or a file.
        dev_share: share of the pages in "dev", if there are no folders for splits.

    Attributes:
        defects: what was left out, kind -> messages; complete at the end of an iteration.

    Raises:
        InputError: if the split is unknown; in the iteration, if a file is broken or nothing is
            found.
    """

    def __init__(self, input_dir: str, split: str, *, dev_share: float = 0.05):
        if split not in SPLITS:
            raise InputError(f"tables have no split {split!r}, only {', '.join(SPLITS)}")
        self.defects: dict[str, list[str]] = collections.defaultdict(list)
        self._dir, self._split, self._dev_share = os.fspath(input_dir), split, dev_share
        if all(tf.io.gfile.isdir(os.path.join(self._dir, each)) for each in SPLITS):
            self._dir, self._dev_share = os.path.join(self._dir, split), None

    def __iter__(self) -> Iterator[interaction_pb2.Interaction]:
        self.defects.clear()
        number = 0
        for path in self._files():
            for interaction in self._read(path):
                if not _is_table(interaction.table):
                    self.defects[BAD_SHAPE].append(f"{path}: {interaction.id}")
                    continue
                number += 1
                yield interaction
        if not number:
            share = "" if self._dev_share is None else f" with task.dev_share={self._dev_share}"
            raise InputError(
                f"{self._dir}: has no table for {self._split}{share} in .txtpb, .txtpb.gz, "
                ".tfrecord, .html, .csv or .tsv files, and no interactions/"
                f"{self._split}*.tfrecord of --mode=create_data"
            )

    def _files(self) -> Iterator[str]:
        """Yields all files that are not hidden."""
        if not tf.io.gfile.isdir(self._dir):
            yield from [self._dir] if tf.io.gfile.exists(self._dir) else []
            return
        for folder, folders, names in tf.io.gfile.walk(self._dir):
            folders[:] = sorted(set(folders) - _OF_CREATE_DATA)
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield from (os.path.join(folder, name) for name in sorted(names) if name[0] != ".")

    def _read(self, path: str) -> Iterator[interaction_pb2.Interaction]:
        """Returns the interactions of a file that are of the split."""
        name = os.path.relpath(path, self._dir) if path != self._dir else os.path.basename(path)
        if _TEXT_PROTOS.fullmatch(name):
            return self._read_text_protos(path, name)
        if _RECORDS.fullmatch(name):
            return self._read_records(path, name)
        if _PAGE.fullmatch(name) and self._is_of_split(name.encode()):
            return self._read_page(path, name)
        if _DELIMITED.fullmatch(name) and self._is_of_split(name.encode()):
            return self._read_delimited(path, name)
        return iter(())

    def _read_text_protos(self, path: str, name: str):
        def is_of_split(line: bytes) -> bool:
            # Found without parsing the line, which takes most of the time.
            match = _TABLE_ID.search(line)
            return self._is_of_split(_NUMBER.sub(b"", match[1]) if match else line)

        for number, interaction in text_protos.read(path, is_of_split):
            yield _named(interaction, f"{name}-{number}")

    def _read_records(self, path: str, name: str):
        for number, interaction in enumerate(records.read_interactions(path), start=1):
            key = interaction.table.table_id or interaction.id or f"{name}-{number}"
            if self._is_of_split(_NUMBER.sub(b"", key.encode())):
                yield _named(interaction, f"{name}-{number}")

    def _read_page(self, path: str, name: str):
        page = html_tables.read_page(path, name)
        if page.num_left_out:
            self.defects[LEFT_OUT].append(f"{path}: {page.num_left_out}")
        for page_table in page.tables:
            yield _interaction(page_table.table, page_table.texts)

    def _read_delimited(self, path: str, name: str):
        texts = f"{os.path.splitext(path)[0]}.txt"
        if not os.path.exists(texts):
            self.defects[NO_TEXT].append(path)
            return
        lines = [" ".join(line.split()) for line in read_text(texts).splitlines()]
        read = Table.from_tsv if name.endswith(".tsv") else Table.from_csv
        yield _interaction(read(path, table_id=name), filter(None, lines))

    def _is_of_split(self, key: bytes) -> bool:
        """Returns True if tables with this key are in the split."""
        return is_of_split(hashlib.sha256(key).digest(), self._split, self._dev_share)


def _interaction(table: Table, texts) -> interaction_pb2.Interaction:
    """Returns a table with texts as questions."""
    questions = [
        Question(create_question_id(f"{table.table_id}-0", position), text)
        for position, text in enumerate(texts)
    ]
    return interaction_from_table(table, f"{table.table_id}-0", questions)


def _named(interaction, name: str) -> interaction_pb2.Interaction:
    """Gives an interaction without an id that of its table, or a name."""
    interaction.id = interaction.id or interaction.table.table_id or name
    return interaction


def _is_table(table: interaction_pb2.Table) -> bool:
    """Returns True if a table has a header, and rows that are as long."""
    width = len(table.columns)
    return bool(width and table.rows) and all(len(row.cells) == width for row in table.rows)
