"""Locks folders: one process writes to a folder, or several read it.

A lock is a file that is locked by `flock`. It goes with its process, also with a killed one, and
holds for all processes of a machine, whatever their namespaces. A thread may take a lock again
that it holds.
"""

import contextlib
import errno
import fcntl
import os
import socket
import threading
from collections.abc import Iterator
from typing import IO

from mate_tf.errors import InputError
from mate_tf.files.paths import is_remote

FILE = ".lock"

_held: dict[tuple[int, str], "Lock"] = {}
"""(thread, path) -> its lock."""


class Lock:
    """A lock that is held.

    Attributes:
        file: the locked file; None if there is none, as for remote folders.
        path: its path.
        shared: others may hold it too.
    """

    def __init__(self, path: str, file: IO[str] | None, shared: bool):
        self.path, self.file, self.shared = path, file, shared

    def is_there(self) -> bool:
        """Returns False if somebody has removed the locked file, or its folder."""
        return self.file is None or _is_at(self.path, self.file)


@contextlib.contextmanager
def locked(folder: str, work: str) -> Iterator[Lock]:
    """Holds the lock of a folder, which is made if needed, and removed if it is then left empty.

    So are those that it is in. A remote folder, such as `gs://`, has no lock.

    Args:
        folder: the folder.
        work: what holds the lock, for the message, such as "training".

    Raises:
        InputError: if another process holds it.
    """
    with _locked(folder, folder, FILE, work, shared=False) as lock:
        yield lock


@contextlib.contextmanager
def reading(folder: str, work: str) -> Iterator[Lock]:
    """Keeps other processes from locking a folder whose files this one reads.

    A folder that is not there, or that nobody here can write to, has no lock.

    Raises:
        InputError: if another process holds the lock.
    """
    if not os.path.isdir(folder):
        yield Lock("", None, shared=True)
        return
    with _locked(folder, folder, FILE, work, shared=True) as lock:
        yield lock


@contextlib.contextmanager
def locked_beside(folder: str, work: str) -> Iterator[Lock]:
    """Holds a lock of a folder that is replaced: the locked file is next to the folder.

    It is in the folder if the folder is a mount point, or the one above cannot be written to.

    Raises:
        InputError: if another process holds it.
    """
    folder = os.path.realpath(folder)
    parent, name = os.path.split(folder)
    if has_own_lock(folder):
        parent, name = folder, "mate_tf"
    with _locked(parent, folder, f".{name}{FILE}", work, shared=False) as lock:
        yield lock


def has_own_lock(folder: str) -> bool:
    """Returns True if `locked_beside` puts the locked file into the folder itself."""
    if not os.path.isdir(folder):
        return False
    return os.path.ismount(folder) or not os.access(os.path.dirname(folder), os.W_OK)


@contextlib.contextmanager
def _locked(within: str, folder: str, name: str, work: str, shared: bool) -> Iterator[Lock]:
    """Holds the lock of `folder`, whose locked file has this name in the folder `within`."""
    if is_remote(within):
        yield Lock("", None, shared)
        return
    path = os.path.join(os.path.realpath(within), name)
    key = threading.get_ident(), path
    if key in _held:
        file = _held[key].file
        if file is not None and _held[key].shared and not shared:
            _lock(file, folder, work, shared=False)
            _held[key].shared = False
        yield _held[key]
        return
    made = _missing(os.path.dirname(path))
    os.makedirs(within, exist_ok=True)
    file = _acquired(path, folder, work, shared)
    if file is None:
        yield Lock(path, None, shared)
        return
    with file:
        _held[key] = lock = Lock(path, file, shared)
        try:
            yield lock
        finally:
            del _held[key]
            _remove(lock, made)


def _missing(folder: str) -> list[str]:
    """Returns a folder and those that it is in, as far as they are not there, the inner first."""
    folders = []
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folders.append(folder)
        folder = os.path.dirname(folder)
    return folders


def _remove(lock: Lock, made: list[str]) -> None:
    """Removes the locked file, unless others hold it too or it is that of somebody else.

    Args:
        made: folders that are removed if they are empty then.
    """
    with contextlib.suppress(OSError):  # such as a folder that nobody can write to any more
        if lock.shared and lock.file is not None:
            fcntl.flock(lock.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock.is_there():
            os.remove(lock.path)
            for folder in made:
                os.rmdir(folder)


def _acquired(path: str, folder: str, work: str, shared: bool) -> IO[str] | None:
    """Returns the open file at `path`, locked by this process; None if nobody can lock it."""
    while True:
        try:
            file = open(path, "a+", encoding="utf-8")  # noqa: SIM115  the caller closes it
        except OSError as error:
            if not shared or error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            if not os.path.exists(path):
                return None
            file = open(path, encoding="utf-8")  # noqa: SIM115
        try:
            _lock(file, folder, work, shared)
        except BaseException:
            file.close()
            raise
        # The process before may have removed the file after this one has opened it.
        if _is_at(path, file):
            return file
        file.close()


def _lock(file: IO[str], folder: str, work: str, shared: bool) -> None:
    """Locks a file and writes by whom. Raises InputError if another process holds the lock."""
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.readline().strip() or "another process uses"
        raise InputError(
            f"{folder}: {holder} this folder; wait until it ends, or give another one"
        ) from None
    if file.writable():
        does = "reads" if shared else "writes to"
        file.truncate(0)
        file.write(f"{work}, process {os.getpid()} on {socket.gethostname()} {does}\n")
        file.flush()


def _is_at(path: str, file: IO[str]) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
