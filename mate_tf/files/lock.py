"""Locks a folder for one process that writes to it."""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator

from mate_tf.errors import InputError

_FILE = ".lock"


@contextlib.contextmanager
def locked(folder: str, work: str) -> Iterator[None]:
    """Holds the lock of a folder, which is made if needed, and removed if it is then left empty.

    The lock ends with the process, also with a killed one. A remote folder, such as `gs://`, has
    no lock.

    Args:
        folder: the folder.
        work: what holds the lock, for the message, such as "training".

    Raises:
        InputError: if another process holds it.
    """
    if "://" in folder:
        yield
        return
    made = not os.path.isdir(folder)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, _FILE)
    with _acquired(path) as file:
        file.truncate(0)
        file.write(f"{work}, process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        try:
            yield
        finally:
            with contextlib.suppress(FileNotFoundError):  # somebody removed the folder
                os.remove(path)
                if made and not os.listdir(folder):
                    os.rmdir(folder)


def _acquired(path: str):
    """Returns the open file at `path`, locked by this process."""
    while True:
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115  the caller closes it
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.readline().strip() or "another process"
            file.close()
            raise InputError(
                f"{os.path.dirname(path)}: {holder} writes to this folder; wait for its end or "
                "give another one"
            ) from None
        # The process before may have removed the file after this one has opened it.
        if os.path.exists(path) and os.path.samestat(os.stat(path), os.fstat(file.fileno())):
            return file
        file.close()
