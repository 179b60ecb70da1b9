"""JSON values and JSON lines as other systems write them, and broken ones."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.errors import InputError
from mate_tf.files.json_files import parse_json, read_json, read_json_lines, read_json_object


def test_values(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": "\xc3\xbc"}')
    assert read_json(path) == read_json_object(str(path)) == {"a": "ü"}
    assert parse_json("[1, 2]", "it") == [1, 2]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"{", "not valid JSON: Expecting .*"),
        (b'{"a": NaN}', "not valid JSON: NaN is not JSON"),
        (b'"\xff"', "not valid UTF-8 .*"),
        (b"[" * 100_000, "not valid JSON: .*recursion.*"),
        (b"1" * 5000, "not valid JSON: .*digits.*"),
        (b"[]", r"expected a JSON object, not \[\]"),
    ],
)
def test_broken_objects(tmp_path, content, words):
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{path}: {words}$"):
        read_json_object(str(path))
    with pytest.raises(InputError, match=f"^--flag={path}: "):
        read_json_object(str(path), name=f"--flag={path}")


def test_marks_line_ends_and_blank_lines_do_no_harm(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n{"b": "\\u00fc\xc3\xbc\xe2\x80\xa8"}')
    assert list(read_json_lines(path)) == [(1, {"a": 1}), (4, {"b": "üü\u2028"})]


def test_put_together_files(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\xef\xbb\xbf{"a": 2}\n')
    assert [content["a"] for _, content in read_json_lines(path)] == [1, 2]


def test_reads_no_further_than_asked(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a"')
    assert next(read_json_lines(path)) == (1, {"a": 1})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n{"a": 1', r"a.jsonl line 2: not valid JSON: Expecting"),
        (b'{\n"a": 1}', r"a.jsonl line 1: not valid JSON"),
        (b'{"a": 1} {"a": 2}', r"a.jsonl line 1: .*Extra data"),
        (b'{"a": NaN}', r"a.jsonl line 1: .*NaN is not JSON"),
        (b'{"a": [-Infinity]}', r"a.jsonl line 1: .*-Infinity is not JSON"),
        (b'[{"a": 1}]', r"a.jsonl line 1: expected a JSON object, not \[\{"),
        (b'{"a": 1}\n"b"', r"a.jsonl line 2: expected a JSON object"),
        (b'{"a": 1}\n{"a": "\xff"}', r"a.jsonl line 2: not valid UTF-8"),
        ('{"a": 1}'.encode("utf-16"), r"a.jsonl line 1: not valid UTF-8"),
        (b"[" * 100_000, r"a.jsonl line 1: not valid JSON"),
        (b'{"a": 1' + b"0" * 5000 + b"}", r"a.jsonl line 1: not valid JSON"),
    ],
)
def test_broken_lines_are_named(tmp_path, content, message):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        list(read_json_lines(path))
    assert "\n" not in str(caught.value)


def test_missing_files(tmp_path):
    with pytest.raises(InputError, match=r"nothing.jsonl: cannot be read: No such file"):
        list(read_json_lines(tmp_path / "nothing.jsonl"))
    with pytest.raises(InputError, match=r"directory"):
        list(read_json_lines(tmp_path))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.text(), VALUES, max_size=4), max_size=5), st.booleans())
def test_what_is_written_is_read(tmp_path_factory, objects, plain):
    objects = [content for content in objects if "Infinity" not in json.dumps(content)]
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    lines = [json.dumps(content, ensure_ascii=plain) for content in objects]
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    if not plain and any("\ud800" <= char <= "\udfff" for line in lines for char in line):
        with pytest.raises(InputError, match="UTF-8"):
            list(read_json_lines(path))
    else:
        assert list(read_json_lines(path)) == list(enumerate(objects, start=1))
