"""YAML within limits: what cannot be read ends with one line, in seconds."""

import os
import time

import pytest

from mate_tf.errors import InputError
from mate_tf.files import yaml_files
from mate_tf.files.yaml_files import parse_yaml

_DOUBLED = "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
_MERGED = "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &a [*a]", "line 1: contains itself by an alias"),
        ("x: 1\na: &a {b: {c: *a}}", "line 2: contains itself by an alias"),
        ("a: &a {<<: *a}", "contains itself by an alias"),
        (f"a0: &a0 [1]\n{_DOUBLED}", "more than 100,000 values"),
        (f"a0: &a0 {{x: 1}}\n{_MERGED}", "more than 100,000 values"),
        ("a: " + "1" * 5000, "line 1: a number of 5,000 characters"),
        ("a: 0x" + "f" * 5000, "line 1: a number of 5,002 characters"),
        (f"? {'1' * 5000}\n: a", "line 1: a number of 5,000 characters"),
        ("a: 2001-99-99", "is not YAML: month must be"),
        ("a: !!int x", "is not YAML"),
        ("a: !!int ''", "is not YAML"),
        ("a: !!bool x", "is not YAML"),
        ("a: !!timestamp x", "is not YAML"),
        ("a: !!binary '\u00e4'", "is not YAML"),
        ("[" * 5000, "is not YAML"),
        ("a: [", "is not YAML"),
        ("a: 1\n---\nb: 1", "is not YAML"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(InputError, match=f"^x.yaml: .*{message}"):
        parse_yaml(text, "x.yaml")


def test_aliases_are_read():
    assert parse_yaml("a: &a [1, 2]\nb: {c: *a, d: *a}", "x")["b"] == {"c": [1, 2], "d": [1, 2]}
    assert parse_yaml("", "x") is None


def test_files(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("\ufeffa: é", encoding="utf-8")
    assert yaml_files.read_yaml(path) == {"a": "é"}
    path.write_bytes(b"a: \xff")
    with pytest.raises(InputError, match=r"x.yaml: not valid UTF-8"):
        yaml_files.read_yaml(path)
    path.write_text("a: 1\n" * 5_000_000)
    begin = time.monotonic()
    with pytest.raises(InputError, match="is larger than 1,048,576 bytes"):
        yaml_files.read_yaml(path)
    assert time.monotonic() - begin < 5
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match="not a regular file"):
        yaml_files.read_yaml(path)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        yaml_files.read_yaml(tmp_path / "absent")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InputError, match="cannot be read: Too many levels of symbolic links"):
        yaml_files.read_yaml(tmp_path / "loop")
