"""Processes that measure on request. Requests and replies are JSON, one a line.

The compared implementations run in turn, each in its own process or environment. If the system
kills one because memory is short, the others continue. This module imports the standard library
only, because peers run in environments without TensorFlow.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import IO, NamedTuple, cast


class MeasurementFailed(Exception):
    """A measurement failed. The message has the reason in one line."""


class Worker:
    """A process started by `command` that answers requests with `serve`.

        with Worker([sys.executable, "-m", "mate_tf.analysis.cost.encoder_worker"]) as worker:
            worker.ask("rates")

    Args:
        command: program and arguments.
        environment: environment variables in addition to those of this process.
    """

    def __init__(self, command: list[str], environment: dict[str, str] | None = None):
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  see close
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=os.environ | (environment or {}),
        )
        self._requests = cast(IO[str], self._process.stdin)
        self._replies = cast(IO[str], self._process.stdout)

    def ask(self, request: str, **arguments):
        """Sends a request and returns its result.

        Raises:
            MeasurementFailed: if the request failed or the process has ended.
        """
        line = ""
        with contextlib.suppress(BrokenPipeError):
            self._requests.write(json.dumps([request, arguments]) + "\n")
            self._requests.flush()
            line = self._replies.readline()
        if not line:
            raise MeasurementFailed(self._why())
        reply = json.loads(line)
        if "error" in reply:
            raise MeasurementFailed(reply["error"])
        return reply["result"]

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return self._process.poll() is None

    def _why(self) -> str:
        code = self._process.wait()
        if code == -signal.SIGKILL:
            return "killed, perhaps for lack of memory"
        self._errors.seek(0)
        said = [line.strip() for line in self._errors if line.strip()]
        return said[-1] if said else f"ended with code {code}"

    def close(self) -> None:
        """Ends the process."""
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self._process.kill()
        self._process.wait()
        self._replies.close()
        self._errors.close()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()


def serve(handlers: dict[str, Callable]) -> None:
    """Answers requests on standard input until its end.

    Other output of the process goes to standard error. Exceptions are sent as replies. If memory is
    short, the system kills this process first, and not one that does not measure.

    Args:
        handlers: name of a request -> function of its arguments, with a result for JSON.
    """
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as replies:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            request, arguments = json.loads(line)
            try:
                reply = json.dumps({"result": handlers[request](**arguments)})
            except Exception as error:  # any exception is sent as the reply
                reply = json.dumps({"error": first_line(error)})
            replies.write(reply + "\n")
            replies.flush()


def first_line(error: BaseException, length: int = 200) -> str:
    """Returns type and first line of an exception, in at most `length` characters."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text}"[:length]


class Peak(NamedTuple):
    """Memory in bytes.

    Attributes:
        increment: peak minus the memory before the call, when weights and inputs already exist.
        peak: peak of the whole process.
    """

    increment: int
    peak: int


def status(field: str) -> int:
    """Returns a field of /proc/self/status, such as VmRSS, in bytes."""
    text = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    return int(text.split(field + ":")[1].split()[0]) * 1024


@contextlib.contextmanager
def peak_of_block():
    """Yields a function that returns the `Peak` within the block, once the block has ended.

    A process often keeps memory that it has freed. So a peak is meaningful only in a process that
    has done nothing else before.
    """
    before = status("VmRSS")
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    result = []
    yield lambda: result[0]
    peak = status("VmHWM")
    result.append(Peak(max(peak - before, 0), peak))
