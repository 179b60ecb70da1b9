"""Tables that are packed in gzip files and zip archives."""

import gzip
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable

from mate_tf.errors import InputError
from mate_tf.files import zips
from mate_tf.tables.limits import MIB, Limits
from mate_tf.tables.table import Table
from mate_tf.tables.text_table import FileOptions


def read_gzip(
    path: str, limits: Limits, asked: FileOptions, sheet: str | None, read: Callable
) -> Table:
    """Reads the table that is packed in a gzip file; as `read_table` does, which is `read`."""
    inside = os.path.basename(path).removesuffix(".gz")
    with tempfile.TemporaryDirectory() as folder, gzip.open(path) as packed:
        return _unpacked(path, packed, os.path.join(folder, inside), limits, asked, sheet, read)


def read_zip(
    path: str, limits: Limits, asked: FileOptions, sheet: str | None, read: Callable
) -> Table:
    """Reads the one file of a zip archive; as `read_table` does, which is `read`."""
    try:
        with zipfile.ZipFile(path) as archive:
            zips.check(
                archive, os.path.getsize(path), limits.max_unpacked_mb * MIB, limits.max_zip_ratio
            )
            names = [
                each.filename
                for each in archive.infolist()
                if not each.is_dir()
                and not os.path.basename(each.filename).startswith((".", "__"))
                and not each.filename.startswith("__MACOSX/")
            ]
            if len(names) != 1:
                listed = ", ".join(names[:5]) or "none"
                raise InputError(
                    f"{path}: only archives with one file are read; this one has: {listed}"
                )
            with tempfile.TemporaryDirectory() as folder, archive.open(names[0]) as packed:
                inside = os.path.join(folder, os.path.basename(names[0]))
                return _unpacked(path, packed, inside, limits, asked, sheet, read)
    except zips.DAMAGED as error:
        raise InputError(f"{path}: not a readable archive: {error}") from None


def _unpacked(path, packed, inside: str, limits: Limits, asked: FileOptions, sheet, read) -> Table:
    """Reads what is packed in a file, up to the limit of its size."""
    largest = limits.max_unpacked_mb * MIB
    try:
        with open(inside, "wb") as file:
            shutil.copyfileobj(_LimitedReader(packed, path, largest), file)
    except (OSError, EOFError, *zips.DAMAGED) as error:
        raise InputError(f"{path}: cannot be unpacked: {error}") from None
    try:
        return read(inside, limits, asked, sheet)
    except InputError as error:
        raise InputError(str(error).replace(inside, path)) from None


class _LimitedReader:
    """Raises InputError once more than a number of bytes was read from a file."""

    def __init__(self, file, path, largest: int):
        self._file, self._path, self._left, self._largest = file, path, largest, largest

    def read(self, size: int = -1) -> bytes:
        """Returns the next bytes."""
        content = self._file.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise InputError(
                f"{self._path}: unpacks to more than {self._largest // MIB:,} MiB (max_unpacked_mb)"
            )
        return content
