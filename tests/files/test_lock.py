"""A folder has one writer; the lock goes with its process."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from mate_tf.errors import InputError
from mate_tf.files.lock import locked

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
    with locked(f"{folder}_3", "training"):
        pass
    assert not os.path.exists(f"{folder}_3")  # nobody wrote into it
    with locked(f"{folder}_3", "training"):
        shutil.rmtree(f"{folder}_3")  # by somebody else


def test_remote_folders_have_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with locked("gs://bucket/model", "training"):
        assert os.listdir() == []
