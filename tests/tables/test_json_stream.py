"""Values of a JSON text that is read by parts are those of the whole text."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.tables import json_stream
from mate_tf.tables.json_stream import JsonStream, decoder

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
BLANKS = st.sampled_from([None, 0, 3, "\t"])


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """One character at a time, so that the text is cut at each place."""
    monkeypatch.setattr(json_stream, "_LEAST", 1)


@given(st.lists(VALUES), BLANKS)
def test_a_list(values, blanks):
    text = json.dumps(values, indent=blanks)
    assert list(JsonStream(io.StringIO(text), 10**6).items()) == decoder.decode(text)


@given(st.dictionaries(st.text(), VALUES), BLANKS)
def test_an_object(values, blanks):
    text = json.dumps(values, indent=blanks)
    stream = JsonStream(io.StringIO(text), 10**6)
    assert {key: stream.value() for key in stream.members()} == decoder.decode(text)


@pytest.mark.parametrize("number", ["0", "-1.50", "1e+5", "12345678901234567890", "2E-3"])
def test_numbers_are_not_cut(number):
    assert list(JsonStream(io.StringIO(f"[{number}, {number}]"), 10**6).items()) == [number] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2", "expected , or ], found the end"),
        ("[1 2]", "expected , or ], found 2"),
        ("[1,]", "Expecting value"),
        ("{1: 2}", "Expecting|expected a key"),
        ("[nul", "Expecting value"),
        ('["' + "x" * 1000, "Unterminated string|more than 100 characters"),
        ("[" + "[" * 50_000, "more than 100 characters"),
    ],
)
def test_what_is_no_json(text, message):
    stream = JsonStream(io.StringIO(text), 100)
    with pytest.raises(ValueError, match=message):
        list(stream.items() if text[0] == "[" else stream.members())
