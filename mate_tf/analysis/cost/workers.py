"""Processes that measure on request: JSON, a line for each request and for each reply.

So what is compared can take turns while each lives in a process, or an environment, of its own; and
if one is killed because the memory is not enough, the others go on. Imports the standard library
only, as peers run in environments without TensorFlow.
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


class MeasurementFailed(Exception):
    """What was asked for could not be measured; the message says why, in one line."""


class Worker:
    """A process started by `command`, which answers requests as `serve` does.

        with Worker([sys.executable, "-m", "mate_tf.analysis.cost.encoder_worker"]) as worker:
            worker.ask("rates")

    Args:
        command: program and arguments.
        environment: variables beside those of this process.
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

    def ask(self, request: str, **arguments):
        """The result of a request.

        Raises:
            MeasurementFailed: the request failed, or the process is gone.
        """
        line = ""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps([request, arguments]) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise MeasurementFailed(self._why())
        reply = json.loads(line)
        if "error" in reply:
            raise MeasurementFailed(reply["error"])
        return reply["result"]

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def _why(self) -> str:
        code = self._process.wait()
        if code == -signal.SIGKILL:
            return "killed, as when the memory is not enough"
        self._errors.seek(0)
        said = [line.strip() for line in self._errors if line.strip()]
        return said[-1] if said else f"ended with code {code}"

    def close(self) -> None:
        """Ends the process."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()


def serve(handlers: dict[str, Callable]) -> None:
    """Answers requests on standard input until it ends.

    Whatever else the process prints goes to standard error. An exception is a reply; if the
    memory is not enough for all processes, this one is to be killed, not one that does not measure.

    Args:
        handlers: name of a request -> function of its arguments, which gives what JSON can hold.
    """
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as replies:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            request, arguments = json.loads(line)
            try:
                reply = json.dumps({"result": handlers[request](**arguments)})
            except Exception as error:  # whatever it is, it is told to whoever asked
                reply = json.dumps({"error": first_line(error)})
            replies.write(reply + "\n")
            replies.flush()


def first_line(error: BaseException, length: int = 200) -> str:
    """What an exception says, in one line of at most `length` characters."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text}"[:length]
