"""Summary of the user's own data: sizes of splits, kinds of answers, and the labels of classes."""

import collections
import dataclasses
import os
import pathlib
import random
from collections.abc import Iterable, Mapping

from mate_tf.data.datasets.custom.lines import Line, questions_path, read_lines, shown
from mate_tf.errors import InputError
from mate_tf.files.json_files import parse_json
from mate_tf.tables.files import read_text

LABELS_FILE = "labels.json"
SPLITS = ("train", "dev", "test")

DEV_SHARE = 0.1
"""Share of the tables of train.jsonl that are held out if there is no dev.jsonl."""


@dataclasses.dataclass(frozen=True)
class Size:
    """Size of a split: number of questions, and of tables that they are about."""

    questions: int
    tables: int

    def __str__(self):
        questions = "1 question" if self.questions == 1 else f"{self.questions} questions"
        tables = "1 table" if self.tables == 1 else f"{self.tables} tables"
        return f"{questions} about {tables}"


@dataclasses.dataclass(frozen=True)
class Summary:
    """Summary of a folder of the user's own data.

    Attributes:
        kinds: kinds of training answers: "class", or any of "cells", "text", "number".
        labels: names of the classes; a number is its own name.
        aggregates: True if a training answer is computed from its cells.
        sequential: True if there are conversations.
        splits: split -> size.
        held_out: tables of train.jsonl that are "dev", if there is no dev.jsonl.
    """

    kinds: frozenset[str]
    labels: tuple[str, ...]
    aggregates: bool
    sequential: bool
    splits: dict[str, Size]
    held_out: frozenset[str]

    @property
    def classifies(self) -> bool:
        """True if answers are classes."""
        return "class" in self.kinds

    @property
    def weakly_supervised(self) -> bool:
        """True if some training answers are given as text or number, without their cells."""
        return not self.kinds.isdisjoint(("text", "number"))

    @property
    def needs_aggregation(self) -> bool:
        """True if a model must predict operations, not only cells."""
        return self.aggregates or self.weakly_supervised

    def __str__(self):
        sizes = [
            f"{split}: {size}"
            + (" held out from train" if split == "dev" and self.held_out else "")
            for split, size in self.splits.items()
        ]
        answers = [*sorted(self.kinds), *(["aggregation"] if self.aggregates else [])]
        labels = [f"labels: {', '.join(self.labels)}"] if self.labels else []
        return "; ".join([*sizes, f"answers: {', '.join(answers)}", *labels])


def describe(input_dir: str | os.PathLike, *, seed: int = 0) -> Summary:
    """Reads all questions, without their tables, and returns the summary.

    Args:
        input_dir: the folder, see `data.datasets.custom`.
        seed: seed of the choice of tables that are held out.

    Raises:
        InputError: if a file is missing or a line is malformed; the message names the file, the
            line and the key.
    """
    input_dir = pathlib.Path(input_dir)
    survey = _Survey(input_dir)
    for split in SPLITS:
        if split == "train" or questions_path(input_dir, split).exists():
            survey.add(split)
    held_out = frozenset()
    if "dev" not in survey.questions:
        held_out = _held_out(survey.questions["train"], input_dir, seed)
    return survey.summary(held_out)


