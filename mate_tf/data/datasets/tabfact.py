"""Reads TabFact (Chen et al., 2020): statements that Wikipedia tables entail or refute.

The official repository has tables in `data/all_csv/`, lists of tables in `data/*_id.json`, the
original statements in `collected_data/`, and lower-cased and lemmatized statements in
`tokenized_data/`.
"""

import os
import pathlib
from collections.abc import Iterator

from mate_tf.data.interactions import (
    Question,
    create_interaction_id,
    create_question_id,
    interactions_of_single_questions,
)
from mate_tf.errors import InputError
from mate_tf.files.json_files import parse_json
from mate_tf.protos import interaction_pb2
from mate_tf.tables.files import read_text
from mate_tf.tables.table import Table

REFUTED, ENTAILED = 0, 1
"""Values of `class_index`."""

SPLITS = ("train", "dev", "test", "test_simple", "test_complex", "test_small")
"""Splits; "dev" is called "val" in the official files."""

# Split -> official name of its statements, and of the list of tables if that is another.
_FILES = {
    "train": ("train",),
    "dev": ("val",),
    "test": ("test",),
    "test_simple": ("test", "simple_test"),
    "test_complex": ("test", "complex_test"),
    "test_small": ("test", "small_test"),
}
_RAW_FILES = ("r1_training_all.json", "r2_training_all.json")  # of all splits


def tables_path(input_dir: str | os.PathLike, split: str) -> pathlib.Path:
    """Returns the path of the official list of a split's tables."""
    return pathlib.Path(input_dir) / "data" / f"{_FILES[split][-1]}_id.json"


def read(
    input_dir: str | os.PathLike, split: str, *, raw: bool | None = None
) -> Iterator[interaction_pb2.Interaction]:
    """Reads interactions of one statement each, in the order of the official list of tables.

    Ids are those of the reference: statement 3 about table "t.csv" is question "t.csv_3-0_0" of
    interaction "t.csv_3-0", and its table is "table_csv/t.csv". The caption becomes the document
    title.

    Args:
        input_dir: the directory with `data/` and `tokenized_data/` or `collected_data/`.
        raw: True reads the original statements, like the reference; False reads the lemmatized
            ones; None reads the original ones if `collected_data/` exists. A model trained on one
            kind does not work for the other.

    Raises:
        InputError: if the split is unknown, or a file is missing or malformed; the message names
            the file and the table.
    """
    if split not in SPLITS:
        raise InputError(f"TabFact has no split {split!r}, only {', '.join(SPLITS)}")
    input_dir = pathlib.Path(input_dir)
    raw = (input_dir / "collected_data").is_dir() if raw is None else raw
    official = _FILES[split]
    if raw:
        sources = [input_dir / "collected_data" / name for name in _RAW_FILES]
    else:
        sources = [input_dir / "tokenized_data" / f"{official[0]}_examples.json"]
    statements = {}
    for source in sources:  # the two files of collected_data/ have different tables
        statements.update(_read_json(source, dict))
    list_path = tables_path(input_dir, split)
    for table_id in _read_json(list_path, list):
        if table_id not in statements:
            named = " and ".join(map(str, sources))
            raise InputError(f"{list_path}: table {table_id!r} has no statements in {named}")
        where = f"{sources[-1]}: table {table_id!r}"
        path = input_dir / "data" / "all_csv" / table_id
        yield from _interactions(path, *_statements(where, statements[table_id]))


def _interactions(
    path: pathlib.Path, texts: list[str], labels: list[int], caption: str
) -> Iterator[interaction_pb2.Interaction]:
    """Makes one interaction per statement, so that no statement is another's previous question."""
    table_id = path.name
    table = Table.from_csv(path, caption, delimiter="#", table_id=f"table_csv/{table_id}")
    questions = [
        Question(
            create_question_id(create_interaction_id(f"{table_id}_{index}"), 0),
            text,
            class_index=label,
        )
        for index, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    yield from interactions_of_single_questions(table, questions)


def _statements(where: str, content) -> tuple[list[str], list[int], str]:
    """Returns the checked statements, labels and caption of an entry; raises InputError."""
    if not isinstance(content, list) or len(content) != 3:
        raise InputError(f"{where}: expected [statements, labels, caption]")
    texts, labels, caption = content
    if not _all(texts, lambda text: isinstance(text, str) and text.strip()):
        raise InputError(f"{where}: the statements are not a list of texts")
    if not _all(labels, lambda label: type(label) is int and label in (REFUTED, ENTAILED)):
        raise InputError(f"{where}: the labels are not a list of 0 (refuted) and 1 (entailed)")
    if len(texts) != len(labels):
        raise InputError(f"{where}: {len(texts)} statements but {len(labels)} labels")
    if not isinstance(caption, str):
        raise InputError(f"{where}: the caption is not text")
    return texts, labels, caption


def _all(values, condition) -> bool:
    """Returns True for a list with values that all meet a condition."""
    return isinstance(values, list) and all(map(condition, values))


def _read_json(path: pathlib.Path, kind: type):
    """Reads a JSON file with an object (dict) or a list; raises InputError for other files."""
    content = parse_json(read_text(path), str(path))
    if not isinstance(content, kind):
        raise InputError(f"{path}: expected {'an object' if kind is dict else 'a list'} of tables")
    return content
