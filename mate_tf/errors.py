"""Errors that the command line reports in one line, with exit code 2."""

import difflib
import errno
import os
import re
from collections.abc import Iterable


class InputError(ValueError):
    """User input that cannot be used: a file, a table, a flag, a checkpoint.

    The message is self-contained: it names the file and, if there is one, the row, column or key.
    `mate_tf.cli` prints it on one line without a stack trace.
    """


def suggestion(given: str, known: Iterable[str]) -> str:
    """Returns the end of a message about an unknown name.

    It is "did you mean 'ask'?", or "known: ask, train" if no known name is close to it.
    """
    known = list(known)
    close = difflib.get_close_matches(given, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"


class LostWorkerError(InputError):
    """Another process of a distributed training was lost.

    TensorFlow waits for the lost process in an ordinary exit. A caller that ends the process
    because of this error must use `os._exit`.
    """


_OF_FILES = frozenset(
    {
        "AlreadyExistsError",
        "DataLossError",
        "NotFoundError",
        "OutOfRangeError",  # also a file that would become too large
        "PermissionDeniedError",
        "ResourceExhaustedError",
    }
)


_OF_GIN = "\n  In call to configurable "
_PARSED = re.compile(r"([^{}]*?)\s*\[\[\{\{node ParseSingleExample.*")
"""Message of TensorFlow about a record that is not an example, with the name of its operation."""


NO_MASK = "input_mask has other values than 0 and 1"
"""Message of the graph that reads records."""

_BEYOND = re.compile(r"indices\[[\d,]*\] = (-?\d+) is not in \[0, (\d+)\)")
"""Message of TensorFlow about a look-up, such as of a token that the model has no embedding of."""


def is_of_files(error: BaseException) -> bool:
    """Returns True for errors of TensorFlow about files: no space, not allowed, not there, damaged.

    Their classes are known by name, so that this module does not import TensorFlow.
    """
    names = {each.__name__ for each in type(error).__mro__}
    if "OpError" not in names:
        return False
    text = _joined(error)
    return bool(names & _OF_FILES or _explain_records(text) or _is_system_error(text))


def _explain_records(text: str) -> str | None:
    """Returns what is wrong with an example of the records, if a message is about that."""
    if match := _PARSED.search(text):
        return match[1].strip()
    if NO_MASK in text:
        return NO_MASK
    if match := _BEYOND.search(text):
        return f"it has the id {match[1]} where the model has {match[2]}"
    return None


def _is_system_error(text: str) -> bool:
    """Returns whether a message has an error of the operating system after a path.

    Some, such as of a disk or of a symbolic link to itself, have no class of their own.
    """
    return any(f"; {os.strerror(number)}" in text for number in errno.errorcode)


def is_of_collectives(error: BaseException) -> bool:
    """Returns whether an operation failed because another worker was lost."""
    return "Collective ops is aborted" in str(error)


def on_one_line(error: BaseException) -> str:
    """Returns the error's message on one line, without what gin adds to it.

    Keras adds lines to errors raised in layers, gin adds the calls that lead to tf-models' trainer.
    """
    text = _joined(error)
    if result := _explain_records(text):
        return f"an example of the records cannot be read, create them again: {result}"
    return text


def _joined(error):
    return " ".join(str(error).partition(_OF_GIN)[0].split())
