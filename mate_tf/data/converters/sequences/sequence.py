"""A sequence is a question without a table, a pair a question with a second text or several."""

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
    """The interaction of one sequence, of a pair, or of a text and choices for what goes with it.

    Args:
        name: tells it apart from others of the data set; the ids are made of it.
        texts: one, two, or the first and the choices; symbols are separated by spaces.
        class_index: the right class, None where it is not known.
        value: the right number, in tasks of regression.
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
    """The texts, as they were given."""
    second = question.Extensions[_SECOND].text if question.HasExtension(_SECOND) else []
    return [question.original_text, *second]
