"""The answer before: which rows it has, and how a question that refers to it is marked."""

from typing import Any

import numpy as np

from mate_tf.errors import InputError
from mate_tf.serving.answer import Answer
from mate_tf.serving.read_part import ReadPart


def rows_of(answer: Answer) -> set[int]:
    """Returns the rows of an answer's cells."""
    return {row for row, _ in answer.coordinates}


def check(previous: Any) -> None:
    """Raises InputError for what is not the answer to a question before, or None."""
    if previous is not None and not isinstance(previous, Answer):
        raise InputError(f"previous: expected an Answer or None, not {type(previous).__name__}")


def mark(previous: Answer, part: ReadPart, marked: bool) -> list[str]:
    """Marks the tokens of the previous answer; describes cells of it that are not read.

    `marked` is `mark_previous` of the ConversionConfig: shared words keep their marks.
    """
    rows, columns = part.cells(part.values["row_ids"], part.values["column_ids"])
    tokens = list(zip(rows.tolist(), columns.tolist(), strict=True))
    before = set(previous.coordinates)
    selected = np.array([cell in before for cell in tokens], np.int32)
    marks = part.values["prev_label_ids"] + 2 * selected if marked else selected
    part.values["prev_label_ids"] = marks
    forgotten = len(before - set(tokens))
    return [f"{forgotten} cells of the previous answer forgotten"] if forgotten else []
