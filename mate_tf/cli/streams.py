"""Standard output and error of a command that are closed, full or have lost their reader."""

import contextlib
import os
import sys

_NO_STREAM = (OSError, ValueError, AttributeError)  # closed, or of a notebook, without a number


def open_closed() -> None:
    """Opens those of the three standard streams that were closed, without a place to go.

    Otherwise the next files would take their numbers, and messages would be written into them.
    Characters that a stream cannot encode are written with backslashes.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # the lowest number that is free, which is this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        with contextlib.suppress(*_NO_STREAM):
            getattr(sys, name).reconfigure(errors="backslashreplace")


def say(line: str) -> None:
    """Prints a line on standard error, if there is room for it."""
    try:
        print(line, file=sys.stderr, flush=True)
    except _NO_STREAM:
        _abandon(sys.stderr)


def flush() -> None:
    """Writes what standard output still holds.

    Raises:
        OSError: if it is full or has no reader. What it holds is then given up: Python would try
            again at the end, and print a stack trace.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        _abandon(sys.stdout)
        raise type(error)(error.errno, f"standard output: {error.strerror}") from None
    except (ValueError, AttributeError):  # closed by the program
        pass


def _abandon(stream) -> None:
    with contextlib.suppress(*_NO_STREAM):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
