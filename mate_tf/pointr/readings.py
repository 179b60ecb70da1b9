"""Spans that the second stage reads in selected cells, and the choice among them."""

import collections
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.errors import InputError
from mate_tf.evaluation.hybridqa_answers import official_id

FIRST, PRODUCT = "first", "product"
POLICIES = (FIRST, PRODUCT)
"""Rules for the choice among several cells; see `choose`."""


class Reading(NamedTuple):
    """The best span in one cell that the first stage selected.

    Attributes:
        text: the best span, as it is written in the cell or passage; "" if there is none.
        cell_probability: P(cell), from the first stage.
        span_log_probability: log P(span | cell), from the second stage.
        cell: (row, column) in the whole table.
    """

    text: str
    cell_probability: float = 1.0
    span_log_probability: float = 0.0
    cell: tuple[int, int] | None = None

    @property
    def log_probability(self) -> float:
        """log(P(cell) * P(span | cell)); minus infinity if P(cell) is 0."""
        if self.cell_probability <= 0:
            return -math.inf
        return math.log(self.cell_probability) + self.span_log_probability


def choose(readings: Sequence[Reading], policy: str = FIRST) -> Reading | None:
    """Returns the reading that answers the question.

    Args:
        readings: readings in the order of the first stage, best cell first.
        policy: "first" takes the best cell (MATE, section 4.2). "product" takes the largest
            P(cell) * P(span | cell), and of equal ones the first.

    Returns:
        one of the readings; None without readings.

    Raises:
        InputError: for an unknown policy.
    """
    if policy not in POLICIES:
        raise InputError(f"policy {policy!r} is not one of {', '.join(POLICIES)}")
    if not readings or policy == FIRST:
        return readings[0] if readings else None
    return max(readings, key=lambda reading: reading.log_probability)


def span_in_text(output: Mapping, ranges: np.ndarray) -> tuple[int, int]:
    """Returns the characters of the best span within the text of the only cell of a table.

    Args:
        output: outputs of the second stage's model for one example: pred_span <int32>[2], the
            first and last token, and row_ids <int32>[seq].
        ranges: <int64>[tokens, 2], character ranges of the cell's tokens
            (`data.converters.offsets`). The sequence may end before the last of these tokens.

    Returns:
        begin and exclusive end in characters; both 0 if the best span is not in the cell.
    """
    first, last = np.asarray(output["pred_span"]).tolist()
    in_cell = np.asarray(output["row_ids"]) > 0
    if not in_cell[first]:
        return 0, 0
    start = int(np.argmax(in_cell))
    return int(ranges[first - start, 0]), int(ranges[last - start, 1])


def by_question(readings: Iterable[tuple[str, Reading]]) -> dict[str, list[Reading]]:
    """Groups readings of single cells by the data set's question ids.

    Args:
        readings: pairs (question id of the second stage, reading). For example "4e5f/2-0_0" is the
            id for the third cell of question "4e5f".

    Returns:
        question id -> its readings in the order of the cells, best first.
    """
    groups = collections.defaultdict(dict)
    for question_id, reading in readings:
        groups[official_id(question_id)][rank(question_id)] = reading
    return {
        name: [readings[each] for each in sorted(readings)] for name, readings in groups.items()
    }


def rank(question_id: str) -> int:
    """Returns the rank of a cell from the second stage's question id: 2 for "4e5f/2-0_0".

    Raises:
        InputError: if the id is not one of the second stage.
    """
    match = re.fullmatch(r".+/(\d+)-[^-]+_\d+", question_id, re.DOTALL)
    if match is None:
        raise InputError(f"question id {question_id!r} is not <question>/<k>-0_0")
    return int(match[1])
