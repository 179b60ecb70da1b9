"""The folder of the page's uploads: private, bounded, and gone at the end of the page."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator

VARIABLE = "GRADIO_TEMP_DIR"
"""Environment variable with the folder in which gradio stores uploads."""

PREFIX = "mate-tf-page-"
OLDEST = 600
"""Seconds after which an upload that nobody has read is removed."""

UPLOADS = 8
"""Uploads of the largest size that the folder has room for."""


@contextlib.contextmanager
def folder() -> Iterator[str]:
    """Makes the folder, in $GRADIO_TEMP_DIR or that of temporary files, and removes it at the end.

    The process locks the folder while it lives. Folders without a lock, which killed pages have
    left, are removed first.
    """
    before = os.environ.get(VARIABLE)
    parent = before or tempfile.gettempdir()
    os.makedirs(parent, exist_ok=True)
    _remove_abandoned(parent)
    path, lock = _locked(parent)
    os.environ[VARIABLE] = path
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def has_room(path: str, largest: int) -> bool:
    """Removes old uploads; returns whether there is room for one more.

    Args:
        path: the folder.
        largest: bytes of the largest upload.
    """
    used, now = 0, time.time()
    for where, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                status = os.stat(os.path.join(where, name))
                if now - status.st_mtime > OLDEST:
                    os.remove(os.path.join(where, name))
                else:
                    used += status.st_size
    return used + largest <= UPLOADS * largest


def _locked(parent: str) -> tuple[str, int]:
    """Makes a folder that only this user reads; returns it and the descriptor of its lock."""
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        lock = os.open(path, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(path):  # no other page took it for one that was left, before the lock
            return path, lock
        os.close(lock)


def _remove_abandoned(parent: str) -> None:
    """Removes this user's folders that no process has locked."""
    for entry in os.scandir(parent):
        if not entry.name.startswith(PREFIX) or not entry.is_dir(follow_symlinks=False):
            continue
        with contextlib.suppress(OSError):
            if entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                continue
            lock = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(entry.path, ignore_errors=True)
            finally:
                os.close(lock)
