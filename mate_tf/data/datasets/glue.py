"""Reads the nine tasks of GLUE (Wang et al., 2018) and its diagnostics from the official tsv files.

Quotes are characters like others in these files. Eleven rows of QQP are broken into two lines each,
where a question has a line end, and three have an empty question; such lines are left out.
"""

import math
import os
import pathlib
import types
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mate_tf.data.converters.sequences import interaction
from mate_tf.data.datasets import tsv
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2

SPLITS = ("train", "dev", "test")
"""The test sets have no labels."""

FILES = types.MappingProxyType({split: f"{split}.tsv" for split in SPLITS})
"""Split -> name of its file."""

AX = "ax"
"""Split of MNLI with GLUE's diagnostics, which have no labels."""

BROKEN = "broken lines"
"""Kind of `Examples.defects`."""


class Format(NamedTuple):
    """Format of the files of a task.

    Attributes:
        folder: name of the folder.
        texts: columns of the one or two texts.
        label: column of the label in the training and dev files.
        labels: values of the label, class 0 first; empty if the label is a number.
        columns: all columns of train.tsv and dev.tsv, if these have no header.
        files: split -> name of its file.
        broken_lines: number of lines of a training or dev file that may be broken. Broken lines are
            those with another number of cells, an empty text or another label.
    """

    folder: str
    texts: tuple[str, ...]
    label: str
    labels: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    files: Mapping[str, str] = FILES
    broken_lines: int = 0


_PAIR = ("sentence1", "sentence2")
_MNLI_FILES = {
    "train": "train.tsv",
    "dev": "dev_matched.tsv",
    "dev_mismatched": "dev_mismatched.tsv",
    "test": "test_matched.tsv",
    "test_mismatched": "test_mismatched.tsv",
}

COLA = Format("CoLA", ("sentence",), "label", ("0", "1"), ("source", "label", "mark", "sentence"))
SST_2 = Format("SST-2", ("sentence",), "label", ("0", "1"))
MRPC = Format("MRPC", ("#1 String", "#2 String"), "Quality", ("0", "1"))
STS_B = Format("STS-B", _PAIR, "score")
RTE = Format("RTE", _PAIR, "label", ("entailment", "not_entailment"))
WNLI = Format("WNLI", _PAIR, "label", ("0", "1"))
QNLI = Format("QNLI", ("question", "sentence"), "label", RTE.labels, broken_lines=100)
QQP = Format("QQP", ("question1", "question2"), "is_duplicate", ("0", "1"), broken_lines=100)
MNLI = Format(
    "MNLI",
    _PAIR,
    "gold_label",
    ("contradiction", "entailment", "neutral"),
    files=types.MappingProxyType(_MNLI_FILES),
    broken_lines=100,
)

_DIAGNOSTICS = ("diagnostic/diagnostic.tsv", "diagnostic.tsv", "AX.tsv")
_SCORES = (0.0, 5.0)
_INDICES = ("index", "id")  # columns with the number of a test example


class Examples:
    """Interactions of one sentence or pair each, in the order of the official file.

    The answer is the label, if there is one. A test example keeps the index of its line, which
    submissions repeat. Test examples with an empty text stay in formats with broken lines, but give
    no TF example.

    Args:
        split: its split; those that begin with train or dev have labels.

    Attributes:
        defects: broken lines that were left out, kind -> messages; complete at the end of an
            iteration.
    """

    def __init__(self, path: pathlib.Path, split: str, form: Format):
        self.defects: dict[str, list[str]] = {}
        self._path, self._split, self._form = path, split, form
        self._labelled = split.startswith(("train", "dev"))

    def __iter__(self) -> Iterator[interaction_pb2.Interaction]:
        """Yields the interactions.

        Raises:
            InputError: if the file is missing or malformed, or more lines are broken than the
                format allows; the message names file and line.
        """
        form, index = self._form, -1
        self.defects.clear()
        needed, header = (*form.texts, *((form.label,) if self._labelled else ())), True
        if self._labelled and form.columns:
            needed, header = form.columns, False
        tolerant = self._labelled and form.broken_lines
        broken = self._leave_out if tolerant else None
        rows = tsv.read(self._path, needed, header=header, broken=broken)
        for number, (where, row) in enumerate(rows):
            texts = [row[column] for column in form.texts]
            try:
                if self._labelled or not form.broken_lines:
                    _check_texts(where, texts, form)
                gold = _gold(where, row, form) if self._labelled else {}
                index = number if self._labelled else _index(where, row, index)
            except InputError as error:
                if not tolerant:
                    raise
                self._leave_out(error)
                continue
            yield interaction(f"{form.folder}_{self._split}_{index}", texts, **gold)

    def _leave_out(self, error: InputError) -> None:
        """Counts a broken line; raises the first error if there are too many."""
        messages = self.defects.setdefault(BROKEN, [])
        messages.append(str(error))
        if len(messages) > self._form.broken_lines:
            raise InputError(f"{messages[0]}; more than {self._form.broken_lines} lines are broken")


def read(input_dir: str | os.PathLike, split: str, form: Format) -> Examples:
    """Reads interactions of one sentence or pair each; the answer is the label, if there is one.

    Args:
        input_dir: folder with the files of the task, or the folder of all tasks.
        split: a key of `form.files`, or `AX` for the file of `find_diagnostics`.

    Raises:
        InputError: if the split is unknown; for others see `Examples`.
    """
    if split == AX and form is MNLI:
        path = find_diagnostics(input_dir)
        if path is None:
            raise InputError(f"{input_dir}: has no {_DIAGNOSTICS[0]}")
        return Examples(path, split, form)
    if split not in form.files:
        raise InputError(f"{form.folder} has no split {split!r}, only {', '.join(form.files)}")
    return Examples(_folder(input_dir, form) / form.files[split], split, form)


def find_diagnostics(input_dir: str | os.PathLike) -> pathlib.Path | None:
    """Returns the file of GLUE's diagnostics (AX) in MNLI's folder or next to it, or None."""
    folder = _folder(input_dir, MNLI)
    folders = [folder, *([folder.parent] if folder.name == MNLI.folder else [])]
    paths = (each / name for each in folders for name in _DIAGNOSTICS)
    return next((path for path in paths if path.is_file()), None)


def _folder(input_dir: str | os.PathLike, form: Format) -> pathlib.Path:
    """Returns the folder of a task, which is the given one or in it."""
    folder = pathlib.Path(input_dir)
    return folder / form.folder if (folder / form.folder).is_dir() else folder


def _check_texts(where: str, texts: list[str], form: Format) -> None:
    if not all(text.strip() for text in texts):
        raise InputError(f"{where}: has an empty {' or '.join(form.texts)}")


def _index(where: str, row: dict[str, str], last: int) -> int:
    """Returns the index of a test example, which is greater than the last one."""
    name = next((name for name in _INDICES if name in row), None)
    if name is None:
        return last + 1
    text = row[name]
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > last):
        raise InputError(f"{where}: {name} is {text!r}, expected a number above {last}")
    return int(text)


def _gold(where: str, row: dict[str, str], form: Format) -> dict[str, Any]:
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
