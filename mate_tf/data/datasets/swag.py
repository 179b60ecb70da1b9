"""Reads SWAG (Zellers et al., 2018), choice of one of four endings, from the official csv files."""

import os
import pathlib
from collections.abc import Iterator

from mate_tf.data.converters.sequences import interaction
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables import files

ENDINGS = ("ending0", "ending1", "ending2", "ending3")
"""Columns of the choices."""

_FIRST, _START, _LABEL = "sent1", "sent2", "label"
_STEMS = {"train": "train", "dev": "val", "test": "test"}


def read(input_dir: str | os.PathLike, split: str) -> Iterator[interaction_pb2.Interaction]:
    """Reads interactions of a sentence and four choices for the next sentence.

    A choice is the beginning of the second sentence (sent2) and one of the endings. The class is
    the index of the right choice. The test set has no classes.

    Args:
        input_dir: folder with train.csv, val.csv and test.csv.
        split: "train", "dev" (val.csv) or "test".

    Raises:
        InputError: if the split is unknown, or a file is missing or malformed; the message names
            file and row.
    """
    if split not in _STEMS:
        raise InputError(f"SWAG has no split {split!r}, only {', '.join(_STEMS)}")
    path = pathlib.Path(input_dir) / f"{_STEMS[split]}.csv"
    header, rows = files.read_csv(path, ",")
    labelled = split != "test"
    needed = (_FIRST, _START, *ENDINGS, *([_LABEL] if labelled else []))
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(f"{path}: the header lacks the column(s) {', '.join(missing)}")
    indices = [header.index(name) for name in needed]
    for number, row in enumerate(rows):
        first, start, *endings = (row[index] for index in indices)
        where = f"{path}: row {number + 1}"
        label = _label(endings.pop(), where) if labelled else None
        for name, text in ((_FIRST, first), *zip(ENDINGS, endings, strict=True)):
            if not text.strip():
                raise InputError(f"{where}: {name} is empty")
        choices = [f"{start} {ending}".strip() for ending in endings]
        yield interaction(f"swag_{split}_{number}", [first, *choices], class_index=label)


def _label(text: str, where: str) -> int:
    """Returns the class; raises InputError for other texts."""
    if text not in map(str, range(len(ENDINGS))):
        raise InputError(
            f"{where}: {_LABEL} is {text!r}, expected a number from 0 to {len(ENDINGS) - 1}"
        )
    return int(text)
