"""Answers from texts: equal to the recorded ones, and to a general assignment solver."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from mate_tf.answers.gold import (
    AnswerError,
    GoldAnswer,
    SupervisionMode,
    answer_at,
    find_coordinates,
    parse_answer,
)
from mate_tf.errors import InputError
from mate_tf.tables.table import Table
from mate_tf.tables.text import NORMALIZERS

# What importers of the reference write before the cells are looked for.
UNKNOWN = ((-1, -1),)


def table_of(record):
    return Table.from_rows(record["table"]["columns"], record["table"]["rows"])


def test_answers_equal_the_recorded(goldens):
    recorded = json.loads((goldens / "tokenization/open/answer_parsing.json").read_text())
    table = table_of(recorded)
    assert len(recorded["cases"]) > 40
    for case in recorded["cases"]:
        given_answer = GoldAnswer(tuple(case["answer_texts"]), UNKNOWN)
        mode, expected = SupervisionMode[case["mode"]], case["result"]
        if "error" in expected:
            with pytest.raises(AnswerError) as caught:
                parse_answer(table, given_answer, mode)
            assert str(caught.value) == expected["error"], case
        else:
            found = parse_answer(table, given_answer, mode)
            assert list(found.texts) == expected["answer_texts"], case
            assert [list(c) for c in found.coordinates] == expected["answer_coordinates"], case
            assert found.float_value == expected["float_value"], case


@pytest.mark.parametrize("mode", [SupervisionMode.REMOVE_ALL, SupervisionMode.REMOVE_ALL_STRICT])
def test_wikitablequestions_answers_equal_the_recorded(goldens, mode):
    lines = (goldens / "tokenization/open/wtq.jsonl").read_text().splitlines()
    valid = 0
    for record in map(json.loads, lines):
        strict = mode is SupervisionMode.REMOVE_ALL_STRICT
        expected = record["answer_strict"] if strict else record["questions"][0]
        try:
            found = parse_answer(
                table_of(record), GoldAnswer(tuple(expected["answer_texts"])), mode
            )
        except AnswerError:
            assert not expected["is_valid"], record["wtq_id"]
            continue
        valid += 1
        assert expected["is_valid"], record["wtq_id"]
        assert [list(c) for c in found.coordinates] == expected["answer_coordinates"]
        assert found.float_value == expected["float_value"]
    assert 0 < valid < len(lines)


cells = st.sampled_from(["a", "A", "b", "B ", "b", "c!", "c (x)", "C", "1"])


@given(
    st.integers(1, 3).flatmap(
        lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=5)
    ),
    st.lists(cells, min_size=1, max_size=3),
)
def test_first_cells_are_the_optimal_assignment(rows, texts):
    """Where every text has a cell and none is shared, scipy's Hungarian solver agrees."""
    table = Table.from_rows(["x"] * len(rows[0]), rows)
    for normalize in NORMALIZERS:
        wanted = [normalize(text) for text in texts]
        here = [normalize(cell.text) for cell in table.cells()]
        matches = np.array([[cell == text for cell in here] for text in wanted])
        if matches.any(axis=1).all() and matches.sum(axis=0).max() == 1:
            break
    else:
        return
    _, chosen = linear_sum_assignment(-matches.astype(float))
    expected = tuple((int(c) // table.num_columns, int(c) % table.num_columns) for c in chosen)
    assert find_coordinates(table, texts) == expected


def test_a_number_that_came_with_the_answer():
    table = Table.from_rows(["n"], [["3"], ["0.1"]])
    cell = parse_answer(table, GoldAnswer(("x", "y"), UNKNOWN, 3.0))
    assert cell == GoldAnswer(("3",), ((0, 0),), 3.0)
    # 0.1 in float32, as records hold it, is what the text says.
    kept = parse_answer(table, GoldAnswer(("0.1",), (), 0.10000000149011612))
    assert (kept.texts, kept.coordinates) == (("0.1",), ((1, 0),))
    assert parse_answer(table, GoldAnswer((), (), 2.5)).texts == ("2.5",)


def test_answer_at_cells():
    table = Table.from_rows(["a", "b"], [["x", ""], ["y", "z"]], table_id="t.csv")
    assert answer_at(table, [[1, 1], [0, 0]]) == GoldAnswer(("z", "x"), ((1, 1), (0, 0)))
    for outside in [(2, 0), (0, 2), (-1, -1)]:
        with pytest.raises(InputError, match=r"t\.csv: no cell at row"):
            answer_at(table, [outside])


def test_a_table_without_rows_has_no_answer():
    table = Table.from_rows(["a"], [])
    assert find_coordinates(table, ["a"]) == ()
    with pytest.raises(AnswerError, match="Unable to convert"):
        parse_answer(table, GoldAnswer(("a",)))
