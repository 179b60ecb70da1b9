"""Scores by the way in which answers were given, with the commonest answers beside them."""

import pytest

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.evaluation import given_answers, metrics
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table

TABLE = Table.from_rows(
    ["City", "People"], [["Rome", "28"], ["Bari", "3"], ["Bern", "1"], ["Rome", "3"]]
)


def asked(*answers):
    """One interaction, with a question "a-0_<i>" for each dict of fields of `Question`."""
    questions = [Question(f"a-0_{i}", "x?", **answer) for i, answer in enumerate(answers)]
    return [interaction_from_table(TABLE, "a-0", questions)]


def answered(*predictions):
    """Predictions of the questions of `asked`, made of dicts of fields; None: no prediction."""
    given = {f"a-0_{i}": fields for i, fields in enumerate(predictions) if fields is not None}
    return {
        name: Prediction(name, **{"coordinates": (), **fields}) for name, fields in given.items()
    }


CELLS = {"given": "cells", "coordinates": [(0, 0)], "texts": ["Rome"]}
TEXT = {"given": "text", "coordinates": [(0, 0)], "texts": ["Rome"]}
NUMBER = {"given": "number", "texts": ["31"], "float_value": 31.0}
SUM = {**NUMBER, "given": "cells, SUM", "aggregation": "SUM"}
CLASS = {"given": "class", "class_index": 1}
NOTHING = {}
NOT_IN_THE_TABLE = {"given": "text", "texts": ["Paris"], "is_valid": False}
ROME, OTHER_ROME = {"coordinates": ((0, 0),)}, {"coordinates": ((3, 0),)}
ADDED = {"coordinates": ((0, 1), (1, 1)), "aggregation": "SUM"}


@pytest.mark.parametrize(
    ("gold", "prediction", "right"),
    [
        (CELLS, ROME, True),
        (CELLS, OTHER_ROME, False),  # the same text, but another cell
        (CELLS, ROME | {"aggregation": "COUNT"}, False),
        (TEXT, ROME, True),
        (TEXT, OTHER_ROME, True),
        (TEXT, {"coordinates": ((1, 0),)}, False),
        (NUMBER, ADDED, True),
        (NUMBER, {**ADDED, "aggregation": "AVERAGE"}, False),
        (NUMBER, {"coordinates": ((0, 1), (1, 1))}, False),  # 28 and 3 are not 31
        (SUM, ADDED, True),
        (CLASS, {"class_index": 1}, True),
        (CLASS, {"class_index": 0}, False),
        (NOTHING, {}, False),
    ],
)
def test_right_by_the_kind_of_the_answer(gold, prediction, right):
    (interaction,) = asked(gold)
    (predicted,) = answered(prediction).values()
    assert given_answers.is_right(interaction, interaction.questions[0], predicted) is right


def test_a_row_for_each_kind():
    """Nothing instead of an answer is wrong, and questions without gold answers do not count."""
    gold = asked(CELLS, CELLS, NUMBER, NOT_IN_THE_TABLE, NOTHING, NOTHING, SUM)
    found = given_answers.scores(gold, answered(ROME, {}, ADDED, {}, {}, None, None))
    low, high = metrics.confidence_interval(2, 5)
    assert found == {
        "all": (2 / 5, 5),
        "95 % from": low,
        "95 % to": high,
        "cells": (1 / 2, 2),
        "cells, SUM": (0.0, 1),
        "number": (1.0, 1),
        "text": (0.0, 1),
    }


def test_classes():
    gold = asked(CLASS, CLASS, {"given": "class", "class_index": 0}, NOTHING)
    found = given_answers.scores(gold, answered(*[{"class_index": 1}] * 4), ["no", "yes"])
    right = pytest.approx(2 / 3)
    del found["95 % from"], found["95 % to"]
    assert found == {
        "all": (right, 3), "class": (right, 3), "class no": (0.0, 1), "class yes": (1.0, 2)
    }  # fmt: skip


def test_kinds_of_files_that_do_not_say_them():
    unsaid = [{**answer, "given": ""} for answer in (CELLS, NUMBER, CLASS, NOT_IN_THE_TABLE)]
    (interaction,) = asked(*unsaid, NOTHING)
    found = [given_answers.kind(question) for question in interaction.questions]
    assert found == ["cells", "number", "class", "text", None]


def test_warnings():
    full, none = asked(CELLS, CELLS), asked(NOTHING, NOTHING, CELLS)
    assert given_answers.warnings(full, answered(ROME, {})) == []
    assert given_answers.warnings(full, answered({}, None)) == [
        "2 of 2 predicted answers are empty: no cell is selected"
    ]
    assert given_answers.warnings(none, answered(ROME, ROME, ROME)) == [
        "2 of 3 questions have no gold answer; accuracies are those of the other 1"
    ]
    assert given_answers.warnings(asked(CLASS), answered({"class_index": 0})) == []


def test_the_commonest_answer_of_each_kind():
    bari = {"given": "cells", "coordinates": [(1, 0)], "texts": ["Bari"]}
    two, three = ({"given": "number", "float_value": n, "texts": [f"{n:.0f}"]} for n in (2.0, 3.0))
    train = asked(CELLS, bari, bari, three, three, two, NOTHING, NOT_IN_THE_TABLE)
    test = asked(bari, CELLS, three, two, TEXT, SUM, NOTHING)
    predicted = given_answers.commonest_answer(train)(test)
    # TEXT: "Paris", which is in no table; SUM: training has no answer of this kind.
    low, high = metrics.confidence_interval(2, 6)
    assert given_answers.scores(test, predicted) == {
        "all": (2 / 6, 6),
        "95 % from": low,
        "95 % to": high,
        "cells": (1 / 2, 2),
        "cells, SUM": (0.0, 1),
        "number": (1 / 2, 2),
        "text": (0.0, 1),
    }
    assert "a-0_5" not in predicted
    classes = given_answers.commonest_answer(asked(CLASS, CLASS, {"class_index": 0}))
    assert classes(asked(CLASS))["a-0_0"].class_index == 1


def test_the_smallest_of_equally_common_answers():
    for train in (asked(CLASS, {"class_index": 0}), asked({"class_index": 0}, CLASS)):
        assert given_answers.commonest_answer(train)(asked(CLASS))["a-0_0"].class_index == 0
