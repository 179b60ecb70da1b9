"""What the command line turns into a message and exit code 2."""


class InputError(ValueError):
    """Something the user gave cannot be used: a file, a table, a flag, a checkpoint.

    The message is complete in itself: it names the file and, where there is one, the row,
    column or key. `mate_tf.cli` prints it on one line without a stack trace.
    """


class LostWorkerError(InputError):
    """Another process of a training is gone.

    TensorFlow waits for it when this one ends in the ordinary way, so whoever ends the process
    because of this should not (`os._exit`).
    """


def on_one_line(error: BaseException) -> str:
    """Its message; Keras adds lines to what is raised within a layer."""
    return " ".join(str(error).split())
