"""Operations over selected cells: the denotation of an answer, and its form for people.

The reference (google-research/tapas) computes the sum and the average of cells that are numbers
and nothing else. Given the numbers in the cells, "5 km" counts as 5 here and cells without a
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
    """An answer for people.

    Attributes:
        value: the number that the operation gives; None without operation or without numbers.
        text: that number, or the cells.
    """

    value: float | None
    text: str


def execute(
    aggregation: str, texts: Sequence[str], numbers: Sequence[float | None] | None = None
) -> tuple[Item, ...]:
    """Computes the denotation of an answer.

    Args:
        aggregation: "NONE" for the cells themselves, "SUM", "AVERAGE" or "COUNT".
        texts: the selected cells.
        numbers: the numbers in these cells, None where there is none, as in the table's
            annotations. A sum or average is over the cells that are numbers or have one. Without
            this argument the rule is the reference's: over all cells, which have to be numbers.

    Returns:
        The number that the operation gives. Without operation, or where it has no numbers, one
        item for each cell: a number if it is one, otherwise its text in lower case.

    Raises:
        ValueError: there is no such operation.
    """
    value = _aggregate(aggregation, texts, numbers)
    return (value,) if value is not None else tuple(_item(text) for text in texts)


def result(
    aggregation: str, texts: Sequence[str], numbers: Sequence[float | None] | None = None
) -> Result:
    """Computes the same for people: "30" and not 30.0, and cells as they are written."""
    value = _aggregate(aggregation, texts, numbers)
    if value is None or not math.isfinite(value):
        return Result(None, ", ".join(texts))
    return Result(value, str(int(value)) if value.is_integer() else str(value))


def normal_form(items: Iterable[Item]) -> list[str]:
    """Returns the form that the reference compares: sorted texts, numbers rounded to float32."""
    return normalize_answers(to_float32(i) if isinstance(i, float) else i for i in items)


def _aggregate(aggregation, texts, numbers):
    """Returns the number that the operation gives, None if there is none."""
    if aggregation not in AGGREGATIONS:
        raise ValueError(f"aggregation {aggregation!r} is none of {', '.join(AGGREGATIONS)}")
    if aggregation == NONE:
        return None
    if aggregation == COUNT:
        return float(len(texts))
    addends = [_number(text) for text in texts]
    if numbers is not None:
        known = zip(addends, numbers, strict=True)
        addends = [
            _shortest(other) if own is None or math.isnan(own) else own for own, other in known
        ]
        addends = [addend for addend in addends if addend is not None]
    if not addends or None in addends:
        return None
    total = sum(addends) / (len(addends) if aggregation == AVERAGE else 1)
    # The last digit of 0.1 + 0.2 = 0.30000000000000004 is noise.
    return float(f"{total:.15g}")


def _item(text):
    number = _number(text)
    return text.lower() if number is None or math.isnan(number) else number


def _number(text):
    try:
        return convert_to_float(text)
    except ValueError:
        return None


def _shortest(number):
    """Returns 1.1 for the float32 nearest to it, which is what annotations hold."""
    return None if number is None else float(str(np.float32(number)))
