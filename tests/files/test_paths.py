"""Files of this machine, and by TensorFlow's file systems, which also know this machine."""

import os
import pathlib
import socket

import pytest

from mate_tf.errors import InputError
from mate_tf.files import paths


@pytest.fixture(params=["", "file://"], ids=["local", "remote"])
def folder(request, tmp_path):
    """The path of a folder, as text."""
    found = f"{request.param}{tmp_path}"
    assert paths.is_remote(found) == bool(request.param)
    return found


def write(path, content):
    with paths.opened(path, "wb") as file:
        file.write(content)


def test_a_file(folder, tmp_path):
    path = f"{folder}/b[1]*.txt"
    write(path, b"a\r\n\xff")
    assert (tmp_path / "b[1]*.txt").read_bytes() == b"a\r\n\xff"
    assert paths.read_bytes(path) == b"a\r\n\xff"
    write(f"{folder}/new", b"new")
    paths.replace(path, by=f"{folder}/new")
    assert paths.read_bytes(path) == b"new"
    assert paths.names(folder) == ["b[1]*.txt"]
    paths.remove(path)
    assert paths.names(folder) == []


def test_folders(folder, tmp_path):
    for _ in range(2):
        paths.make_folder(f"{folder}/a/b")
    write(f"{folder}/a/.b.tmp", b"")
    assert sorted(paths.names(f"{folder}/a")) == [".b.tmp", "b"]
    assert paths.beginning_with(f"{folder}/a/b") == [f"{folder}/a/b"]
    assert paths.beginning_with(f"{folder}/a/.") == [f"{folder}/a/.b.tmp"]
    assert paths.names(f"{folder}/absent") == []


def test_no_pattern(tmp_path):
    (tmp_path / "a[b]").touch()
    (tmp_path / "ab").touch()
    assert paths.beginning_with(f"{tmp_path}/a[") == [f"{tmp_path}/a[b]"]


def test_what_cannot_be_used(folder):
    write(f"{folder}/a", b"")
    for function in (paths.read_bytes, paths.remove):
        with pytest.raises(OSError, match="absent"):
            function(f"{folder}/absent")
    with pytest.raises(OSError, match="a"):
        paths.make_folder(f"{folder}/a/b")
    with pytest.raises(OSError, match="absent"):
        paths.replace(f"{folder}/b", by=f"{folder}/absent")
    with pytest.raises(OSError, match=r"directory|Failed precondition"):
        paths.read_bytes(folder)


ODD = ["a[1]", "lr=[1e-4]", "r*", "what?", "[!x]", "a b", "{x}", "'\"", "ü"]


@pytest.mark.parametrize("name", ODD)
def test_a_name_of_a_folder_is_no_pattern(tmp_path, name):
    for folder in (name, "a1", "lr=1", "r1", "whats", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x1.txt").touch()
        (tmp_path / folder / "x*.txt").touch()
    begin = f"{tmp_path}/{name}"
    assert paths.matching(f"{begin}/x1.txt") == [f"{begin}/x1.txt"]
    assert paths.matching(f"{begin}/x*.txt") == [f"{begin}/x*.txt"]
    assert paths.matching(f"{begin}/x?.txt") == [f"{begin}/x*.txt", f"{begin}/x1.txt"]
    assert paths.matching(f"{begin}/y*") == []
    assert paths.below(begin, "x1*") == [f"{begin}/x1.txt"]


def test_patterns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("r1", "r2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").touch()
    assert paths.matching("r*/x") == ["r1/x", "r2/x"]
    assert paths.matching("r[2]/?") == ["r2/x"]
    assert paths.matching(f"file://{tmp_path}/r*/x") == [f"file://{tmp_path}/r{n}/x" for n in "12"]
    assert paths.below(f"file://{tmp_path}/r1", "*") == [f"file://{tmp_path}/r1/x"]


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "socket", "loop"])
def test_what_is_not_a_regular_file(tmp_path, monkeypatch, kind):
    """At once: nobody writes to the pipe."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / kind
    with socket.socket(socket.AF_UNIX) as server:
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path = pathlib.Path("/dev/zero")
        elif kind == "folder":
            path.mkdir()
        elif kind == "socket":
            server.bind(kind)
        else:
            path.symlink_to(path)
        with pytest.raises(OSError, match=kind if kind != "device" else "zero"):
            paths.read_bytes(path)
        with pytest.raises(InputError, match=f"{path}: cannot be read: "):
            paths.check_regular(path)


def test_a_path_of_another_kind(tmp_path):
    assert not paths.is_remote(tmp_path)
    assert not paths.is_remote("a:/b")
    assert paths.is_remote("gs://a/b")
