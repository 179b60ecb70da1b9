"""Examples are made by one process, while none reads them."""

import os
import threading

import pytest

from mate_tf.data.records import locks
from mate_tf.errors import InputError


def refused(hold, *arguments):
    """Takes a lock in another thread, as another process would; returns why it is refused."""
    found = []

    def take():
        try:
            with hold(*arguments):
                found.append(None)
        except InputError as error:
            found.append(str(error))

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "train.tfrecord").touch()
    return str(tmp_path / "train.tfrecord")


def test_readers_and_a_writer(path, tmp_path):
    pattern = str(tmp_path / "*.tfrecord")
    with locks.read_by("training", pattern, ""):
        assert refused(locks.read_by, "another training", path) is None
        assert refused(locks.writing, path).startswith(f"{tmp_path}: another training, process")
    with locks.writing(path):
        assert refused(locks.writing, path).startswith(f"{tmp_path}: create_data, process")
        assert "create_data, process" in refused(locks.read_by, "training", pattern)
    assert os.listdir(tmp_path) == ["train.tfrecord"]


def test_files_that_are_not_there(tmp_path):
    """The reader says so."""
    with locks.read_by("training", str(tmp_path / "none" / "*.tfrecord")):
        assert os.listdir(tmp_path) == []


def test_data_that_nobody_can_write(path, tmp_path, monkeypatch):
    """As on a volume that is mounted for reading."""

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with locks.read_by("training", path):
        pass
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["train.tfrecord"]
