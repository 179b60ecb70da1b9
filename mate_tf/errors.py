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


def on_one_line(error: BaseException) -> str:
    """Returns the error's message on one line. Keras adds lines to errors raised in layers."""
    return " ".join(str(error).split())
