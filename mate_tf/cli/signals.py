"""SIGINT, SIGTERM and SIGHUP end a run within two seconds, with its child processes.

A signal raises KeyboardInterrupt in the main thread, so that what is half-written is removed. If
the main thread does not end in time, since it is inside TensorFlow, the process ends at once. This
is safe: a killed run leaves nothing half-written either, see `mate_tf.files`. A service has more
time, for the requests that run, and so has a training run, for a checkpoint.
"""

import contextlib
import glob
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator

from mate_tf import interrupts

_SECONDS = 1.0  # for the main thread to clean up
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


_patience = 0.0  # seconds that the main thread has instead, in `patient`


@contextlib.contextmanager
def patient(seconds: float) -> Iterator[None]:
    """Gives the main thread more time to end after a signal; a second signal ends it at once."""
    global _patience
    before, _patience = _patience, seconds
    try:
        yield
    finally:
        _patience = before


class Interruption:
    """The signal that a run has received.

    Attributes:
        number: the signal; 0 before there is one.
    """

    def __init__(self, program: str):
        self.number = 0
        self._program = program
        self._said = threading.Lock()

    @property
    def exit_code(self) -> int:
        """The exit code that shells give to a process ended by the signal: 130 for SIGINT."""
        return 128 + (self.number or signal.SIGINT)

    def say(self, number: int = 0) -> None:
        """Prints one line on standard error, once; `number`: the signal, if `self` has none yet."""
        if self._said.acquire(blocking=False):
            name = signal.Signals(self.number or number or signal.SIGINT).name
            line = f"{self._program}: interrupted ({name}); run the same command to resume"
            with contextlib.suppress(OSError):  # the terminal may be closed
                print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Ends the child processes and this process."""
        self.say()
        for child in _children(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(self.exit_code)

    def _receive(self, number, frame) -> None:
        if not self.number:
            self.number = number
            raise KeyboardInterrupt

    def _watch(self, received: socket.socket, ended: threading.Event) -> None:
        """Ends the process some time after a signal, unless the block has ended."""
        numbers = {getattr(signal, name) for name in _SIGNALS}
        while data := received.recv(1):
            if data[0] not in numbers:
                continue
            seconds = _patience
            if not seconds and (seconds := interrupts.seconds()):
                self.say(data[0])
            in_time = _ends(received, ended, seconds) if seconds else ended.wait(_SECONDS)
            if not in_time:
                self.number = self.number or data[0]
                self.end()


@contextlib.contextmanager
def handled(interruption: Interruption) -> Iterator[Interruption]:
    """Raises KeyboardInterrupt for a signal in this block.

    If the block does not end soon, ends the process. Signals that the process ignores, as under
    nohup, stay ignored. Does nothing outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    received, sent = socket.socketpair()
    ended = threading.Event()
    sent.setblocking(False)
    wakeup = signal.set_wakeup_fd(sent.fileno(), warn_on_full_buffer=False)
    before = {}
    for name in _SIGNALS:
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, interruption._receive)
    threading.Thread(target=interruption._watch, args=[received, ended], daemon=True).start()
    try:
        yield interruption
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        sent.close()  # ends the thread


def _ends(received: socket.socket, ended: threading.Event, seconds: float) -> bool:
    """Waits for the end of a block; returns False after some time or at another signal."""
    end = time.monotonic() + seconds
    while not ended.wait(0.05):
        if time.monotonic() > end or select.select([received], [], [], 0)[0]:
            return False
    return True


def end_at_once() -> None:
    """Lets a signal end the process without a stack trace, since its work is done.

    Python takes seconds to unload TensorFlow. Signals that the process ignores stay ignored.
    """
    for name in _SIGNALS:
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _children(parent: int) -> list[int]:
    """Returns the process ids of a process's descendants; [] where there is no /proc."""
    parents = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            # The name in parentheses may have spaces and parentheses.
            parents[int(path.split("/")[2])] = int(file.read().rpartition(")")[2].split()[1])
    processes = [parent]
    for pid in processes:
        processes += [child for child, its_parent in parents.items() if its_parent == pid]
    return processes[1:]
