"""Interactions of sequences: questions without a table, with more texts for pairs and choices."""

from collections.abc import Sequence

from mate_tf.data.interactions import create_interaction_id, create_question_id
from mate_tf.protos import interaction_pb2, second_text_pb2

_SECOND = second_text_pb2.SecondText.second_text_ext


def interaction(
    name: str,
    texts: Sequence[str],
    *,
    class_index: int | None = None,
    value: float | None = None,
) -> interaction_pb2.Interaction:
    """Makes the interaction of one sequence, of a pair, or of a text with choices.

    Args:
        name: unique name in the data set; the ids are made from it.
        texts: one text, two texts, or a text and its choices. Symbols are separated by spaces.
        class_index: the gold class; None if it is unknown.
        value: the gold number, in regression tasks.
    """
    first, *second = texts
    found = interaction_pb2.Interaction(id=create_interaction_id(name))
    question = found.questions.add(id=create_question_id(found.id, 0), original_text=first)
    if second:
        question.Extensions[_SECOND].text.extend(second)
    question.answer.SetInParent()
    if class_index is not None:
        question.answer.class_index = class_index
    if value is not None:
        question.answer.float_value = value
    return found


def texts(question: interaction_pb2.Question) -> list[str]:
    """Returns the texts of a question made by `interaction`."""
    second = question.Extensions[_SECOND].text if question.HasExtension(_SECOND) else []
    return [question.original_text, *second]
