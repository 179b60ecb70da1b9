"""Replacement of a whole folder: it has its old contents or its new ones, also after a kill.

Local paths only.
"""

import contextlib
import glob
import os
import secrets
import shutil
from collections.abc import Iterator
from typing import NamedTuple

from mate_tf.files.lock import has_own_lock, locked_beside


class _Paths(NamedTuple):
    """A folder and those that are next to it, or in it, while it is replaced.

    Attributes:
        folder: the folder, without symbolic links.
        parent: the folder that the others below are in.
        begin: the begin of their names, which nobody else gives: what is there is removed.
        new: the new contents, until they are complete; each replacement has its own name.
        inside: `parent` is `folder`, which itself stays where it is.
    """

    folder: str
    parent: str
    begin: str
    new: str
    inside: bool

    @classmethod
    def from_path(cls, path: str, inside: bool) -> "_Paths":
        folder = os.path.realpath(path)
        parent, name = (folder, "mate_tf") if inside else os.path.split(folder)
        begin = f".{name}.replacing_"
        new = os.path.join(parent, f"{begin}new_{secrets.token_hex(8)}")
        return cls(folder, parent, begin, new, inside)

    @property
    def aside(self) -> str:
        """The old contents, while they are moved away one by one."""
        return os.path.join(self.parent, f"{self.begin}aside")

    @property
    def old(self) -> str:
        """All old contents."""
        return os.path.join(self.parent, f"{self.begin}old")

    def all_new(self) -> list[str]:
        """Returns the folders of new contents, also those that killed processes left."""
        return glob.glob(f"{glob.escape(os.path.join(self.parent, self.begin))}new*")

    def entries(self) -> list[str]:
        """Returns the names of what is in the folder; [] if there is none."""
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        return [name for name in names if not (self.inside and name.startswith(".mate_tf."))]


@contextlib.contextmanager
def replaced(path: str) -> Iterator[str]:
    """Yields the path of a new folder, whose contents become those of `path` when the block ends.

    The new folder does not exist yet. If the block fails, or the contents cannot be replaced, the
    old contents are back when this ends. A killed process leaves folders behind, which the next
    call for the same path, or `recover`, puts in order.

    A folder that cannot be moved stays, and its contents are moved: a mount point, such as a
    container's volume, and the current folder. A symbolic link stays too; the folder that it
    points to is replaced.

    Args:
        path: a local folder; it need not exist.

    Raises:
        InputError: if another process replaces it.
        OSError: if it cannot be written.
    """
    with locked_beside(path, "an export"):
        _recover(path)
        paths = _Paths.from_path(path, inside=_has_to_stay(os.path.realpath(path)))
        try:
            yield paths.new
            _swap(paths)
        except BaseException:
            _recover(path)
            raise


def recover(path: str) -> None:
    """Puts a folder in order whose replacement was interrupted: its old contents, or all new ones.

    Args:
        path: a local folder; it need not exist.

    Raises:
        InputError: if another process replaces it.
        OSError: if it cannot be written.
    """
    with locked_beside(path, "an export"):
        _recover(path)


def _recover(path: str) -> None:
    """Puts a folder in order, while this process holds its lock."""
    for paths in (_Paths.from_path(path, inside) for inside in (False, True)):
        if os.path.isdir(paths.aside):  # not all old contents had been moved
            _move_all(paths.aside, paths.folder)
        if os.path.isdir(paths.old):
            # Once the new contents have all left their folder, it is removed.
            if paths.all_new() or not os.path.isdir(paths.folder):
                for name in paths.entries():
                    _remove(os.path.join(paths.folder, name))
                _move_all(paths.old, paths.folder)
            else:
                _remove(paths.old)
        for new in paths.all_new():
            _remove(new)


def _has_to_stay(folder: str) -> bool:
    """Returns True if a folder cannot be renamed without harm."""
    here = os.path.realpath(os.curdir)
    return os.path.isdir(folder) and (
        has_own_lock(folder) or os.path.commonpath([folder, here]) == folder
    )


def _swap(paths: _Paths) -> None:
    if paths.inside:
        os.mkdir(paths.aside)
        for name in paths.entries():
            os.rename(os.path.join(paths.folder, name), os.path.join(paths.aside, name))
        os.rename(paths.aside, paths.old)
        _move_all(paths.new, paths.folder)
    else:
        if os.path.isdir(paths.folder):
            os.rename(paths.folder, paths.old)
        os.rename(paths.new, paths.folder)
    if os.path.isdir(paths.old):
        _remove(paths.old)


def _move_all(source: str, folder: str) -> None:
    """Moves what is in `source` into `folder`, and removes `source`."""
    if not os.path.isdir(folder):
        os.rename(source, folder)
        return
    for name in os.listdir(source):
        os.rename(os.path.join(source, name), os.path.join(folder, name))
    os.rmdir(source)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.remove(path)
