"""Computes denotations of predicted answers and compares them with the gold answers.

There are two sets of rules. Those of the official WikiTableQuestions evaluator
(`answers.wikitablequestions`) compare with the texts of the gold answer. Those of the reference,
google-research/tapas, compare with its number or cells. They differ:

- The reference computes sums and averages only if all cells are plain numbers
  (`answers.execution`).
- The reference compares lists, so "x" differs from "x", "x". The official evaluator compares sets.
- The reference compares texts letter by letter and numbers as float32. The official evaluator
  ignores accents, citations and the like, compares numbers to 1e-6, and compares dates.
- The gold answer of the reference is one number or cells of the table. A question with any other
  answer cannot be answered correctly.
"""

import math
from collections.abc import Iterable, Mapping

from mate_tf.answers import wikitablequestions
from mate_tf.answers.execution import AGGREGATIONS, AVERAGE, NONE, SUM, Item, execute, normal_form
from mate_tf.data.interactions import cell_values, get_example_id
from mate_tf.errors import InputError
from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos.interaction_pb2 import Interaction, Question, Table


def answer(
    interaction: Interaction, prediction: Prediction, *, as_reference: bool = False
) -> tuple[Item, ...]:
    """Computes the values of a predicted answer.

    `as_reference`: by the reference's rule, which ignores numbers in cells with other text.

    Raises:
        InputError: if a cell is outside the table.
    """
    cells, aggregation = prediction.coordinates, prediction.aggregation
    if prediction.texts:
        return execute(NONE, prediction.texts)
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


def numbers_at(table: Table, cells: Iterable[tuple[int, int]]) -> list[float | None]:
    """Returns the number in each of the cells; None for cells without one or with a date."""
    values = cell_values(table)
    values_of_cells = [values[column][row] for row, column in cells]
    return [number if isinstance(number, float) else None for number in values_of_cells]


def target(interaction: Interaction, question: Question) -> list[wikitablequestions.Value] | None:
    """Returns the values of the gold answer: its texts, or without texts its number or cells.

    Returns None if the gold answer is not valid and has no texts.
    """
    texts = question.answer.answer_texts
    if texts:
        return wikitablequestions.values(texts, map(wikitablequestions.canonical_form, texts))
    if not question.answer.is_valid:
        return None
    return wikitablequestions.values(map(str, _gold(interaction, question, as_reference=False)))


def is_right(interaction: Interaction, question: Question, prediction: Prediction) -> bool:
    """Returns True if an answer is right by the official rules."""
    gold = target(interaction, question)
    predicted = wikitablequestions.values(map(str, answer(interaction, prediction)))
    return gold is not None and wikitablequestions.is_right(gold, predicted)


def is_right_for_reference(
    interaction: Interaction, question: Question, prediction: Prediction
) -> bool:
    """Returns True if an answer is right by the rules of google-research/tapas."""
    predicted = normal_form(answer(interaction, prediction, as_reference=True))
    return predicted == gold_normal_form(interaction, question)


def gold_normal_form(interaction: Interaction, question: Question) -> list[str] | None:
    """Returns the `normal_form` of a question's gold number or, without one, of its cells.

    Returns None, which equals no answer, if the gold answer is not valid.
    """
    if not question.answer.is_valid:
        return None
    return normal_form(_gold(interaction, question, as_reference=True))


def submission_lines(
    interactions: Iterable[Interaction],
    predicted: Mapping[str, Prediction],
    *,
    as_reference: bool = False,
) -> list[str]:
    """Returns lines in the format of the official evaluator: id, then a column for each value.

    A question without a prediction gives a line with its id only. `as_reference`: see `answer`.
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


def _gold(interaction, question, *, as_reference):
    """Returns the values of a gold answer: its number, or the result of its cells."""
    gold = question.answer
    if gold.HasField("float_value"):
        return () if math.isnan(gold.float_value) else (gold.float_value,)
    cells = tuple((cell.row_index, cell.column_index) for cell in gold.answer_coordinates)
    operation = AGGREGATIONS[gold.aggregation_function]
    stated = Prediction(question.id, cells, aggregation=operation)
    return answer(interaction, stated, as_reference=as_reference)
