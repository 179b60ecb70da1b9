"""Folder that is made once per run of the tests and read by all of its workers."""

import fcntl
import os
import pathlib
import shutil
from collections.abc import Callable


def shared_folder(
    tmp_path_factory, name: str, make: Callable[[pathlib.Path], object]
) -> pathlib.Path:
    """Returns the folder `name` of this run, filled by `make(folder)` if no worker did so before.
    The other workers of pytest-xdist wait until it is complete. Tests must not write into it.
    `name` is unique over all tests. If `make` fails, the next caller begins with an empty
    folder."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # of the run; each worker has a folder of its own below it
    folder, done = base / "shared" / name, base / "shared" / f"{name}.done"
    folder.parent.mkdir(exist_ok=True)
    with open(folder.parent / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file is closed, also by a kill
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
