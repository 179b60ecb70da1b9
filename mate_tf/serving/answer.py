"""The answer of a model to one question, made of the outputs of its graph."""

import dataclasses
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from mate_tf import tables
from mate_tf.answers import computed, execution
from mate_tf.answers.derived import kinds
from mate_tf.answers.derived.reading import Derived
from mate_tf.answers.execution import AGGREGATIONS
from mate_tf.errors import InputError
from mate_tf.serving import answer_notes
from mate_tf.serving.prepared import PreparedTable
from mate_tf.tables.columns import Kind
from mate_tf.tables.table import Table


@dataclasses.dataclass(frozen=True)
class AnswerCell:
    """A selected cell. `row` and `column` count from 0; the header is not a row."""

    row: int
    column: int
    text: str
    probability: float


@dataclasses.dataclass(frozen=True)
class Answer:
    """Answer of a model to one question.

    Attributes:
        cells: the selected cells in table order.
        aggregation: operation over the cells: "NONE", "SUM", "AVERAGE" or "COUNT".
        value: result of the operation, in the unit of the cells, durations in seconds; a difference
            or a percentage; else None for "NONE", and for cells that cannot be computed.
        probability: probability of the answer. For a class: its probability. For cells that share
            one distribution (`cell_cross_entropy`): the sum of the cells' probabilities. For cells
            with independent probabilities: their mean. 0 without cells. Of cells that are
            computed over a whole table: the estimated probability that they are right.
        text: the answer as text: the value, the texts of the cells, separated by commas, "yes" or
            "no", each group with its value, or the name of the class.
        cuts: descriptions of the parts of table, question and previous answer that the model did
            not read; empty if it read everything.
        confidence: estimated share of right answers among those that the model is as sure of; None
            without a calibration (`Predictor.calibration`).
        answerable: False if nothing was selected, an operation has no result, or the probability
            that the table has an answer is below the calibration's threshold.
        notes: remarks in plain words: operations that the question asks for and the model does not
            have, cells that a sum or average leaves out, what the spelling of numbers and dates
            does not tell.
        table: the table that was asked about.
    """

    cells: tuple[AnswerCell, ...]
    aggregation: str
    value: float | None
    probability: float
    text: str
    cuts: tuple[str, ...] = ()
    confidence: float | None = None
    answerable: bool = True
    notes: tuple[str, ...] = ()
    table: Table | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def coordinates(self) -> list[tuple[int, int]]:
        """Returns (row, column) of each cell."""
        return [(cell.row, cell.column) for cell in self.cells]

    @property
    def rows(self) -> set[int]:
        """Returns the rows of the cells."""
        return {cell.row for cell in self.cells}

    def to_json(self) -> dict:
        """Returns the fields as a dict of plain JSON values."""
        without = dataclasses.replace(self, table=None)
        return {name: each for name, each in dataclasses.asdict(without).items() if name != "table"}

    def to_huggingface(self) -> dict:
        """Returns the dict that transformers' table-question-answering pipeline gives for TAPAS.

        Returns:
            coordinates and cells: (row, column) and text of each cell. aggregator: the operation.
            answer: the texts, separated by commas, after the operation if there is one, as in
            "SUM > 3, 4"; the result is not in it. Otherwise the text of this answer.
        """
        cells = [cell.text for cell in self.cells]
        operation = "" if self.aggregation == execution.NONE else f"{self.aggregation} > "
        is_of_cells = operation or self.text == computed.joined(cells)
        return {
            "answer": operation + ", ".join(cells) if cells and is_of_cells else self.text,
            "coordinates": self.coordinates,
            "cells": cells,
            "aggregator": self.aggregation,
        }

    def to_markdown(self) -> str:
        """Returns the answer in words and, below it, the table with its cells in bold."""
        lines = [answer_notes.in_words(self), *(f"note: {note}" for note in self.notes)]
        if self.table is not None:
            lines += ["", self.table.to_markdown(self.coordinates)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Returns the answer and the table with its cells marked, as HTML for notebooks."""
        lines = [f"<b>{escape(answer_notes.in_words(self))}</b>"]
        lines += [escape(note) for note in (*self.notes, *self.cuts)]
        shown = "" if self.table is None else tables.html.standalone(self.table, self.coordinates)
        return f"<p>{'<br>'.join(lines)}</p>{shown}"


def check_previous(previous: Any) -> None:
    """Raises InputError for what is not the answer to a question before, or None."""
    if previous is not None and not isinstance(previous, Answer):
        raise InputError(f"previous: expected an Answer or None, not {type(previous).__name__}")


def from_cells(
    prepared: PreparedTable,
    outputs: dict[str, np.ndarray],
    cuts: Sequence[str] = (),
) -> Answer:
    """Returns the selected cells, and the result of the operation on them, as an answer.

    Args:
        prepared: the table.
        outputs: outputs of `ServingModule.serving_examples` for one example, without batch axis:
            cell_probabilities <float32>[rows, columns], selected <int32>[rows, columns],
            probability <float32>[] and, if the model aggregates, aggregation_probabilities
            <float32>[operations].
        cuts: for `Answer.cuts`.
    """
    table = prepared.table
    cells = tuple(
        AnswerCell(
            row, column, table.rows[row][column], float(outputs["cell_probabilities"][row, column])
        )
        for row, column in np.argwhere(outputs["selected"]).tolist()
    )
    aggregation = execution.NONE
    if "aggregation_probabilities" in outputs:
        aggregation = AGGREGATIONS[int(np.argmax(outputs["aggregation_probabilities"]))]
    computation = computed.compute(
        aggregation,
        [(cell.row, cell.column, cell.text) for cell in cells],
        prepared.columns,
        table.columns,
        prepared.totals,
    )
    return Answer(
        cells=cells,
        aggregation=aggregation,
        value=computation.value,
        probability=float(outputs["probability"]),
        text=computation.text,
        cuts=tuple(cuts),
        answerable=computation.is_answer,
        notes=computation.notes,
    )


def from_class(
    probabilities: np.ndarray, class_names: Sequence[str], cuts: Sequence[str] = ()
) -> Answer:
    """Returns the most probable class as an answer.

    Args:
        probabilities: <float32>[classes].
        class_names: names of the classes; without them the answer is the number of the class.
        cuts: for `Answer.cuts`.
    """
    index = int(np.argmax(probabilities))
    return Answer(
        cells=(),
        aggregation=execution.NONE,
        value=None,
        probability=float(probabilities[index]),
        text=class_names[index] if index < len(class_names) else str(index),
        cuts=tuple(cuts),
    )


def from_derived(prepared: PreparedTable, found: Derived) -> Answer:
    """Returns what was derived from several sets of rows as an answer.

    Args:
        prepared: the table.
        found: what was derived.
    """
    table = prepared.table
    cells = (
        AnswerCell(row, found.column, table.rows[row][found.column], 1.0) for row in found.rows
    )
    used = sorted({*found.program.columns, *found.columns, found.column})
    read = [(table.columns[n], prepared.columns[n]) for n in used]
    values = [each for each in read if each[1].kind is not Kind.TEXT]
    remarks = answer_notes.describe_gaps(values, prepared.totals, "have no {} and are left out")
    return Answer(
        cells=tuple(cells),
        aggregation=execution.NONE,
        value=found.value,
        probability=kinds.CONFIDENCE,
        text=found.text,
        cuts=(*filter(None, [table.unread]), *prepared.unknown_words),
        confidence=kinds.CONFIDENCE,
        notes=(f"computed over all rows: {found.note}", *remarks, *table.remarks),
        table=table,
    )
