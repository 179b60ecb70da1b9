"""The folder of uploads: private, gone at any end, and what killed pages left goes too."""

import contextlib
import os
import stat
import subprocess
import sys

import pytest

from mate_tf.demo import uploads

KILLED = """
import os, signal
from mate_tf.demo import uploads
with uploads.folder() as path:
    open(os.path.join(path, "table.csv"), "w").write("a,b")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def parent(tmp_path, monkeypatch):
    monkeypatch.setenv(uploads.VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("end", [None, ValueError, SystemExit, KeyboardInterrupt])
def test_it_is_removed_at_any_end(parent, end):
    with contextlib.suppress(*[end] if end else []), uploads.folder() as path:
        assert os.environ[uploads.VARIABLE] == path
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
        os.makedirs(os.path.join(path, "deep", "er"))
        open(os.path.join(path, "deep", "er", "t.csv"), "w").close()
        if end:
            raise end
    assert os.listdir(parent) == []
    assert os.environ[uploads.VARIABLE] == str(parent)


def test_what_a_killed_page_left_is_removed_and_nothing_else(parent, project):
    environment = os.environ | {"PYTHONPATH": str(project)}
    subprocess.run([sys.executable, "-c", KILLED], env=environment)
    (left,) = parent.iterdir()
    assert (left / "table.csv").exists()
    other = parent / "other"
    other.mkdir()
    (parent / f"{uploads.PREFIX}link").symlink_to(other)
    with uploads.folder() as living:
        assert not left.exists()
        with uploads.folder() as second:
            assert os.path.exists(living)
            assert second != living
    assert sorted(path.name for path in parent.iterdir()) == [f"{uploads.PREFIX}link", "other"]


def test_room(parent):
    for number in range(uploads.UPLOADS):
        assert uploads.has_room(str(parent), 100)
        (parent / str(number)).write_bytes(bytes(100))
    assert not uploads.has_room(str(parent), 100)
    os.utime(parent / "0", (0, 0))
    assert uploads.has_room(str(parent), 100)
    assert not (parent / "0").exists()
