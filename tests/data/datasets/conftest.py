"""Questions as plain data."""

from mate_tf.data import interactions


def plain(question) -> dict:
    """What a question's answer says, without what it leaves open."""
    answer = question.answer
    values = {
        "cells": [(cell.row_index, cell.column_index) for cell in answer.answer_coordinates],
        "texts": list(answer.answer_texts),
    }
    for field, name in (
        ("aggregation_function", "aggregation"),
        ("float_value", "number"),
        ("class_index", "class"),
    ):
        if answer.HasField(field):
            values[name] = getattr(answer, field)
    if not answer.is_valid:
        values["problem"] = interactions.problem(question)
    return values
