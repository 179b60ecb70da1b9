"""Asks a predictor the questions of a data set, as `Predictor.ask` answers them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mate_tf.answers import computed
from mate_tf.answers.execution import NONE
from mate_tf.data import interactions as data
from mate_tf.errors import InputError
from mate_tf.evaluation.predictions import Interactions, Prediction
from mate_tf.protos.interaction_pb2 import Interaction, Question
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.tables.table import Table

OWN, GOLD = "own", "gold"
"""Which answer to the previous question a model gets: its own one, or the right one."""

_AT_A_TIME = 64  # questions between two results


class QuestionAnswer(NamedTuple):
    """A question and its answer; None if it cannot be asked."""

    interaction: Interaction
    question: Question
    table: Table
    previous: Answer | None
    answer: Answer | None


def ask(
    predictor, interactions: Interactions, previous: str | None = None
) -> Iterator[QuestionAnswer]:
    """Asks the questions of interactions: all first questions, then all second ones, and so on.

    Args:
        predictor: a `Predictor`.
        interactions: tables and questions.
        previous: the answer that a question refers to, `OWN` or `GOLD`; None: questions refer to
            none.
    """
    tables = [data.table_of(each) for each in interactions]
    longest = max((len(each.questions) for each in interactions), default=0)
    before: list[Answer | None] = [None] * len(interactions)
    for position in range(longest):
        present = [i for i, each in enumerate(interactions) if position < len(each.questions)]
        for begin in range(0, len(present), _AT_A_TIME):
            part = present[begin : begin + _AT_A_TIME]
            questions = [interactions[index].questions[position] for index in part]
            requests = [
                (tables[index], question.original_text, before[index])
                for index, question in zip(part, questions, strict=True)
            ]
            answered = answers(predictor, requests)
            for index, question, answer in zip(part, questions, answered, strict=True):
                yield QuestionAnswer(
                    interactions[index], question, tables[index], before[index], answer
                )
                if previous == OWN:
                    before[index] = answer
                elif previous == GOLD:
                    before[index] = _gold(tables[index], question)


def answers(predictor, requests: Sequence[tuple]) -> list[Answer | None]:
    """Returns the answers to (table, question, previous answer); None if one cannot be asked."""
    try:
        previous = [each[2] for each in requests]
        return predictor.ask_batch([each[:2] for each in requests], previous=previous)
    except InputError:
        if len(requests) == 1:
            return [None]
    middle = len(requests) // 2
    return answers(predictor, requests[:middle]) + answers(predictor, requests[middle:])


def prediction(question_id: str, answer: Answer | None, class_names: Sequence[str]) -> Prediction:
    """Returns an answer as a prediction; that of a question that cannot be asked is empty."""
    if answer is None:
        return Prediction(question_id, ())
    index = None
    if not answer.cells and answer.text in class_names:
        index = list(class_names).index(answer.text)
    texts = [cell.text for cell in answer.cells]
    is_text = answer.cells and answer.aggregation == NONE
    is_text = is_text and answer.text not in (", ".join(texts), computed.joined(texts))
    return Prediction(
        question_id,
        tuple(answer.coordinates),
        tuple(cell.probability for cell in answer.cells),
        aggregation=answer.aggregation,
        class_index=index,
        texts=(answer.text,) if is_text else (),  # a difference or "yes", derived from the cells
    )


def _gold(table: Table, question: Question) -> Answer:
    """Returns the right cells as the answer to a previous question."""
    places = [
        (each.row_index, each.column_index)
        for each in question.answer.answer_coordinates
        if each.row_index < table.num_rows
    ]
    cells = tuple(AnswerCell(row, column, table.rows[row][column], 1.0) for row, column in places)
    return Answer(cells, NONE, None, 1.0, ", ".join(cell.text for cell in cells))
