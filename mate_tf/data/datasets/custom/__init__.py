"""Reads the user's own tables and questions: a folder of tables and a file of questions per split.

```
my_data/
  train.jsonl                  questions for training
  dev.jsonl                    optional; without it a tenth of the tables of train.jsonl is held out
  test.jsonl                   optional; its questions may lack answers
  labels.json                  optional, for classification: ["refuted", "entailed"]
  tables/cities.csv            .csv, .tsv and .json (see `Table.from_json`), in any sub-folder
```

Each line of a question file is a JSON object:

```
{"table": "tables/cities.csv", "question": "Which city is largest?", "cells": [[2, 0]]}
{"table": "tables/cities.csv", "question": "Which cities are in Italy?", "text": ["Rome", "Bari"]}
{"table": "tables/cities.csv", "question": "How many live in Italy?", "number": 3076000}
{"table": "tables/cities.csv", "question": "How many live in Italy?",
 "cells": [[0, "Population"], [3, "Population"]], "aggregation": "SUM"}
{"table": "tables/cities.csv", "question": "Bern is in Italy.", "class": "refuted"}
```

table: path of the table in the folder.
question: the question, or for classification the statement.
cells: the answer's cells as [row, column], both from 0 and without the header; the column may also
    be given by its name.
text: the answer as one text or several texts; its cells are found in the table.
number: the answer as a number, in the table or computed from it.
class: the label, a name or a number from 0. Names are those of `labels.json`, or without it all
    names in train.jsonl in alphabetical order.
aggregation: operation over the cells, "SUM", "AVERAGE", "COUNT" or "NONE".
id: optional name of the question, unique in its file. Question "x" is "x-0_0" in predictions.
conversation: optional; consecutive lines with the same value are questions of one conversation
    about one table, and may refer to the previous answer. In predictions they are
    "<conversation>-0_0", "<conversation>-0_1", …
title: optional title of the table's document.

A question has one of cells, text, number and class. A data set with classes has no other answers.
Keys with the value null are ignored, and so are keys that begin with "_".
"""

import dataclasses
import functools
import itertools
import os
import pathlib
from collections.abc import Iterator

from mate_tf.data.datasets.custom.answers import Answers
from mate_tf.data.datasets.custom.lines import Line, questions_path, read_lines
from mate_tf.data.datasets.custom.summary import SPLITS, Size, Summary, describe
from mate_tf.data.interactions import interaction_from_table, interactions_of_single_questions
from mate_tf.errors import InputError
from mate_tf.lazy import on_first_use
from mate_tf.protos import interaction_pb2
from mate_tf.tables.table import Table

__all__ = ["SPLITS", "Size", "Summary", "describe", "read"]

__getattr__, __dir__ = on_first_use(__name__)

_READERS = {".csv": Table.from_csv, ".tsv": Table.from_tsv, ".json": Table.from_json}
_TABLES_IN_MEMORY = 64
_LINES_TOGETHER = 500


def read(
    input_dir: str | os.PathLike, split: str, *, seed: int = 0
) -> Iterator[interaction_pb2.Interaction]:
    """Reads the interactions of a split in order, one per question or conversation.

    Given cells are used unchanged. The cells of texts and numbers are found in the table by the
    rules of `answers.gold`, in "train" by the strict ones. A question is marked as invalid if its
    answer is not found. In weakly supervised data, an answer computed from cells has its number
    only, since answer cells then are cells that contain the answer.

    Args:
        input_dir: the folder, see the top of this module.
        split: "train", "dev" or "test".
        seed: seed of the choice of tables that are held out.

    Raises:
        InputError: see `describe`; also if a table cannot be read or lacks a cell.
    """
    if split not in SPLITS:
        raise InputError(f"there is no split {split!r}, only {', '.join(SPLITS)}")
    input_dir = pathlib.Path(input_dir)
    summary = describe(input_dir, seed=seed)
    source = "train" if split == "dev" and summary.held_out else split
    tables = functools.lru_cache(_TABLES_IN_MEMORY)(functools.partial(_read_table, input_dir))
    answers = Answers(summary, strict=split == "train")
    lines = read_lines(questions_path(input_dir, source), source)
    for _, group in itertools.groupby(lines, _group_key):
        first, *others = group
        if source == "train" and (first.table in summary.held_out) != (split == "dev"):
            continue
        try:
            table = tables(first.table)
        except InputError as error:
            raise InputError(f"{first.where}: table: {error}") from error
        table = dataclasses.replace(table, title=first.title or table.title)
        questions = [answers.question(line, table) for line in (first, *others)]
        if first.in_conversation:
            yield interaction_from_table(table, first.interaction_id, questions)
        else:
            yield from interactions_of_single_questions(table, questions)


def _group_key(line: Line):
    """Returns a key that is equal for lines that are converted in one step.

    These are the lines of a conversation, or consecutive questions about one table.
    """
    if line.in_conversation:
        return line.interaction_id
    return line.table, line.title, line.number // _LINES_TOGETHER


def _read_table(input_dir: pathlib.Path, name: str) -> Table:
    """Reads a table by its path in the folder."""
    path = input_dir / name
    return dataclasses.replace(_READERS[path.suffix.lower()](path), table_id=name)
