"""Reads documents with summaries: PubMed and arXiv (Cohan et al., 2018), and JSON lines like them.

| files | keys of a line |
|---|---|
| `train.txt`, `val.txt`, `test.txt` | `article_id`, `article_text`, `abstract_text`, … |
| `train.jsonl`, `dev.jsonl`, `test.jsonl` | `document`, `summary`, and `id` or none |

The official files of PubMed and arXiv are the former. Their texts are lists of sentences; those of
the abstract are in <S> and </S>. A line of a test split may have no `summary`.
"""

import collections
import os
import pathlib
from collections.abc import Iterator

from mate_tf.data.converters.sequences import interaction
from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_lines
from mate_tf.protos import interaction_pb2

SPLITS = ("train", "dev", "test")

NO_TEXT = "articles left out because their text or abstract is empty"
TWICE = "articles that repeat the id of an earlier one and got a new id"

_OFFICIAL = {"train": "train.txt", "dev": "val.txt", "test": "test.txt"}
_SENTENCE_TAGS = ("<S>", "</S>")


class Documents:
    """Interactions of one document each, whose answer has the summary as its only text.

    The sentences of an official article are lines, and so are those of its abstract. Article
    "PMC12" is question "PMC12-0_0"; a document without an id is named after its line.

    Args:
        path: file to read; with the ending .txt, an official one.
        section_names: put the name of each section before its text; for official files.

    Attributes:
        defects: defects of the file, kind -> messages; complete at the end of an iteration.
    """

    def __init__(self, path: pathlib.Path, split: str, section_names: bool = False):
        self.defects: dict[str, list[str]] = collections.defaultdict(list)
        self._path, self._split, self._section_names = path, split, section_names

    def __iter__(self) -> Iterator[interaction_pb2.Interaction]:
        self.defects.clear()
        seen = set()
        for number, line in read_json_lines(self._path):
            where = f"{self._path} line {number}"
            read = self._official if self._path.suffix == ".txt" else self._plain
            name, document, summary = read(line, where)
            if not (document and (summary or summary is None)):
                self.defects[NO_TEXT].append(where)
                continue
            name = name or f"{self._split}_{number}"
            if name in seen:
                self.defects[TWICE].append(f"{where}: {name}")
                name = f"{name}_{number}"
            seen.add(name)
            parsed = interaction(name, [document])
            if summary is not None:
                parsed.questions[0].answer.answer_texts.append(summary)
            yield parsed
        if not seen:
            raise InputError(f"{self._path}: has no documents")

    def _official(self, line: dict, where: str) -> tuple[str, str, str]:
        """Returns id, text and abstract of a line of PubMed or arXiv."""
        name = _get(line, "article_id", where)
        if not isinstance(name, str):
            raise InputError(f"{where}: article_id is not a text")
        if self._section_names:
            names = _sentences(line, "section_names", where)
            sections = _get(line, "sections", where)
            if not isinstance(sections, list) or len(sections) != len(names):
                raise InputError(f"{where}: sections is not a list as long as section_names")
            parts = {f"sections[{index}]": part for index, part in enumerate(sections)}
            texts = [_sentences(parts, key, where) for key in parts]
            document = [
                each for title, text in zip(names, texts, strict=True) for each in (title, *text)
            ]
        else:
            document = _sentences(line, "article_text", where)
        abstract = _sentences(line, "abstract_text", where)
        for tag in _SENTENCE_TAGS:
            abstract = [sentence.replace(tag, "").strip() for sentence in abstract]
        return name, "\n".join(filter(None, document)), "\n".join(filter(None, abstract))

    def _plain(self, line: dict, where: str) -> tuple[str, str, str | None]:
        """Returns id, document and summary of a line of other JSON lines."""

        def text(key):
            value = _get(line, key, where)
            if not isinstance(value, str):
                raise InputError(f"{where}: {key} is not a text")
            if not value.strip():
                raise InputError(f"{where}: {key} is empty")
            return value.strip()

        document = text("document")
        lacks_summary = self._split == "test" and line.get("summary") is None
        return str(line.get("id", "")), document, None if lacks_summary else text("summary")


def read(input_dir: str | os.PathLike, split: str, section_names: bool = False) -> Documents:
    """Reads the documents of a split.

    Args:
        input_dir: folder with the files of either kind.
        section_names: see `Documents`.

    Raises:
        InputError: if the split is unknown or its file is missing, or the file is not of its kind
            and `section_names` is true; in the iteration, if a line is malformed. The message names
            file, line and key.
    """
    if split not in SPLITS:
        raise InputError(f"there is no split {split!r}, only {', '.join(SPLITS)}")
    paths = [pathlib.Path(input_dir) / name for name in (_OFFICIAL[split], f"{split}.jsonl")]
    existing = next((path for path in paths if path.exists()), None)
    if existing is None:
        raise InputError(
            f"{input_dir}: has neither {paths[0].name}, as in PubMed and arXiv, nor "
            f"{paths[1].name}, with a document and a summary on each line"
        )
    if section_names and existing.suffix != ".txt":
        raise InputError(f"{existing}: has no sections; leave out task.section_names")
    return Documents(existing, split, section_names)


def _get(line: dict, key: str, where: str):
    """Returns the value of a key. Raises InputError without it."""
    if line.get(key) is None:
        raise InputError(f"{where}: has no {key!r}")
    return line[key]


def _sentences(line: dict, key: str, where: str) -> list[str]:
    """Returns a list of sentences, stripped. Raises InputError for anything else."""
    value = _get(line, key, where)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InputError(f"{where}: {key} is not a list of texts")
    return [each.strip() for each in value]
