"""Answers from cells and operations; equal to the reference's, right by the official rules."""

import pytest

from mate_tf.answers.execution import normal_form
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.evaluation import denotation, metrics
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table


def test_denotations_are_the_references(reference):
    interactions, predicted, recorded = reference
    expected = {example["id"]: example["expected"] for example in recorded["examples"]}
    assert len(expected) == 54
    for interaction in interactions:
        for question in interaction.questions:
            example, found = expected.pop(question.id), predicted[question.id]
            items = denotation.answer(interaction, found, as_reference=True)
            assert normal_form(items) == example["pred_denotation"]
            gold = denotation.gold_normal_form(interaction, question)
            assert gold == example.get("gold_denotation")
            right = denotation.is_right_for_reference(interaction, question, found)
            assert right is example["is_correct"]
    assert not expected


def test_submission_is_the_references(reference):
    interactions, predicted, recorded = reference
    lines = denotation.submission_lines(interactions, predicted, as_reference=True)
    assert sorted(lines) == recorded["wikitablequestions_official_format_lines_sorted"]
    ours = denotation.submission_lines(interactions, predicted)
    assert {(a, b) for a, b in zip(lines, ours, strict=True) if a != b} == {
        ("ex-17\t5%", "ex-17\t5.0"),
        ("ex-22\tnan", "ex-22\t1.0"),
        ("ex-39\t16.0\t65 metres\tsom business square", "ex-39\t40.5"),
    }


def test_where_the_rules_differ(reference):
    interactions, predicted, _ = reference
    official, other = (
        {item.question.id for item in metrics.grade(interactions, predicted, judge) if item.right}
        for judge in (denotation.is_right, denotation.is_right_for_reference)
    )
    assert official - other == {
        "ex-6-0_0",  # "x" for "x", "x"
        "ex-22-0_0",  # the sum of 1 and an empty cell
    }
    assert other - official == {
        "ex-14-0_0",  # nothing for the text "nan"
        "ex-17-0_0",  # "5%" for the sum of 5%
    }


@pytest.fixture
def interaction():
    table = Table.from_rows(
        ["Town", "Distance", "Since"],
        [
            ["Bern", "5 km", "1 May 1990"],
            ["Zürich", "7 km", "1 June 1990"],
            ["Basel", "n/a", "?"],
            ["Chur", "9 km", "?"],
        ],
    )
    questions = [
        Question("nt-1-0_0", "how far?", texts=["12 km"]),
        Question("nt-2-0_0", "which?", texts=["Zurich", "Bern"], is_valid=False),
        Question("nt-3-0_0", "since when?", texts=["1 June 1990"]),
        Question("nt-4-0_0", "how many?", coordinates=[(0, 0), (1, 0)], aggregation="COUNT"),
        Question("nt-5-0_0", "how far on average?", float_value=6.0),
        Question("nt-6-0_0", "who?", is_valid=False),
    ]
    return interaction_from_table(table, "nt-0", questions)


@pytest.mark.parametrize(
    ("position", "cells", "aggregation", "right", "for_reference"),
    [
        (0, [(0, 1), (1, 1)], "SUM", True, False),
        (0, [(0, 1), (1, 1)], "NONE", False, False),
        (1, [(0, 0), (1, 0)], "NONE", True, False),
        (1, [(0, 0)], "NONE", False, False),
        (2, [(1, 2)], "NONE", True, False),
        (3, [(1, 1), (2, 1)], "COUNT", True, True),
        (3, [(1, 1)], "COUNT", False, False),
        (4, [(0, 1), (1, 1), (2, 1)], "AVERAGE", True, False),
        (5, [], "NONE", False, False),
    ],
)
def test_right_answers(interaction, position, cells, aggregation, right, for_reference):
    question = interaction.questions[position]
    found = Prediction(question.id, tuple(cells), aggregation=aggregation)
    assert denotation.is_right(interaction, question, found) is right
    assert denotation.is_right_for_reference(interaction, question, found) is for_reference


def test_submission(interaction):
    found = [
        Prediction("nt-1-0_0", ((0, 1), (1, 1)), aggregation="SUM"),
        Prediction("nt-2-0_0", ((0, 0), (1, 0))),
        Prediction("nt-3-0_0", ()),
    ]
    lines = denotation.submission_lines([interaction], metrics.by_question(found))
    assert lines == ["nt-1\t12.0", "nt-2\tbern\tzürich", "nt-3\t", "nt-4", "nt-5", "nt-6"]


def test_cells_of_another_table(interaction):
    found = Prediction("nt-1-0_0", ((4, 0),))
    with pytest.raises(InputError, match=r"question nt-1-0_0: predicted cells \[\(4, 0\)\]"):
        denotation.answer(interaction, found)
