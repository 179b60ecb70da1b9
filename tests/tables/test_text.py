"""Normal forms of text: equal to the recorded ones, and quick on hostile input."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.tables import text as tables_text


@pytest.fixture(scope="module")
def records(goldens):
    return json.loads((goldens / "tokenization/open/text_utils.json").read_text())


@pytest.mark.parametrize(
    "name", ["wtq_normalize", "format_text", "normalize_for_match", "tokenize_string"]
)
def test_normal_forms_equal_the_recorded(records, name):
    function = getattr(tables_text, name)
    assert {r["text"]: function(r["text"]) for r in records} == {
        r["text"]: r[name] for r in records
    }


def test_numbers_equal_the_recorded(records):
    for record in records:
        expected = record["convert_to_float"]
        if isinstance(expected, dict):
            message = expected["error"].removeprefix("ValueError: ")
            with pytest.raises(ValueError, match=message):
                tables_text.convert_to_float(record["text"])
        else:
            value = tables_text.convert_to_float(record["text"])
            assert value == float(expected) or (math.isnan(value) and expected == "nan")


def test_denotations_equal_the_recorded(records):
    for record in records:
        text = record["text"]
        assert tables_text.normalize_answers([text]) == record["normalize_answers"], text


def test_normalize_answers_is_a_sorted_denotation():
    answers = ["Foo", None, 2, "1,000", float("nan"), 0.5]
    assert tables_text.normalize_answers(answers) == ["0.5", "1000.0", "2.0", "foo"]


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,000.5", 1000.5), ("12,5", 12.5), ("1,2,3", 123.0), ("1.2.3", 123.0), (7, 7.0)],
)
def test_convert_to_float(text, number):
    assert tables_text.convert_to_float(text) == number


def test_convert_to_float_of_another_type():
    with pytest.raises(ValueError, match="not a string"):
        tables_text.convert_to_float(["1"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Café” [1] (disputed)†", "cafe"),
        ("Fin.", "fin"),
        ("[a]", "[a]"),  # a citation only behind something
        ("[12]", ""),
        ("x[a[b]", "x"),
        ("a <b>bold</b> move", "a bold move"),
        ("3–2 ’n’ all", "3-2 'n' all"),
    ],
)
def test_wtq_normalize(text, expected):
    assert tables_text.wtq_normalize(text) == expected


@pytest.mark.parametrize(
    "text",
    ["x" + "[1]" * 3000 + "y", "[" * 10_000, " (" * 5_000, "a (b) " * 2_000 + "c", "<a" * 5_000],
    ids=["citations", "brackets", "parentheses", "details", "markup"],
)
def test_hostile_text_comes_to_an_end(text):
    # The published pattern needs 2**3000 steps for the first of these.
    assert len(tables_text.wtq_normalize(text)) <= len(text)


@given(st.text())
def test_any_text_has_all_forms(text):
    formatted = tables_text.format_text(text)
    assert formatted == tables_text.EMPTY or formatted == tables_text.format_text(formatted)
    matched = tables_text.normalize_for_match(text)
    assert " ".join(matched.split()) == matched
    assert all(piece and not piece.isspace() for piece in tables_text.tokenize_string(text))
    tables_text.wtq_normalize(text)
