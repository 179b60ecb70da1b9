"""Requests to a process, and what is said when it fails or dies."""

import sys

import pytest

from mate_tf.analysis.cost import measuring_process

SCRIPT = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from mate_tf.analysis.cost import measuring_process

def add(a, b):
    print("not a reply")
    return a + b

def fail():
    raise ValueError("this does not\\nwork")

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

def leave():
    sys.exit("no more")

measuring_process.serve({"add": add, "fail": fail, "kill": kill, "leave": leave, "pid": os.getpid})
"""


@pytest.fixture
def worker(tmp_path, project):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    with measuring_process.Worker([sys.executable, str(path), str(project)]) as started:
        yield started


def test_replies_and_errors(worker):
    assert worker.ask("add", a=1, b=2) == 3
    with pytest.raises(measuring_process.MeasurementFailed, match=r"^ValueError: this does not$"):
        worker.ask("fail")
    with pytest.raises(measuring_process.MeasurementFailed, match="KeyError"):
        worker.ask("unknown")
    assert worker.ask("add", a=[1], b=[2]) == [1, 2]
    assert worker.alive


def test_is_killed_first(worker):
    pid = worker.ask("pid")
    with open(f"/proc/{pid}/oom_score_adj") as file:
        assert file.read().strip() == "1000"


def test_killed(worker):
    message = "killed, perhaps for lack of memory"
    for _ in range(2):
        with pytest.raises(measuring_process.MeasurementFailed, match=message):
            worker.ask("kill")
    assert not worker.alive


def test_last_words(worker):
    with pytest.raises(measuring_process.MeasurementFailed, match=r"^no more$"):
        worker.ask("leave")


def test_peak_of_what_is_freed():
    with measuring_process.peak_of_block() as peak:
        block = bytearray(2**26)
        block[:: 2**12] = b"x" * len(block[:: 2**12])
        del block
    found = peak()
    assert 0.9 * 2**26 < found.increment < 1.5 * 2**26
    assert found.peak > found.increment
    with measuring_process.peak_of_block() as peak:
        pass
    assert peak().increment < 0.1 * 2**26
