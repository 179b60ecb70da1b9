"""Files with one JSON object: the object, or one clear error."""

import pytest

from mate_tf.errors import InputError
from mate_tf.files.json_object import read_json_object


def test_object(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": "ü"}', encoding="utf-8")
    assert read_json_object(str(path)) == {"a": "ü"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: .*No such file.*; try again"),
        (b"{", "cannot be read: Expecting .*; try again"),
        (b'"\xff"', "cannot be read: .*utf-8.*; try again"),
        (b"[" * 100_000, "cannot be read: .*recursion.*; try again"),
        (b"[]", "expected a JSON object; try again"),
    ],
)
def test_errors(tmp_path, content, words):
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{path}: {words}$"):
        read_json_object(str(path), hint="; try again")
    with pytest.raises(InputError, match=f"^--flag={path}: "):
        read_json_object(str(path), name=f"--flag={path}")
