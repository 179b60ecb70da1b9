"""Reads five tasks of GLUE (Wang et al., 2018) from their official tsv files."""

import math
import os
import pathlib
from collections.abc import Iterator
from typing import NamedTuple

from mate_tf.data.converters.sequences.sequence import interaction
from mate_tf.data.datasets import tsv
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2

SPLITS = ("train", "dev", "test")
"""The test sets have no labels."""


class Format(NamedTuple):
    """Format of the files of a task.

    Attributes:
        folder: name of the folder.
        texts: columns of the one or two texts.
        label: column of the label in train.tsv and dev.tsv.
        labels: values of the label, class 0 first; empty if the label is a number.
        columns: all columns of train.tsv and dev.tsv, if these have no header.
    """

    folder: str
    texts: tuple[str, ...]
    label: str
    labels: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


COLA = Format("CoLA", ("sentence",), "label", ("0", "1"), ("source", "label", "mark", "sentence"))
SST_2 = Format("SST-2", ("sentence",), "label", ("0", "1"))
MRPC = Format("MRPC", ("#1 String", "#2 String"), "Quality", ("0", "1"))
STS_B = Format("STS-B", ("sentence1", "sentence2"), "score")
RTE = Format("RTE", ("sentence1", "sentence2"), "label", ("entailment", "not_entailment"))

_SCORES = (0.0, 5.0)


def read(
    input_dir: str | os.PathLike, split: str, form: Format
) -> Iterator[interaction_pb2.Interaction]:
    """Reads interactions of one sentence or pair each; the answer is the label, if there is one.

    Args:
        input_dir: folder with train.tsv, dev.tsv and test.tsv, or the folder of all tasks.
        split: one of `SPLITS`.
        form: format of the task.

    Raises:
        InputError: if the split is unknown, or a file is missing or malformed; the message names
            file and line.
    """
    if split not in SPLITS:
        raise InputError(f"{form.folder} has no split {split!r}, only {', '.join(SPLITS)}")
    folder = pathlib.Path(input_dir)
    folder = folder / form.folder if (folder / form.folder).is_dir() else folder
    labelled = split != "test"
    header = not (labelled and form.columns)
    needed = (*form.texts, *((form.label,) if labelled else ())) if header else form.columns
    rows = tsv.read(folder / f"{split}.tsv", needed, header=header)
    for number, (where, row) in enumerate(rows):
        texts = [row[column] for column in form.texts]
        if not all(text.strip() for text in texts):
            raise InputError(f"{where}: has an empty {' or '.join(form.texts)}")
        gold = _gold(where, row, form) if labelled else {}
        yield interaction(f"{form.folder}_{split}_{number}", texts, **gold)


def _gold(where: str, row: dict[str, str], form: Format) -> dict[str, int | float]:
    """Returns the label of a row, as argument of `sequence.interaction`."""
    text = row[form.label]
    if form.labels:
        return {"class_index": tsv.choice(where, form.label, text, form.labels)}
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    low, high = _SCORES
    if not low <= value <= high:
        raise InputError(f"{where}: {form.label} is {text!r}, expected a number from 0 to 5")
    return {"value": value}
