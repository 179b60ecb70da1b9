"""Files that are whole or not there."""

import fcntl
import json
import os
import pathlib

import pytest

from mate_tf.errors import InputError
from mate_tf.files.atomic import atomic_path, write_json, write_text


def test_a_failed_block_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "folder" / "a.txt"
    write_text(path, "old")
    with pytest.raises(RuntimeError, match="half"):
        _fail_halfway(path)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def _fail_halfway(path):
    with atomic_path(path) as temporary:
        pathlib.Path(temporary).write_text("half")
        raise RuntimeError("half")


def test_what_a_killed_process_left_is_removed(tmp_path):
    path = tmp_path / "a.txt"
    abandoned, other = tmp_path / ".a.txt.123.tmp", tmp_path / ".b.txt.123.tmp"
    abandoned.touch()
    other.touch()
    write_text(path, "new")
    assert not abandoned.exists()
    assert other.exists()


def test_two_writers_with_one_process_id(tmp_path):
    """As two containers on one volume have; each file is whole, and the last one stays."""
    path = tmp_path / "a.txt"
    with atomic_path(path) as first:
        pathlib.Path(first).write_text("first")
        write_text(path, "second")
        assert path.read_text() == "second"
        assert pathlib.Path(first).read_text() == "first"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_was_taken_for_abandoned(tmp_path, monkeypatch):
    """Another process removed it between its creation and its lock."""
    taken, lock = [], fcntl.flock

    def late(file, operation):
        if not taken:
            taken.append(file.name)
            os.remove(file.name)
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    write_text(tmp_path / "a.txt", "text")
    assert taken
    assert (tmp_path / "a.txt").read_text() == "text"


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def unsupported(file, operation):
        raise OSError("no locks")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    (tmp_path / ".a.txt.1.tmp").touch()  # perhaps somebody writes it
    write_text(tmp_path / "a.txt", "text")
    assert sorted(each.name for each in tmp_path.iterdir()) == [".a.txt.1.tmp", "a.txt"]


def test_texts_are_utf8_with_their_own_line_ends(tmp_path):
    write_text(tmp_path / "a.txt", "ü\r\n\n")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xbc\r\n\n"


def test_json(tmp_path):
    content = {"b": [1, "ü"], "a": None}
    write_json(tmp_path / "a.json", content, sort_keys=True, ensure_ascii=False)
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert text == '{\n  "a": null,\n  "b": [\n    1,\n    "ü"\n  ]\n}\n'
    assert json.loads(text) == content


def test_what_json_cannot_hold_leaves_no_file(tmp_path):
    with pytest.raises(TypeError):
        write_json(tmp_path / "a.json", {"a": object()})
    assert not list(tmp_path.iterdir())


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(InputError, match="cannot create the folder"):
        write_text(tmp_path / "a" / "b.txt", "")
