"""Executes operations over selected cells, as a denotation or as text to show.

The reference (google-research/tapas) computes sum and average only if every cell is a plain
number. If the numbers found in the cells are given, "5 km" counts as 5 here, and cells without a
number are left out.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.protos import interaction_pb2
from mate_tf.tables.numbers import to_float32
from mate_tf.tables.text import convert_to_float, normalize_answers

AGGREGATIONS = tuple(interaction_pb2.Answer.AggregationFunction.keys())
"""Operations over cells, in the order of the model's logits: NONE, SUM, AVERAGE, COUNT."""

NONE, SUM, AVERAGE, COUNT = AGGREGATIONS

Item = float | str


class Result(NamedTuple):
    """An answer to be shown.

    Attributes:
        value: result of the operation; None without operation or without numbers.
        text: the value as text; without a value, the texts of the cells, separated by commas.
    """

    value: float | None
    text: str


def execute(
    aggregation: str, texts: Sequence[str], numbers: Sequence[float | None] | None = None
) -> tuple[Item, ...]:
    """Computes the denotation of an answer.

    Args:
        aggregation: "NONE", "SUM", "AVERAGE" or "COUNT".
        texts: texts of the selected cells.
        numbers: number found in each of these cells, from the table's annotations; None for a cell
            without one. Sum and average are then over the cells with a number. Without this
            argument the rule is the reference's: over all cells, and all must be numbers.

    Returns:
        The result of the operation. For NONE, and for an operation without a result, one item
        for each cell: its number if the text is a number, otherwise the text in lower case.

    Raises:
        ValueError: if the operation is unknown.
    """
    value = _aggregate(aggregation, texts, numbers)
    return (value,) if value is not None else tuple(_item(text) for text in texts)


def result(
    aggregation: str, texts: Sequence[str], numbers: Sequence[float | None] | None = None
) -> Result:
    """Computes an answer to be shown: "30" instead of 30.0, and cells with their own texts.

    Arguments and errors as for `execute`.
    """
    value = _aggregate(aggregation, texts, numbers)
    if value is None or not math.isfinite(value):
        return Result(None, ", ".join(texts))
    return Result(value, str(int(value)) if value.is_integer() else str(value))


def addends(texts: Sequence[str], numbers: Sequence[float | None]) -> list[float | None]:
    """Returns the number of each cell that a sum or average takes; None for a cell without one.

    Args:
        texts: texts of the selected cells.
        numbers: number found in each of them, from the table's annotations, for a text that is not
            a number as a whole.
    """
    known = zip(map(_number, texts), numbers, strict=True)
    return [_shortest(other) if own is None or math.isnan(own) else own for own, other in known]


def normal_form(items: Iterable[Item]) -> list[str]:
    """Returns the form that the reference compares: sorted texts, numbers rounded to float32."""
    return normalize_answers(to_float32(i) if isinstance(i, float) else i for i in items)


def _aggregate(aggregation, texts, numbers):
    """Returns the result of the operation, or None if there is none."""
    if aggregation not in AGGREGATIONS:
        raise ValueError(f"aggregation {aggregation!r} is not one of {', '.join(AGGREGATIONS)}")
    if aggregation == NONE:
        return None
    if aggregation == COUNT:
        return float(len(texts))
    if numbers is None:
        added = [_number(text) for text in texts]
    else:
        added = [addend for addend in addends(texts, numbers) if addend is not None]
    known = [addend for addend in added if addend is not None]
    if not known or len(known) < len(added):
        return None
    total = sum(known) / (len(known) if aggregation == AVERAGE else 1)
    # The last digit of 0.1 + 0.2 = 0.30000000000000004 is noise.
    return float(f"{total:.15g}")


def _item(text):
    """Returns a cell as an item of a denotation: its number, or its text in lower case."""
    number = _number(text)
    return text.lower() if number is None or math.isnan(number) else number


def _number(text):
    """Returns the number that the whole text is; None if it is not a number."""
    try:
        return convert_to_float(text)
    except ValueError:
        return None


def _shortest(number):
    """Returns the float with the fewest digits that rounds to the same float32, as 1.1.

    Annotations store float32.
    """
    return None if number is None else float(str(np.float32(number)))
