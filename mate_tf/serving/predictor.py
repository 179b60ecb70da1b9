"""Questions in, answers out, from an exported model."""

import dataclasses
import functools
import json
import os

import numpy as np
import tensorflow as tf

from mate_tf.data import examples, interactions
from mate_tf.errors import InputError
from mate_tf.serving import export
from mate_tf.serving.signatures import SERVING_EXAMPLES
from mate_tf.tables.table import Table


@dataclasses.dataclass(frozen=True)
class AnswerCell:
    """A chosen cell. `row` and `column` count from 0; the header is not a row."""

    row: int
    column: int
    text: str
    probability: float


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a model says to a question.

    Attributes:
        cells: the chosen cells in table order.
        aggregation: operation over the cells, "NONE" for the cells themselves.
        value: number the operation gives, None without one.
        probability: mean probability of the chosen cells' own share, 0 without cells.
        text: the answer in words: the texts of the cells, separated by commas.
        cuts: what of the table did not fit, in words; empty if all of it was read.
    """

    cells: tuple[AnswerCell, ...]
    aggregation: str
    value: float | None
    probability: float
    text: str
    cuts: tuple[str, ...] = ()

    @property
    def coordinates(self) -> list[tuple[int, int]]:
        """(row, column) of each cell."""
        return [(cell.row, cell.column) for cell in self.cells]

    def to_json(self) -> dict:
        """The answer as plain JSON values."""
        return dataclasses.asdict(self)
