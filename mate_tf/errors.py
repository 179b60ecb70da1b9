"""The one exception that the command line turns into a message and exit code 2."""


class InputError(ValueError):
    """Something the user gave cannot be used: a file, a table, a flag, a checkpoint.

    The message is complete in itself: it names the file and, where there is one, the row,
    column or key. `mate_tf.cli` prints it on one line without a stack trace.
    """
