"""Locks of folders of examples: one process writes them, or several read them."""

import contextlib
import os
from collections.abc import Iterator

from mate_tf.data.records import tfrecord
from mate_tf.errors import InputError
from mate_tf.files.lock import locked, reading


@contextlib.contextmanager
def writing(path: str | os.PathLike) -> Iterator[None]:
    """Keeps others from writing or reading examples while this process makes them.

    Args:
        path: one of the files.

    Raises:
        InputError: if another process writes or reads them.
    """
    with locked(os.path.dirname(path) or ".", "create_data"):
        yield


@contextlib.contextmanager
def read_by(work: str, *paths: str) -> Iterator[None]:
    """Keeps others from making examples while this process reads them.

    Args:
        work: what reads them, for messages.
        *paths: files, or patterns; "" is left out. They need not exist.

    Raises:
        InputError: if another process makes them.
    """
    folders = set()
    for path in filter(None, paths):
        with contextlib.suppress(InputError):  # the reader says what is wrong with them
            folders |= {os.path.dirname(each) or "." for each in tfrecord.files_of(path)}
    with contextlib.ExitStack() as stack:
        for folder in sorted(folders):
            stack.enter_context(reading(folder, work))
        yield
