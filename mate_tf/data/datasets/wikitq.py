"""Reads WikiTableQuestions (Pasupat and Liang, 2015): questions with the texts of their answers.

The official release has questions in `data/*.tsv` and tables in `csv/`. It does not have the cells
of answers. They are found by the rules of google-research/tapas (`answers.gold`).
"""

import itertools
import os
import pathlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from mate_tf.answers.gold import AnswerError, GoldAnswer, SupervisionMode, parse_answer
from mate_tf.data.datasets import tsv
from mate_tf.data.interactions import (
    Question,
    create_interaction_id,
    create_question_id,
    interactions_of_single_questions,
)
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables.files import read_csv
from mate_tf.tables.table import Table
from mate_tf.tables.text import wtq_normalize

SPLITS = ("train", "dev", "test")
"""Names that `splits` resolves. Files can also be read by their own names."""

COLUMNS = ("id", "utterance", "context", "targetValue")

_FILES = re.compile(
    r"training|pristine-(?:un)?seen-tables|random-split-[1-5]-(?:train|dev)", re.ASCII
)
_TABLE_PATH = re.compile(r"csv/([^/]+)-csv/([^/]+)")
_ESCAPE = re.compile(r"\\[np\\]")
_ESCAPED = {"\\n": "\n", "\\p": "|", "\\\\": "\\"}

# Texts that pandas 1 reads as missing values.
# fmt: off
_MISSING = frozenset((
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null",
))
# fmt: on
_MISSING_TEXT = "nan"


class Row(NamedTuple):
    """One line of a question file.

    Attributes:
        where: file and line, for messages.
        id: id of the question, for example "nt-12".
        text: the question.
        table_file: path of its table, relative to the data set.
        answers: texts of the answer.
    """

    where: str
    id: str
    text: str
    table_file: str
    answers: tuple[str, ...]


def splits(random_split: int | None = 1) -> dict[str, str]:
    """Returns the file stems of "train", "dev" and "test".

    Args:
        random_split: number, from 1 to 5, of the official division of the training file into train
            and dev (the reference uses 1). None: train is all of `training.tsv`, without dev.
    """
    test = {"test": "pristine-unseen-tables"}
    if random_split is None:
        return {"train": "training", **test}
    if random_split not in range(1, 6):
        raise InputError(f"WikiTableQuestions has random splits 1 to 5, not {random_split}")
    stem = f"random-split-{random_split}"
    return {"train": f"{stem}-train", "dev": f"{stem}-dev", **test}


def read(
    input_dir: str | os.PathLike,
    split: str,
    *,
    random_split: int | None = 1,
    original_cells: bool = False,
) -> Iterator[interaction_pb2.Interaction]:
    """Reads interactions of one question each, grouped by table.

    Ids are those of the reference: question "nt-12-0_0" of interaction "nt-12-0", and table
    "table_csv/204-395.csv" for `csv/204-csv/395.csv`. In training files, an answer that is in
    several cells is not valid, since it is unknown which cell is meant; in other files the first
    cell is used. The reason of an invalid answer is in the question's `InvalidAnswer`.

    Args:
        input_dir: the directory with `data/` and `csv/`.
        split: one of `SPLITS`, or the stem of a file such as "pristine-seen-tables".
        random_split: see `splits`.
        original_cells: keep cells and column names unchanged. Otherwise they are normalized like
            those of the reference, on which the published checkpoints were trained: cells by
            `text.wtq_normalize`, "nan" for missing ones, and distinct column names.

    Raises:
        InputError: if the split is unknown, or a file is missing or malformed; the message names
            the file and the line.
    """
    input_dir = pathlib.Path(input_dir)
    stem = splits(random_split).get(split, split)
    if not _FILES.fullmatch(stem):
        known = ", ".join(splits(random_split))
        raise InputError(f"WikiTableQuestions has no split {split!r}, only {known}")
    training = stem == "training" or stem.endswith("-train")
    mode = SupervisionMode.REMOVE_ALL_STRICT if training else SupervisionMode.REMOVE_ALL
    by_table: dict[str, list[Row]] = {}
    for row in read_rows(input_dir / "data" / f"{stem}.tsv"):
        by_table.setdefault(row.table_file, []).append(row)
    for table_file, rows in by_table.items():
        path = input_dir / table_file
        if not os.path.isfile(path):
            raise InputError(f"{rows[0].where}: table file {path} does not exist")
        table = read_table(path, _table_id(table_file), original_cells=original_cells)
        questions = [_question(row, table, mode) for row in rows]
        yield from interactions_of_single_questions(table, questions)


def read_rows(path: str | os.PathLike) -> Iterator[Row]:
    """Reads the lines of a question file in order, with escapes resolved.

    The format has no quoting. The reference reads the files as CSV with quoting, so that a
    quotation mark at the beginning of a field hides the following fields, sometimes whole lines.

    Raises:
        InputError: if the file cannot be read, or a line has more or fewer fields than the header.
    """
    for where, fields in tsv.read(path, COLUMNS):
        question_id, text, table_file, target = (fields[name] for name in COLUMNS)
        for name, value in (("id", question_id), ("question", text)):
            if not value.strip():
                raise InputError(f"{where}: no {name}")
        answers = tuple(map(unescape, target.split("|"))) if target else ()
        yield Row(where, question_id, unescape(text), table_file, answers)


def unescape(text: str) -> str:
    r"""Replaces the escapes \n, \p and \\ of the files by line break, | and \."""
    return _ESCAPE.sub(lambda match: _ESCAPED[match.group()], text)


def read_table(
    path: str | os.PathLike, table_id: str = "", *, original_cells: bool = False
) -> Table:
    r"""Reads a table of the release, in which \" is a quotation mark and \\ a backslash.

    Args:
        original_cells: see `read`.

    Raises:
        InputError: see `Table.from_csv`.
    """
    header, rows = read_csv(path, ",", escape="\\")
    if not original_cells:
        header = _distinct(header)
        rows = [
            [_MISSING_TEXT if text in _MISSING else wtq_normalize(text) for text in row]
            for row in rows
        ]
    return Table.from_rows(header, rows, table_id=table_id)


def _distinct(names: list[str]) -> list[str]:
    """Makes names distinct like pandas: "Unnamed: 3" for "", "x.1" for the second "x"."""
    result = [name or f"Unnamed: {index}" for index, name in enumerate(names)]
    taken, uses = set(result), Counter()
    for index in sorted(range(len(names)), key=lambda index: not names[index]):
        name = result[index]
        if uses[name]:
            numbered = (f"{name}.{number}" for number in itertools.count(uses[name]))
            result[index] = next(name for name in numbered if name not in taken)
            taken.add(result[index])
        uses[name] += 1
    return result


def _table_id(table_file: str) -> str:
    """Returns the reference's id: "table_csv/204-395.csv" for "csv/204-csv/395.csv"."""
    match = _TABLE_PATH.fullmatch(table_file)
    return f"table_csv/{match[1]}-{match[2]}" if match else table_file


def _question(row: Row, table: Table, mode: SupervisionMode) -> Question:
    """Makes the question of a row; it is invalid if its answer is not found."""
    question_id = create_question_id(create_interaction_id(row.id), 0)
    try:
        answer = parse_answer(table, GoldAnswer(row.answers), mode)
    except AnswerError as error:
        return Question(
            question_id, row.text, texts=row.answers, is_valid=False, problem=error.reason
        )
    return Question(
        question_id,
        row.text,
        answer.coordinates,
        answer.texts,
        float_value=answer.float_value,
    )
