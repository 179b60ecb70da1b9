"""Tables that were posted, by the hash of their content, up to a number and a size."""

import collections
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import threading

from mate_tf.serving.prepared import PreparedTable
from mate_tf.tables.limits import MIB
from mate_tf.tables.table import Table

NUMBER, SIZE = 100, 256 * MIB
"""Tables that are kept, and their bytes."""

_OF_A_CELL, _OF_A_CHARACTER = 400, 4  # bytes, with what is prepared of it


class Tables:
    """Prepared tables; those that were asked about least recently are forgotten first.

    Args:
        number: tables that are kept.
        size: their bytes in memory, estimated.
        folder: a folder that several processes share: a table that was posted to one of them is
            known to all. It has the same limits. None: without.
    """

    def __init__(self, number: int = NUMBER, size: int = SIZE, folder: str | None = None):
        self._number, self._size = number, size
        self._folder = pathlib.Path(folder) if folder else None
        self._tables: collections.OrderedDict[str, PreparedTable] = collections.OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Number of tables in memory."""
        return len(self._tables)

    def add(self, table: Table, lasting: bool = True) -> tuple[str, PreparedTable]:
        """Prepares a table, or finds it prepared.

        Args:
            table: the table.
            lasting: whether other processes should know it as well.

        Returns:
            its id and the prepared table. One that is larger than all the room is not kept.
        """
        text = _text(table)
        name = hashlib.sha256(text.encode()).hexdigest()[:32]
        prepared = self._known(name)
        if prepared is None:
            prepared = PreparedTable(table)
            self._keep(name, prepared)
        if lasting and self._folder is not None:
            self._write(self._folder, name, text)
        return name, prepared

    def get(self, name: str) -> PreparedTable | None:
        """Returns the table with an id; None if there is none (any more)."""
        prepared = self._known(name)
        if prepared is None and self._folder is not None and name.isalnum():
            with contextlib.suppress(FileNotFoundError):
                path = self._folder / f"{name}.json"
                fields = json.loads(path.read_text("utf-8"))
                os.utime(path)
                fields["remarks"] = tuple(fields["remarks"])
                fields["texts"] = tuple(map(tuple, fields["texts"]))
                prepared = PreparedTable(Table(**fields))
                self._keep(name, prepared)
        return prepared

    def _known(self, name: str) -> PreparedTable | None:
        with self._lock:
            if name in self._tables:
                self._tables.move_to_end(name)
            return self._tables.get(name)

    def _keep(self, name: str, prepared: PreparedTable) -> None:
        size = estimated_bytes(prepared.table)
        with self._lock:
            if size > self._size or name in self._tables:
                return
            self._tables[name] = prepared
            self._bytes += size
            while len(self._tables) > self._number or self._bytes > self._size:
                _, oldest = self._tables.popitem(last=False)
                self._bytes -= estimated_bytes(oldest.table)

    def _write(self, folder: pathlib.Path, name: str, text: str) -> None:
        """Writes a table into the folder, and removes the oldest ones beyond the limits."""
        path = folder / f"{name}.json"
        if path.exists():
            os.utime(path)
            return
        temporary = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        temporary.write_text(text, "utf-8")
        temporary.replace(path)
        files = []
        for each in folder.glob("*.json"):
            with contextlib.suppress(FileNotFoundError):
                status = each.stat()
                files.append((status.st_mtime_ns, status.st_size, each))
        number, size = len(files), sum(each[1] for each in files)
        for _, own, oldest in sorted(files):
            if number <= self._number and size <= self._size:
                break
            oldest.unlink(missing_ok=True)
            number, size = number - 1, size - own


def estimated_bytes(table: Table) -> int:
    """Returns about how many bytes a prepared table takes."""
    characters = sum(len(cell) for row in table.rows for cell in row)
    characters += sum(len(text) for _, text in table.texts)
    cells = table.num_columns * (table.num_rows + 1)
    return _OF_A_CELL * cells + _OF_A_CHARACTER * characters


def _text(table: Table) -> str:
    """Returns all of a table as JSON."""
    return json.dumps(dataclasses.asdict(table), ensure_ascii=False, separators=(",", ":"))
