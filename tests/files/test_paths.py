"""Files of this machine, and by TensorFlow's file systems, which also know this machine."""

import pytest

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


def test_a_path_of_another_kind(tmp_path):
    assert not paths.is_remote(tmp_path)
    assert not paths.is_remote("a:/b")
    assert paths.is_remote("gs://a/b")
