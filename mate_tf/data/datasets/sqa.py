"""Reads Sequential Question Answering (SQA; Iyyer et al., 2017) from the official files.

The files are tab-separated with quoting, since questions may contain tabs and newlines. Tables are
in `table_csv/`. An interaction is a sequence of questions by one annotator.
"""

import ast
import csv
import dataclasses
import io
import itertools
import os
import pathlib
import re
from collections.abc import Iterator

from mate_tf.data.interactions import Question, create_question_id, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.protos import interaction_pb2
from mate_tf.tables.table import Table

REQUIRED_COLUMNS = (
    "id",
    "annotator",
    "position",
    "question",
    "table_file",
    "answer_coordinates",
    "answer_text",
)
# Other data sets in this format also have "aggregation" and "float_answer". Rows may lack these.

_COORDINATE = re.compile(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)")


def splits(random_split: int | None = 1) -> dict[str, str]:
    """Returns the file stems of "train", "dev" and "test".

    Args:
        random_split: number, from 1 to 5, of the official division of the training file into train
            and dev (the reference uses 1). None: train is all of `train.tsv`, and there is no dev.
    """
    if random_split is None:
        return {"train": "train", "test": "test"}
    if random_split not in range(1, 6):
        raise InputError(f"SQA has random splits 1 to 5, not {random_split}")
    stem = f"random-split-{random_split}"
    return {"train": f"{stem}-train", "dev": f"{stem}-dev", "test": "test"}


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of a question file, parsed.

    Attributes:
        where: file and line, for messages.
        sequence: "<id>-<annotator>", the id of the interaction.
        position: position in the sequence, from 0.
        text: the question.
        table_file: path of the table, relative to the data set.
        coordinates: answer cells as (row, column), sorted; data rows count from 0.
        texts: the answers as text.
        aggregation: "NONE", "SUM", "AVERAGE" or "COUNT", if the file has it.
        float_answer: the answer as a number, if the file has it.
    """

    where: str
    sequence: str
    position: int
    text: str
    table_file: str
    coordinates: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]
    aggregation: str | None = None
    float_answer: float | None = None


def read(input_dir: str | os.PathLike, split: str) -> Iterator[interaction_pb2.Interaction]:
    """Reads the interactions of one file in order, with questions sorted by position.

    Ids are those of the reference: interactions "<id>-<annotator>", questions
    "<interaction>_<position>", and for tables the path of their file. Cells have the texts of the
    CSV, unchanged.

    Args:
        input_dir: the directory with `train.tsv`, `test.tsv`, … and `table_csv/`.
        split: file stem, for example "test" or "random-split-1-dev" (see `splits`).

    Raises:
        InputError: if a file is missing, a row is malformed, or an answer is outside its table;
            the message names the file and the line.
    """
    input_dir = pathlib.Path(input_dir)
    tables = {}
    # In the official files the rows of a sequence are adjacent, but the format does not require it.
    rows = sorted_by_sequence(read_rows(input_dir / f"{split}.tsv"))
    for sequence, group in itertools.groupby(rows, key=lambda row: row.sequence):
        group = list(group)
        yield _interaction(sequence, group, _table_of(group, input_dir, tables))


def sorted_by_sequence(rows) -> list[Row]:
    """Sorts rows by sequence, in order of first appearance, and by position in the sequence."""
    rows = list(rows)
    first = {}
    for row in rows:
        first.setdefault(row.sequence, len(first))
    return sorted(rows, key=lambda row: (first[row.sequence], row.position))


def read_rows(path: str | os.PathLike) -> Iterator[Row]:
    """Reads the rows of a question file in order.

    Raises:
        InputError: if the file is missing or a row is malformed.
    """
    try:
        with io.TextIOWrapper(paths.open_regular(path), "utf-8", newline="") as file:
            reader = csv.reader(file, delimiter="\t", strict=True)
            header = next(reader, [])
            missing = [name for name in REQUIRED_COLUMNS if name not in header]
            if missing:
                raise InputError(f"{path} line 1: missing column(s) {', '.join(missing)}")
            line = reader.line_num + 1
            for values in reader:
                if values:  # [] for an empty line
                    yield _row(f"{path} line {line}", header, values)
                line = reader.line_num + 1  # a quoted question may span several lines
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a UTF-8 tab-separated file ({error})") from error


def _row(where, header, values):
    """Parses a row; raises InputError if it is malformed."""
    required = max(header.index(name) for name in REQUIRED_COLUMNS) + 1
    if not required <= len(values) <= len(header):
        raise InputError(f"{where}: {len(values)} fields where the header has {len(header)}")
    fields = dict(zip(header, values, strict=False))
    if not fields["position"].isdigit():
        raise InputError(f"{where}: position {fields['position']!r} is not a number")
    return Row(
        where=where,
        sequence=f"{fields['id']}-{fields['annotator']}",
        position=int(fields["position"]),
        text=fields["question"],
        table_file=fields["table_file"],
        coordinates=_parse_coordinates(where, fields["answer_coordinates"]),
        texts=tuple(_parse_list(where, "answer_text", fields["answer_text"])),
        aggregation=_parse_aggregation(where, fields.get("aggregation", "").strip()),
        float_answer=_parse_number(where, fields.get("float_answer", "").strip()),
    )


def _parse_list(where, column, text):
    """Parses a Python list of strings, the format of lists in the official files."""
    try:
        values = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        values = None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{where}: {column} is not a list of strings: {text[:80]}")
    return values


def _parse_coordinates(where, text):
    """Parses a list of "(row, column)"; returns distinct coordinates, sorted."""
    coordinates = set()
    for value in _parse_list(where, "answer_coordinates", text):
        match = _COORDINATE.fullmatch(value.strip())
        if not match:
            raise InputError(f"{where}: answer coordinate {value!r} is not '(row, column)'")
        coordinates.add((int(match[1]), int(match[2])))
    return tuple(sorted(coordinates))


def _parse_aggregation(where, text):
    """Returns the name of an operation; None for an empty text."""
    names = interaction_pb2.Answer.AggregationFunction.keys()
    if text and text.upper() not in names:
        raise InputError(f"{where}: aggregation {text!r} is not one of {', '.join(names)}")
    return text.upper() or None


def _parse_number(where, text):
    """Returns a number; None for an empty text."""
    try:
        return float(text) if text else None
    except ValueError as error:
        raise InputError(f"{where}: float_answer {text!r} is not a number") from error


def _table_of(rows, input_dir, tables):
    """Returns the table of a sequence; each table is read once."""
    first = rows[0]
    for before, row in itertools.pairwise(rows):
        if row.table_file != first.table_file:
            raise InputError(f"{row.where}: sequence {row.sequence} changes its table")
        if row.position == before.position:
            raise InputError(f"{row.where}: position {row.position} of {row.sequence} repeats")
    if first.table_file not in tables:
        path = input_dir / first.table_file
        if not os.path.isfile(path):
            raise InputError(f"{first.where}: table file {path} does not exist")
        tables[first.table_file] = Table.from_csv(path, delimiter=",", table_id=first.table_file)
    return tables[first.table_file]


def _interaction(sequence, rows, table):
    """Makes the interaction of a sequence; raises InputError for answers outside the table."""
    for row in rows:
        for row_index, column_index in row.coordinates:
            if row_index >= len(table.rows) or column_index >= len(table.columns):
                raise InputError(
                    f"{row.where}: answer ({row_index}, {column_index}) lies outside "
                    f"{row.table_file} ({len(table.rows)} rows, {len(table.columns)} columns)"
                )
    questions = [
        Question(
            create_question_id(sequence, row.position),
            row.text,
            row.coordinates,
            row.texts,
            aggregation=row.aggregation,
            float_value=row.float_answer,
        )
        for row in rows
    ]
    return interaction_from_table(table, sequence, questions)
