"""Reads SQuAD v1.1 (Rajpurkar et al., 2016) and v2.0 (2018) from the official JSON files.

An interaction is a paragraph, the only cell of a table, with all questions about it.
"""

import collections
import os
import pathlib
from collections.abc import Iterator

from mate_tf.data.interactions import create_interaction_id, create_question_id
from mate_tf.errors import InputError
from mate_tf.files.json_files import parse_json
from mate_tf.protos import answer_spans_pb2, interaction_pb2
from mate_tf.tables.files import read_text

V1, V2 = "v1.1", "v2.0"
VERSIONS = (V1, V2)
"""Versions, as in the names of the files. Version 2.0 has questions without an answer."""

SPLITS = ("train", "dev")
"""The test sets are not published."""

NOT_THERE = "answers that are not where answer_start says"
NO_PLACE = "training questions left out because no answer is where answer_start says"
NO_ANSWER = "questions left out because they have no answer, which version 1.1 does not allow"

_SPANS = answer_spans_pb2.AnswerSpans.answer_spans_ext


class Paragraphs:
    """Interactions of one paragraph each, in the order of the official file.

    Question "4e5f" is question "4e5f-0_0". Its answer has the texts of all gold answers. The
    `AnswerSpans` have the distinct positions of the answers that are found at their `answer_start`.
    A question without an answer has no texts.

    Args:
        articles: content of the file.
        source: path of the file.
        version: one of `VERSIONS`.
        training: leave out questions without a known position.

    Attributes:
        defects: defects of the file, kind -> messages; complete at the end of an iteration. Each
            kind is a noun in the plural.
    """

    def __init__(self, articles: list, source: pathlib.Path, version: str, training: bool):
        self.defects: dict[str, list[str]] = collections.defaultdict(list)
        self._articles, self._source = articles, source
        self._version, self._training = version, training
        self._seen: set[str] = set()

    def __iter__(self) -> Iterator[interaction_pb2.Interaction]:
        self.defects.clear()
        self._seen.clear()
        for number, article in enumerate(self._articles):
            where = f"{self._source}: data[{number}]"
            title = _get(article, "title", str, where, "")
            for index, paragraph in enumerate(_get(article, "paragraphs", list, where)):
                made = self._interaction(
                    paragraph, f"{title}_{number}/{index}", f"{where}.paragraphs[{index}]"
                )
                if made.questions:
                    yield made

    def _interaction(self, paragraph, name: str, where: str) -> interaction_pb2.Interaction:
        context = _get(paragraph, "context", str, where)
        if not context.strip():
            raise InputError(f"{where}: the context is empty")
        made = interaction_pb2.Interaction(id=create_interaction_id(name))
        made.table.table_id = name
        made.table.columns.add(text="")
        made.table.rows.add().cells.add(text=context)
        for index, entry in enumerate(_get(paragraph, "qas", list, where)):
            question = self._question(entry, context, f"{where}.qas[{index}]")
            if question is not None:
                made.questions.append(question)
        return made

    def _question(self, entry, context: str, where: str) -> interaction_pb2.Question | None:
        """Makes a question; None if it is left out because of a defect."""
        name = _get(entry, "id", str, where)
        where = f"{where} (question {name})"
        if name in self._seen:
            raise InputError(f"{where}: the id is a duplicate")
        self._seen.add(name)
        question = interaction_pb2.Question(
            id=create_question_id(create_interaction_id(name), 0),
            original_text=_get(entry, "question", str, where),
        )
        question.answer.SetInParent()
        if _get(entry, "is_impossible", bool, where, False):
            answers = []
        else:
            answers = _get(entry, "answers", list, where)
        if not answers and self._version == V1:
            self.defects[NO_ANSWER].append(where)
            return None
        spans = {}  # in order, without duplicates
        for answer in answers:
            text = _get(answer, "text", str, where)
            begin = _get(answer, "answer_start", int, where)
            question.answer.answer_texts.append(text)
            if text and begin >= 0 and context.startswith(text, begin):
                spans[begin, begin + len(text)] = None
            else:
                self.defects[NOT_THERE].append(f"{where}: {text!r} is not at {begin}")
        if answers and not spans and self._training:
            self.defects[NO_PLACE].append(where)
            return None
        for begin, end in spans:
            question.Extensions[_SPANS].spans.add(begin_index=begin, end_index=end)
        return question


def read(input_dir: str | os.PathLike, split: str, version: str) -> Paragraphs:
    """Reads the paragraphs of a split with their questions.

    Args:
        input_dir: folder with train-v1.1.json and dev-v1.1.json, or those of version 2.0.
        version: one of `VERSIONS`.

    Raises:
        InputError: if split or version is unknown, or the file is missing or no file of SQuAD; in
            the iteration, if an entry is malformed. The message names file and entry. Answers that
            are not at their `answer_start` are counted instead, see `Paragraphs.defects`.
    """
    if version not in VERSIONS:
        raise InputError(f"task.version: {version!r} is not one of {', '.join(VERSIONS)}")
    if split not in SPLITS:
        raise InputError(f"SQuAD has no split {split!r}, only {', '.join(SPLITS)}")
    source = pathlib.Path(input_dir) / f"{split}-{version}.json"
    if not source.exists():
        others = [name for name in VERSIONS if source.with_name(f"{split}-{name}.json").exists()]
        hint = f"; the folder has that of task.version={others[0]}" if others else ""
        raise InputError(f"{source}: no such file{hint}")
    content = parse_json(read_text(source), str(source))
    articles = _get(content, "data", list, str(source))
    return Paragraphs(articles, source, version, split == "train")


_KINDS = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}
_KINDS[bool] = "true or false"


def _get(entry, key: str, kind: type, where: str, default=None):
    """Returns the value of a key of a JSON object; raises InputError for one of another type."""
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object with {key!r}, as in a file of SQuAD")
    value = entry.get(key, default)
    if value is None:
        raise InputError(f"{where}: has no {key!r}, as in a file of SQuAD")
    if type(value) is not kind:
        raise InputError(f"{where}: {key!r} is not {_KINDS[kind]}")
    return value
