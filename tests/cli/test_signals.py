"""A signal ends a program with one line and the shell's exit code, and its child processes."""

import signal
import subprocess
import sys
import time

import psutil
import pytest

from mate_tf.cli import signals

CLEANING_UP = """
import os, subprocess, sys, time
from mate_tf.cli import signals
signals._SECONDS = 60
with signals.handled(signals.Interruption("mate-tf")) as interruption:
    try:
        print("ready", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("cleaned up", flush=True)
        interruption.end()
"""
DEAF = """
import os, subprocess, sys, time
from mate_tf.cli import signals
with signals.handled(signals.Interruption("mate-tf")):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    said = False
    while True:
        try:
            if not said:
                said = True
                print(child.pid, flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            pass
"""
# The tests may run in the background of a shell, which ignores SIGINT there, or under nohup.
DEFAULT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def started(code: str, **options) -> subprocess.Popen:
    """Starts Python code, with standard output and errors to read."""
    return subprocess.Popen(
        [sys.executable, "-c", DEFAULT + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize("number", CODES, ids=lambda number: signal.Signals(number).name)
def test_the_main_thread_cleans_up(number):
    with started(CLEANING_UP) as process:
        process.stdout.readline()
        process.send_signal(number)
        assert process.stdout.read() == "cleaned up\n"
        line = (
            f"mate-tf: interrupted ({signal.Signals(number).name}); run the same command to resume"
        )
        assert process.stderr.read().splitlines() == [line]
        assert process.wait() == CODES[number]


def test_a_main_thread_that_goes_on_is_ended_with_its_children():
    with started(DEAF) as process:
        child = psutil.Process(int(process.stdout.readline()))
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read().count("interrupted (SIGTERM)") == 1
        assert process.wait() == 143
        child.wait(10)


def test_ignored_signals_stay_ignored():
    """As those of a program under nohup."""
    ignore = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    with started(f"{ignore}{CLEANING_UP}") as process:
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        assert process.poll() is None
        process.kill()


def test_handlers_are_as_before_afterwards():
    before = [signal.getsignal(number) for number in CODES]
    with pytest.raises(KeyboardInterrupt), signals.handled(signals.Interruption("mate-tf")):
        signal.raise_signal(signal.SIGTERM)
    assert [signal.getsignal(number) for number in CODES] == before
    time.sleep(1.2 * signals._SECONDS)  # the block has ended in time: nothing else happens


DONE = """
import atexit, sys, time
from mate_tf.cli import main
atexit.register(lambda: (print("done", flush=True), time.sleep(60)))
sys.argv = ["mate-tf", "--help"]
main.run()
"""


@pytest.mark.parametrize("number", CODES, ids=lambda number: signal.Signals(number).name)
def test_a_program_that_is_done_ends_at_once(number):
    """Python may take seconds to unload what the program has used."""
    with started(DONE) as process:
        while "done" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(number)
        assert process.stderr.read() == ""
        assert process.wait() == -number


PATIENT = """
import time
from mate_tf.cli import signals
with signals.handled(signals.Interruption("mate-tf")), signals.patient(PATIENCE):
    end, said = time.monotonic() + 3, False
    while time.monotonic() < end:
        try:
            if not said:
                said = True
                print("ready", flush=True)
            time.sleep(max(0, end - time.monotonic()))
        except KeyboardInterrupt:
            pass
    print("answered", flush=True)
"""


SAVING = PATIENT.replace("signals.patient(PATIENCE)", "interrupts.saving(lambda: SAVES)").replace(
    "from mate_tf.cli import signals",
    "from mate_tf import interrupts\nfrom mate_tf.cli import signals",
)


@pytest.mark.parametrize("saves", [True, False])
def test_time_to_save(saves):
    """The line is said at once, as what is saved may take its time."""
    with started(SAVING.replace("SAVES", str(saves))) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        line = "mate-tf: interrupted (SIGTERM); run the same command to resume\n"
        assert process.stderr.readline() == line
        assert (process.stdout.read() == "answered\n") == saves
        assert process.wait() == (0 if saves else 143)


@pytest.mark.parametrize(
    ("patience", "again", "answered"), [(20, False, True), (20, True, False), (0.5, False, False)]
)
def test_a_patient_end(patience, again, answered):
    """The main thread has time, up to a limit or a second signal."""
    with started(PATIENT.replace("PATIENCE", str(patience))) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        if again:
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
        assert (process.stdout.read() == "answered\n") == answered
        assert process.wait() == (0 if answered else 143)
