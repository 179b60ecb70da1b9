"""Errors that the command line reports in one line, with exit code 2."""


class InputError(ValueError):
    """User input that cannot be used: a file, a table, a flag, a checkpoint.

    The message is self-contained: it names the file and, if there is one, the row, column or key.
    `mate_tf.cli` prints it on one line without a stack trace.
    """


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
        "PermissionDeniedError",
        "ResourceExhaustedError",
    }
)


def is_of_files(error: BaseException) -> bool:
    """Returns True for errors of TensorFlow about files: no space, not allowed, not there.

    Their classes are known by name, so that this module does not import TensorFlow.
    """
    names = {each.__name__ for each in type(error).__mro__}
    return "OpError" in names and bool(names & _OF_FILES)


def on_one_line(error: BaseException) -> str:
    """Returns the error's message on one line. Keras adds lines to errors raised in layers."""
    return " ".join(str(error).split())
