"""Types of HybridQA's answers: whether cells contain them, or only the passages that cells link to.

The types are those of google-research/tapas.
"""

from mate_tf.protos import interaction_pb2

ANSWER_TYPES = (
    "1_in_table",
    "1_in_text",
    "2+_in_table",
    "2+_in_text",
    "table_&_text",
    "no_answer",
)
"""In how many cells an answer is, in their own texts or only in texts that they link to."""


def answer_type(question: interaction_pb2.Question) -> str:
    """Returns one of ANSWER_TYPES.

    Args:
        question: with the coordinates of all candidate cells as answer, and of those that contain
            the answer themselves as first alternative answer.
    """
    alternatives = question.alternative_answers
    in_table = len(alternatives[0].answer_coordinates) if alternatives else 0
    in_text = len(question.answer.answer_coordinates) - in_table
    if in_table and in_text:
        return "table_&_text"
    if not in_table and not in_text:
        return "no_answer"
    where = "table" if in_table else "text"
    return f"1_in_{where}" if in_table + in_text == 1 else f"2+_in_{where}"
