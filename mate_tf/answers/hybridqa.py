"""Types of HybridQA's answers: in the text of a cell, or only in a passage that a cell links to.

The types are those of google-research/tapas.
"""

from mate_tf.protos.interaction_pb2 import Question

ANSWER_TYPES = ("1_in_table", "1_in_text", "2+_in_table", "2+_in_text", "table_&_text", "no_answer")
"""Number of cells with the answer, and its source: the cells' texts, or passages they link to."""


def answer_type(question: Question) -> str:
    """Returns one of ANSWER_TYPES.

    Args:
        question: its answer has the coordinates of all candidate cells. Its first alternative
            answer has the coordinates of cells that contain the answer in their own text.
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
