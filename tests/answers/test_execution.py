"""Denotations of cells and operations; equal to the reference's."""

import json

import pytest

from mate_tf.answers.execution import AGGREGATIONS, execute, normal_form, result


def test_execution_is_the_references(goldens):
    recorded = json.loads((goldens / "metrics" / "open" / "execute.json").read_text())
    for case in recorded["cases"]:
        texts = [recorded["rows"][row][column] for row, column in case["coordinates"]]
        found = execute(AGGREGATIONS[case["aggregation"]], texts)
        assert sorted(map(str, found)) == sorted(map(str, case["denotation"]))
        assert normal_form(found) == case["normalized"]


@pytest.mark.parametrize(
    ("aggregation", "texts", "numbers", "value", "text"),
    [
        ("NONE", ["Bern", "Basel"], None, None, "Bern, Basel"),
        ("NONE", ["30"], None, None, "30"),
        ("NONE", [], None, None, ""),
        ("SUM", ["10", "20"], None, 30.0, "30"),
        ("SUM", ["0.1", "0.2"], None, 0.3, "0.3"),
        ("SUM", ["1,000", "2,5"], None, 1002.5, "1002.5"),
        ("AVERAGE", ["1", "2"], None, 1.5, "1.5"),
        ("AVERAGE", ["2.9", "3.1", "3"], None, 3.0, "3"),
        ("COUNT", ["a", "b"], None, 2.0, "2"),
        ("COUNT", ["a", "a", "b", "a"], None, 4.0, "4"),
        ("COUNT", [], None, 0.0, "0"),
        ("SUM", ["5 km", "1.1 km"], None, None, "5 km, 1.1 km"),
        ("SUM", ["5 km", "1.1 km"], [5.0, 1.10000002384], 6.1, "6.1"),
        ("AVERAGE", ["5 km", "n/a", "7"], [5.0, None, 7.0], 6.0, "6"),
        ("SUM", ["1959", "nan"], [None, None], 1959.0, "1959"),
        ("SUM", ["a", "b"], [None, None], None, "a, b"),
        ("SUM", [], [], None, ""),
        ("SUM", ["inf"], None, None, "inf"),
        ("SUM", ["1e20"], None, 1e20, "100000000000000000000"),
    ],
)
def test_answers_for_people(aggregation, texts, numbers, value, text):
    assert result(aggregation, texts, numbers) == (value, text)


def test_unknown_operation():
    with pytest.raises(ValueError, match="'MAX' is not one of NONE, SUM, AVERAGE, COUNT"):
        execute("MAX", ["1"])
