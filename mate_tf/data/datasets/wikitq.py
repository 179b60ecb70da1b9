"""WikiTableQuestions (Pasupat and Liang, 2015): questions and the texts that answer them.

The official release: questions in `data/*.tsv`, tables in `csv/`. Which cells an answer comes from
is not in it: they are looked for, as google-research/tapas does (`answers.gold`).
"""

import itertools
import os
import pathlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from mate_tf.answers.gold import AnswerError, GoldAnswer, SupervisionMode, parse_answer
from mate_tf.data.interactions import (
    Question,
    create_interaction_id,
    create_question_id,
    interactions_of_single_questions,
)
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables.files import read_csv, read_text
from mate_tf.tables.table import Table
from mate_tf.tables.text import wtq_normalize

SPLITS = ("train", "dev", "test")
"""Names that `splits` resolves; files can also be read by their own names."""

COLUMNS = ("id", "utterance", "context", "targetValue")

_FILES = re.compile(
    r"training|pristine-(?:un)?seen-tables|random-split-[1-5]-(?:train|dev)", re.ASCII
)
_TABLE_PATH = re.compile(r"csv/([^/]+)-csv/([^/]+)")
_ESCAPE = re.compile(r"\\[np\\]")
_ESCAPED = {"\\n": "\n", "\\p": "|", "\\\\": "\\"}

# What pandas 1 takes for a missing value.
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
        id: of the question, for example "nt-12".
        text: the question.
        table_file: path of its table, relative to the data set.
        answers: texts of which the answer consists.
    """

    where: str
    id: str
    text: str
    table_file: str
    answers: tuple[str, ...]


def splits(random_split: int | None = 1) -> dict[str, str]:
    """File stems behind "train", "dev" and "test".

    Args:
        random_split: which of the five official divisions of the training file gives train and
            dev (the reference uses 1); None trains on all of `training.tsv` and has no dev.
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
    """Interactions of one question each, those about one table together.

    Ids are the reference's: question "nt-12-0_0" of interaction "nt-12-0", table
    "table_csv/204-395.csv" for `csv/204-csv/395.csv`. A question of a training file whose answer
    is in several cells is not valid, as nothing says which of them is meant; in other files the
    first is taken. Why an answer is not valid is in the question's `InvalidAnswer`.

    Args:
        input_dir: the directory with `data/` and `csv/`.
        split: one of `SPLITS`, or the stem of a file such as "pristine-seen-tables".
        random_split: see `splits`.
        original_cells: keep cells and column names as they are in the files. Otherwise they are
            what the reference makes of them, and the published checkpoints have seen: cells in
            the normal form of `text.wtq_normalize`, "nan" where there is none, and column names
            that are different from each other.

    Raises:
        InputError: the split is unknown, a file is missing or malformed; the message names the
            file and the line.
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
        if not path.is_file():
            raise InputError(f"{rows[0].where}: table file {path} does not exist")
        table = read_table(path, _table_id(table_file), original_cells=original_cells)
        questions = [_question(row, table, mode) for row in rows]
        yield from interactions_of_single_questions(table, questions)


def read_rows(path: str | os.PathLike) -> Iterator[Row]:
    """Lines of a question file, in its order, without their escapes.

    The reference reads them as CSV, where a quotation mark at the beginning of a field swallows
    what follows, sometimes whole lines; the format has no quoting.

    Raises:
        InputError: the file cannot be read, or a line has more or fewer fields than the header.
    """
    header, *lines = read_text(path).removesuffix("\n").split("\n")
    header = header.rstrip("\r").split("\t")
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise InputError(f"{path} line 1: missing column(s) {', '.join(missing)}")
    places = [header.index(name) for name in COLUMNS]
    for number, line in enumerate(lines, start=2):
        where = f"{path} line {number}"
        fields = line.rstrip("\r").split("\t")
        if len(fields) != len(header):
            raise InputError(f"{where}: {len(fields)} fields where the header has {len(header)}")
        question_id, text, table_file, target = (fields[place] for place in places)
        for name, value in (("id", question_id), ("question", text)):
            if not value.strip():
                raise InputError(f"{where}: there is no {name}")
        answers = tuple(map(unescape, target.split("|"))) if target else ()
        yield Row(where, question_id, unescape(text), table_file, answers)


def unescape(text: str) -> str:
    r"""Line break, | and \ for the escapes \n, \p and \\ of the files."""
    return _ESCAPE.sub(lambda match: _ESCAPED[match.group()], text)


def read_table(
    path: str | os.PathLike, table_id: str = "", *, original_cells: bool = False
) -> Table:
    r"""A table of the release, in which \" is a quotation mark and \\ a backslash.

    Args:
        path: the CSV file.
        table_id: of the table.
        original_cells: see `read`.

    Raises:
        InputError: as `Table.from_csv`.
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
    """Column names as pandas makes them: "Unnamed: 3" for none, "x.1" for the second "x"."""
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
    """The reference's id for "csv/204-csv/395.csv" is "table_csv/204-395.csv"."""
    match = _TABLE_PATH.fullmatch(table_file)
    return f"table_csv/{match[1]}-{match[2]}" if match else table_file


def _question(row: Row, table: Table, mode: SupervisionMode) -> Question:
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
