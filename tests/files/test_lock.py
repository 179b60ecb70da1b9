"""A folder has one writer; the lock goes with its process."""

import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest

from mate_tf.errors import InputError
from mate_tf.files.lock import locked, reading

HOLD = """
import sys, time
from mate_tf.files.lock import locked
with locked(sys.argv[1], "training"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_process_at_a_time(tmp_path, project):
    folder = str(tmp_path / "model")
    command = [sys.executable, "-c", HOLD, folder]
    environment = os.environ | {"PYTHONPATH": str(project)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as other:
        assert other.stdout.readline() == "held\n"
        message = f"{folder}: training, process {other.pid} on .* writes to this folder"
        with pytest.raises(InputError, match=message), locked(folder, "training"):
            pass
        other.send_signal(signal.SIGKILL)
    with locked(folder, "training"), locked(f"{folder}_2", "training"):
        pass
    with locked(folder, "training"):
        pass
    assert os.listdir(folder) == []
    with locked(f"{folder}_3/deep", "training"):
        pass
    assert not os.path.exists(f"{folder}_3")  # nobody wrote into it
    with locked(f"{folder}_3", "training"):
        shutil.rmtree(f"{folder}_3")  # by somebody else


def test_remote_folders_have_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with locked("gs://bucket/model", "training"):
        assert os.listdir() == []


def in_a_thread(hold, *arguments):
    """Takes a lock in another thread, as another process would; returns the refusal, or None."""
    refused = []

    def take():
        try:
            with hold(*arguments):
                refused.append(None)
        except InputError as error:
            refused.append(str(error))

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return refused[0]


def test_many_read_or_one_writes(tmp_path):
    folder = str(tmp_path)
    with reading(folder, "training"):
        assert in_a_thread(reading, folder, "another training") is None
        assert os.listdir(folder)  # the other reader has left the locked file
        assert "reads this folder" in in_a_thread(locked, folder, "create_data")
    with locked(folder, "create_data"):
        assert "create_data, process" in in_a_thread(reading, folder, "training")
    assert os.listdir(folder) == []
    with reading(f"{folder}/none", "training"):
        assert not os.path.exists(f"{folder}/none")


def test_one_holder_takes_it_again(tmp_path):
    folder = str(tmp_path)
    with reading(folder, "predict"), locked(folder, "predict") as lock:
        with reading(folder, "predict"), locked(folder, "calibrate"):
            pass
        assert lock.is_there()
        assert "writes to this folder" in in_a_thread(reading, folder, "training")
    assert os.listdir(folder) == []


def test_the_lock_of_somebody_else_stays(tmp_path):
    """The folder was removed, and another process works in a new one."""
    folder = tmp_path / "model"
    with locked(str(folder), "training") as lock:
        shutil.rmtree(folder)
        assert not lock.is_there()
        folder.mkdir()
        (folder / ".lock").write_text("of another one")
        assert not lock.is_there()
    assert (folder / ".lock").read_text() == "of another one"
