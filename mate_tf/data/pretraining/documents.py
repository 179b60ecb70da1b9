"""Documents of plain text for pre-training, from files of several formats in a folder.

| file | documents |
|---|---|
| `*.txt` | separated by blank lines; each line is a sentence or a paragraph |
| `*.json` of SQuAD's layout | the articles, each with its paragraphs in order |
| `*.json` with texts by name | each text; HybridQA's `request_tok/` has such files |
| `interactions/train*.tfrecord` | tables and linked passages, written by create_data of a task |

Lines, paragraphs, texts and passages are split into sentences by `tables.passages.split_sentences`,
which does not split in doubtful cases. The sentences of a table are its titles, its header and its
rows, with commas between cells.
"""

import hashlib
import os
import pathlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from mate_tf.data import records
from mate_tf.errors import InputError
from mate_tf.files.json_files import parse_json
from mate_tf.protos import annotated_text_pb2, interaction_pb2
from mate_tf.tables.files import read_text
from mate_tf.tables.passages import split_sentences

TRAIN, DEV = "train", "dev"
SPLITS = (TRAIN, DEV)

OTHER_JSON = "JSON files that have neither SQuAD's layout nor texts by name"

_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_DESCRIPTIONS = annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext
_BUCKETS = 10_000


def is_of_split(key: bytes, split: str, dev_share: float | None) -> bool:
    """Returns True if a document or table with this hash is in the split.

    Args:
        key: the hash.
        dev_share: share of "dev"; None if folders are the splits, so that all are in it.
    """
    if dev_share is None:
        return True
    number = int.from_bytes(key[:8], "big") % _BUCKETS
    return (number < dev_share * _BUCKETS) == (split == DEV)


class Document(NamedTuple):
    """Consecutive sentences.

    Attributes:
        source: path of the file.
        sentences: at least one sentence; no sentence is blank.
    """

    source: str
    sentences: tuple[str, ...]


class Documents:
    """Distinct documents of a split, in the order of the names of the files.

    If `input_dir` has the folders `train/` and `dev/`, these are the splits. Otherwise the split of
    a document is decided by a hash of its text, so it does not depend on the other documents.

    Args:
        input_dir: a folder; it is searched with all sub-folders.
        dev_share: share of the documents in "dev", if there are no folders for splits.
        tables: read tables too, not only the passages that they link to.

    Attributes:
        defects: files that were left out, kind -> messages; complete at the end of an iteration.

    Raises:
        InputError: if the split is unknown or the share is not between 0 and 1; in the iteration,
            if a file is broken or there are no documents.
    """

    def __init__(
        self,
        input_dir: str | os.PathLike,
        split: str,
        *,
        dev_share: float = 0.05,
        tables: bool = True,
    ):
        if split not in SPLITS:
            raise InputError(f"text has no split {split!r}, only {', '.join(SPLITS)}")
        if not 0 < dev_share < 1:
            raise InputError(f"dev_share={dev_share}: must be between 0 and 1")
        self.defects: dict[str, list[str]] = {}
        self._dir, self._split, self._tables = pathlib.Path(input_dir), split, tables
        self._dev_share = dev_share
        if all((self._dir / each).is_dir() for each in SPLITS):
            self._dir, self._dev_share = self._dir / split, None

    def __iter__(self) -> Iterator[Document]:
        self.defects.clear()
        seen, any_there = set(), False
        for path in _files(self._dir):
            for sentences in self._read(path):
                key = hashlib.sha256("\n".join(sentences).encode("utf-8", "ignore")).digest()
                if sentences and key not in seen:
                    seen.add(key)
                    if is_of_split(key, self._split, self._dev_share):
                        any_there = True
                        yield Document(str(path), tuple(sentences))
        if not any_there:
            raise InputError(
                f"{self._dir}: has no document for {self._split} among the {len(seen)} that were "
                "found in .txt files, JSON of SQuAD's layout or with texts by name, and "
                "interactions of create_data"
            )

    def _read(self, path: pathlib.Path) -> Iterator[list[str]]:
        """Yields the sentences of each document of a file."""
        if path.suffix == ".txt":
            return _read_text(path)
        if path.suffix == ".json":
            return self._read_json(path)
        if path.suffix == ".tfrecord" and path.parent.name == "interactions":
            # Only training data: models must not be trained on texts that tasks are evaluated on.
            return self._read_interactions(path) if path.name.startswith(TRAIN) else iter(())
        return iter(())

    def _read_json(self, path):
        articles = _articles(parse_json(read_text(path), str(path)))
        if articles is None:
            self.defects.setdefault(OTHER_JSON, []).append(str(path))
            return
        for texts in articles:
            yield [sentence for text in texts for sentence in _sentences(text)]

    def _read_interactions(self, path):
        for interaction in records.read_interactions(path):
            if self._tables:
                yield list(_table_texts(interaction.table))
            passages = interaction.Extensions[_DESCRIPTIONS].descriptions
            for name in sorted(passages):
                yield _sentences(passages[name])


def _files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields all files that are not hidden; symbolic links are followed."""
    seen = set()
    for root, folders, names in os.walk(folder, followlinks=True):
        if os.path.realpath(root) in seen:  # a link to a folder that was already read
            folders.clear()
            continue
        seen.add(os.path.realpath(root))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield pathlib.Path(root, name)


def _read_text(path):
    for document in _BLANK_LINES.split(read_text(path).replace("\r\n", "\n")):
        yield [sentence for line in document.split("\n") for sentence in _sentences(line)]


def _articles(content) -> list[list[str]] | None:
    """Returns the paragraphs of each article in JSON; None if the JSON has another layout."""
    if not isinstance(content, dict) or not content:
        return None
    if all(isinstance(text, str) for text in content.values()):
        return [[text] for text in content.values()]
    try:
        articles = [
            [paragraph["context"] for paragraph in article["paragraphs"]]
            for article in content["data"]
        ]
    except (KeyError, TypeError):
        return None
    return articles if all(isinstance(text, str) for texts in articles for text in texts) else None


def _table_texts(table: interaction_pb2.Table) -> Iterator[str]:
    """Yields titles, header and rows of a table as sentences."""
    for title in (table.document_title, table.context_heading, table.caption):
        if title.strip():
            yield title
    for cells in (table.columns, *(row.cells for row in table.rows)):
        row = " , ".join(cell.text.strip() for cell in cells if cell.text.strip())
        if row:
            yield row


def _sentences(text: str) -> list[str]:
    return split_sentences(" ".join(text.split()))
