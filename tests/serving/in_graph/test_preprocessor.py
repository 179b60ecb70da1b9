"""Texts in `Dataset.map` become the features and labels of the converter."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.data import interactions
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.serving.in_graph.preprocessor import TablePreprocessor
from mate_tf.tables.table import Table

FIT = {"drop_rows_to_fit": True, "drop_columns_to_fit": True, "trim_question_to_fit": True}
TABLES = (
    Table.from_rows(
        ["name", "age 1999"], [["Ann of Rome", "30"], ["Bob", "41 years"], ["Cy", "none"]]
    ),
    Table.from_rows(["city", "size", "year"], [["a b c d", "1e39", "12 may 2001"]]),
)
QUESTIONS = ("who is 30?", "which year?")
CELLS = ([(0, 1), (1, 1)], [(0, 2)])  # of the answers
LABELS = {
    "aggregation_function_id": [2, 0],
    "classification_class_index": [1, 0],
    "answer": [35.5, float("nan")],
}


def texts():
    """Both tables in one batch, the smaller ones padded."""
    header = np.full([2, 3], b"[PAD]", object)
    cells = np.full([2, 3, 3], b"[PAD]", object)
    answers = np.zeros([2, 3, 3], np.int64)
    for index, table in enumerate(TABLES):
        header[index, : table.num_columns] = table.columns
        cells[index, : table.num_rows, : table.num_columns] = table.rows
        answers[index][tuple(zip(*CELLS[index], strict=True))] = 1
    return {"question": list(QUESTIONS), "header": header, "cells": cells, "answer_cells": answers}


def converted(vocab_file, **options):
    """Yields what the converter makes of the same questions."""
    converter = ExampleConverter(vocab_file, **FIT, **options)
    for index, table in enumerate(TABLES):
        answer = {name: values[index] for name, values in LABELS.items()}
        question = interactions.Question("ask-0_0", QUESTIONS[index])
        proto = interactions.interaction_from_table(table, "ask-0", [question])
        found = proto.questions[0].answer
        found.aggregation_function = answer["aggregation_function_id"]
        found.class_index = answer["classification_class_index"]
        if not np.isnan(answer["answer"]):
            found.float_value = answer["answer"]
        for row, column in CELLS[index]:
            found.answer_coordinates.add(row_index=row, column_index=column)
        yield converter.conversion(proto, 0).values


@pytest.mark.parametrize("in_graph", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_features_and_labels(vocab_file, in_graph):
    options = {"max_seq_length": 48, "mark_matches": True}
    preprocessor = TablePreprocessor(vocab_file, **options)
    dataset = tf.data.Dataset.from_tensor_slices({**texts(), **LABELS}).batch(2)
    (batch,) = dataset.map(preprocessor) if in_graph else map(preprocessor, dataset)
    specs = (
        *feature_names.MODEL_INPUTS,
        *feature_names.TOKEN_LABELS,
        *feature_names.EXAMPLE_LABELS,
    )
    assert batch.keys() == set(feature_names.names(specs))
    for index, expected in enumerate(converted(vocab_file, **options)):
        assert expected["label_ids"].any()
        for spec in specs:
            found, wanted = batch[spec.name][index].numpy(), expected[spec.name]
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted[: len(found)], f"{spec.name} {index}")
            if spec.per_token:
                padding = np.full(len(wanted) - len(found), spec.padding, wanted.dtype)
                np.testing.assert_array_equal(wanted[len(found) :], padding)


def test_what_is_not_in_a_batch(vocab_file):
    preprocessor = TablePreprocessor(vocab_file)
    with pytest.raises(InputError, match="the batch has no 'header'"):
        preprocessor({"question": ["who?"]})
    message = "has 'labels', which is not one of question, .*, answer$"
    with pytest.raises(InputError, match=message):
        preprocessor({**texts(), "labels": [0, 1]})


def test_settings_that_a_graph_does_not_have(vocab_file):
    with pytest.raises(InputError, match=r"^hide_cell_texts, number_parser=modern: a graph cannot"):
        TablePreprocessor(vocab_file, hide_cell_texts=True, number_parser="modern")
