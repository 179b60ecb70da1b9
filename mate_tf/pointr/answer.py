"""The answer of POINTR: a span of the text of a cell, or of a text about it."""

import dataclasses

import numpy as np

from mate_tf.answers.execution import NONE
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.tables.table import Table


@dataclasses.dataclass(frozen=True)
class PointrAnswer:
    """An answer and its cell.

    Attributes:
        text: the answer as it is written in the cell or passage; "" if the reader found none.
        row, column: coordinates of the cell, from 0, without the header.
        cell: the cell's text.
        passage: identifier of the linked passage with the answer; None if the cell has it.
        sentence: the sentence of the passage with the answer, or the cell's text.
        cell_probability: P(cell), from the first stage.
        span_probability: P(span | cell), from the second stage.
        probabilities: <float32>[rows, columns], P(cell) of every cell; 0 for cells that did not
            fit into the model.
        confidence: estimated share of right answers among those with this probability; None
            without a calibration.
        cuts: descriptions of the parts of the input that did not fit.
    """

    text: str
    row: int
    column: int
    cell: str
    passage: str | None
    sentence: str
    cell_probability: float
    span_probability: float
    # Arrays have no single truth value, so comparisons of answers leave them out.
    probabilities: np.ndarray = dataclasses.field(compare=False, repr=False)
    cuts: tuple[str, ...] = ()
    confidence: float | None = None

    @property
    def answerable(self) -> bool:
        """Returns whether there is an answer."""
        return bool(self.text)

    @property
    def probability(self) -> float:
        """P(cell) * P(span | cell)."""
        return self.cell_probability * self.span_probability

    @property
    def notes(self) -> tuple[str, ...]:
        """Says where the answer was read."""
        where = f"the text about {self.cell!r}" if self.passage else "the cell"
        return (f"read in {where}: {self.sentence}",) if self.answerable else ()

    @property
    def coordinates(self) -> list[tuple[int, int]]:
        """List with the coordinates of the cell, for `Table.render`."""
        return [(self.row, self.column)]

    def best_cells(self, count: int = 5) -> list[tuple[int, int, float]]:
        """Returns (row, column, probability) of the `count` most probable cells, best first."""
        return [(*cell, probability) for cell, probability in ranked(self.probabilities)[:count]]

    def to_json(self) -> dict:
        """Returns the answer as JSON values, with `best_cells` instead of all probabilities."""
        values = dataclasses.asdict(self)
        del values["probabilities"]
        return values | {"cells": self.best_cells()}

    def as_answer(self, table: Table) -> Answer:
        """Returns it as the answers of other models are."""
        cell = AnswerCell(self.row, self.column, self.cell, self.cell_probability)
        return Answer(
            cells=(cell,),
            aggregation=NONE,
            value=None,
            probability=self.probability,
            text=self.text,
            cuts=self.cuts,
            confidence=self.confidence,
            answerable=self.answerable,
            notes=self.notes,
            table=table,
        )


def ranked(probabilities: np.ndarray) -> list[tuple[tuple[int, int], float]]:
    """Returns all (cell, probability), best first. Equal probabilities keep the table's order.

    Args:
        probabilities: <float32>[rows, columns].
    """
    order = np.argsort(-probabilities, axis=None, kind="stable")
    cells = zip(*np.unravel_index(order, probabilities.shape), strict=True)
    return [((int(row), int(col)), float(probabilities[row, col])) for row, col in cells]