class _Survey:
    """Collection of the fields of a `Summary`, with checks that lines and files are consistent."""

    def __init__(self, input_dir: pathlib.Path):
        self.input_dir = input_dir
        self.questions: dict[str, collections.Counter[str]] = {}
        """Split -> table -> number of questions."""
        self.labels = _declared_labels(input_dir)
        self._first: Line | None = None
        self._kinds: set[str] = set()
        self._aggregates = self._sequential = False

    def add(self, split: str) -> None:
        """Reads a question file; "train" must be the first."""
        path = questions_path(self.input_dir, split)
        tables, result = collections.Counter(), {}
        for line in read_lines(path, split):
            if line.table not in tables and not os.path.isfile(self.input_dir / line.table):
                raise InputError(f"{line.where}: table: no file {line.table!r}")
            tables[line.table] += 1
            self._check_kind(line)
            self._sequential |= line.in_conversation
            if split == "train" and line.kind is not None:
                self._kinds.add(line.kind)
                self._aggregates |= line.is_computed
            if line.kind == "class":
                if self.labels:
                    class_index(line, self.labels)
                else:
                    result.setdefault(line.answer, line.where)
        self.questions[split] = tables
        if result:
            self.labels = _found_labels(result, path)

    def summary(self, held_out: frozenset[str]) -> Summary:
        """Returns the summary, with the `held_out` tables as "dev", if there are any."""
        counts = dict(self.questions)
        if held_out:
            tables = counts.pop("train")
            counts = {
                "train": {name: n for name, n in tables.items() if name not in held_out},
                "dev": {name: n for name, n in tables.items() if name in held_out},
            } | counts
        return Summary(
            kinds=frozenset(self._kinds),
            labels=self.labels if "class" in self._kinds else (),
            aggregates=self._aggregates,
            sequential=self._sequential,
            splits={name: Size(sum(n.values()), len(n)) for name, n in counts.items()},
            held_out=held_out,
        )

    def _check_kind(self, line: Line) -> None:
        """Raises InputError unless all answers are classes of one type, or none is a class."""
        if line.kind is None:
            return
        self._first = first = self._first or line
        if (line.kind == "class") != (first.kind == "class"):
            raise InputError(
                f"{line.where}: {line.kind}: {first.where} has {first.kind!r}; a data set either"
                " has classes or other answers"
            )
        if line.kind == "class" and type(line.answer) is not type(first.answer):
            raise InputError(
                f"{line.where}: class: {shown(line.answer)} has another type than"
                f" {shown(first.answer)} in {first.where}"
            )


def _held_out(tables: Iterable[str], input_dir: pathlib.Path, seed: int) -> frozenset[str]:
    """Draws the tables for "dev"."""
    tables = sorted(tables)
    if len(tables) < 2:
        raise InputError(
            f"{questions_path(input_dir, 'dev')}: no such file, and train.jsonl is about a single"
            " table, so none can be held out: put some of the questions into dev.jsonl"
        )
    return frozenset(random.Random(seed).sample(tables, max(1, round(DEV_SHARE * len(tables)))))


def _declared_labels(input_dir: pathlib.Path) -> tuple[str, ...]:
    """Reads the names in `labels.json`, at least two distinct ones; () if there is no such file."""
    path = input_dir / LABELS_FILE
    if not path.exists():
        return ()
    names = parse_json(read_text(path), str(path))
    if not isinstance(names, list) or not all(
        isinstance(name, str) and name.strip() for name in names
    ):
        raise InputError(f"{path}: expected a list of names")
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"{path}: expected two names or more, all different")
    return tuple(names)


def _found_labels(first_seen: Mapping[int | str, str], path: pathlib.Path) -> tuple[str, ...]:
    """Returns the names of the labels in a file; a number is its own name.

    `first_seen` has file and line of the first occurrence of each label. All labels must not be the
    same, and there must be no gaps between numbers.
    """
    labels = sorted(first_seen)
    if len(labels) < 2:
        raise InputError(f"{path}: class: all are {shown(labels[0])}; there is nothing to learn")
    if isinstance(labels[0], int):
        for index, label in enumerate(labels):
            if label != index:
                raise InputError(
                    f"{first_seen[label]}: class: {label} occurs but {index} does not; classes"
                    f" count from 0 without gaps, unless {LABELS_FILE} names them"
                )
    return tuple(map(str, labels))


def class_index(line: Line, labels: tuple[str, ...]) -> int:
    """Returns the class of a line, from 0.

    Raises:
        InputError: if the label is unknown.
    """
    if isinstance(line.answer, str) and line.answer in labels:
        return labels.index(line.answer)
    if isinstance(line.answer, int) and line.answer < len(labels):
        return line.answer
    raise InputError(
        f"{line.where}: class: {shown(line.answer)} is not one of the {len(labels)} labels"
        f" {', '.join(labels[:10])}{', …' if len(labels) > 10 else ''}"
    )
