"""From chosen cells and an operation over them to the answer, and whether it is right.

The one place that computes answers. Two rules say what is right: those of the official
WikiTableQuestions evaluator (`wikitablequestions`), against the answer's texts, and those of
google-research/tapas, against the number or the cells of the gold answer. They differ:

- the reference computes the sum and the average of cells that are numbers and nothing else, here
  "5 km" counts as 5 and cells without a number are left out;
- the reference compares lists with repetitions, so "x" is not the answer "x", "x"; for the
  official evaluator these are sets;
- the reference has texts equal only letter by letter and numbers as float32, the official
  evaluator without accents, citations and the like and to 1e-6, and knows dates;
- the gold answer of the reference is one number or cells of the table, so that a question whose
  answer is neither cannot be answered.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.data.interactions import cell_values, get_example_id
from mate_tf.errors import InputError
from mate_tf.evaluation import wikitablequestions
from mate_tf.evaluation.predictions import AGGREGATIONS, Prediction
from mate_tf.protos import interaction_pb2
from mate_tf.tables.numbers import to_float32
from mate_tf.tables.text import convert_to_float, normalize_answers

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
    """The values of an answer.

    Args:
        aggregation: "NONE" for the cells themselves, "SUM", "AVERAGE" or "COUNT".
        texts: the chosen cells.
        numbers: the numbers in these cells, None where there is none, as in the table's
            annotations. A sum or average is over the cells that are numbers or have one. Without
            this argument it is as the reference has it: over all cells, which have to be numbers.

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
    """The same for people: "30" and not 30.0, and cells as they are written."""
    value = _aggregate(aggregation, texts, numbers)
    if value is None or not math.isfinite(value):
        return Result(None, ", ".join(texts))
    return Result(value, str(int(value)) if value.is_integer() else str(value))


def answer(
    interaction: interaction_pb2.Interaction, prediction: Prediction, *, as_reference: bool = False
) -> tuple[Item, ...]:
    """The values of a predicted answer.

    Args:
        interaction: with the table.
        prediction: cells of it and an operation over them.
        as_reference: leave aside the numbers in cells that are more than a number.

    Raises:
        InputError: a cell is outside the table.
    """
    cells, aggregation = prediction.coordinates, prediction.aggregation
    try:
        texts = [interaction.table.rows[row].cells[column].text for row, column in cells]
    except IndexError:
        raise InputError(
            f"question {prediction.question_id}: predicted cells {list(cells)} are not all in the"
            " table; are the predictions for other interactions?"
        ) from None
    numbers = None
    if aggregation in (SUM, AVERAGE) and not as_reference:
        numbers = numbers_at(interaction.table, cells)
    return execute(aggregation, texts, numbers)


def numbers_at(
    table: interaction_pb2.Table, cells: Iterable[tuple[int, int]]
) -> list[float | None]:
    """The numbers in cells of a table, None where there is none or a date."""
    values = cell_values(table)
    found = [values[column][row] for row, column in cells]
    return [number if isinstance(number, float) else None for number in found]


def target(
    interaction: interaction_pb2.Interaction, question: interaction_pb2.Question
) -> list[wikitablequestions.Value] | None:
    """The gold answer: its texts; where there are none, its number or its cells.

    None if it has none of them and is not the empty answer.
    """
    texts = question.answer.answer_texts
    if texts:
        return wikitablequestions.values(texts, map(wikitablequestions.canonical_form, texts))
    if not question.answer.is_valid:
        return None
    return wikitablequestions.values(map(str, _gold(interaction, question, as_reference=False)))


def is_right(
    interaction: interaction_pb2.Interaction,
    question: interaction_pb2.Question,
    prediction: Prediction,
    targets: Mapping[str, Sequence[wikitablequestions.Value]] | None = None,
) -> bool:
    """Whether an answer is right by the official rules.

    Args:
        interaction: with the table.
        question: with the gold answer.
        prediction: cells and operation.
        targets: by example id, from `wikitablequestions.read_targets`; `target` if it is not
            there.
    """
    gold = (targets or {}).get(get_example_id(question.id))
    if gold is None:
        gold = target(interaction, question)
    found = wikitablequestions.values(map(str, answer(interaction, prediction)))
    return gold is not None and wikitablequestions.is_right(gold, found)


def is_right_for_reference(
    interaction: interaction_pb2.Interaction,
    question: interaction_pb2.Question,
    prediction: Prediction,
) -> bool:
    """Whether an answer is right by the rules of google-research/tapas."""
    found = normal_form(answer(interaction, prediction, as_reference=True))
    return found == gold_normal_form(interaction, question)


def normal_form(items: Iterable[Item]) -> list[str]:
    """What the reference compares: sorted texts, numbers rounded to float32."""
    return normalize_answers(to_float32(i) if isinstance(i, float) else i for i in items)


def gold_normal_form(
    interaction: interaction_pb2.Interaction, question: interaction_pb2.Question
) -> list[str] | None:
    """The `normal_form` of a question's number or, if it has none, of its cells.

    None, which no answer is, if the gold answer could not be read.
    """
    if not question.answer.is_valid:
        return None
    return normal_form(_gold(interaction, question, as_reference=True))


def submission_lines(
    interactions: Iterable[interaction_pb2.Interaction],
    predicted: Mapping[str, Prediction],
    *,
    as_reference: bool = False,
) -> list[str]:
    """Lines in the format of the official evaluator: id, then a column for each value.

    Args:
        interactions: with the tables; those without a prediction give a line with the id only.
        predicted: predictions by question id.
        as_reference: as in `answer`.
    """
    lines = []
    for interaction in interactions:
        for question in interaction.questions:
            columns = [get_example_id(question.id)]
            if question.id in predicted:
                items = answer(interaction, predicted[question.id], as_reference=as_reference)
                columns.append("\t".join(sorted(" ".join(str(item).split()) for item in items)))
            lines.append("\t".join(columns))
    return lines


def _aggregate(aggregation, texts, numbers):
    """The number that the operation gives, None if there is none."""
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
    # Of 0.1 + 0.2 = 0.30000000000000004 the last digit is noise.
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
    """1.1 for the float32 nearest to it, as annotations have it."""
    return None if number is None else float(str(np.float32(number)))


def _gold(interaction, question, *, as_reference):
    gold = question.answer
    if gold.HasField("float_value"):
        return () if math.isnan(gold.float_value) else (gold.float_value,)
    cells = tuple((cell.row_index, cell.column_index) for cell in gold.answer_coordinates)
    operation = AGGREGATIONS[gold.aggregation_function]
    stated = Prediction(question.id, cells, aggregation=operation)
    return answer(interaction, stated, as_reference=as_reference)
