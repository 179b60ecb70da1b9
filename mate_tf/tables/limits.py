"""Limits of the tables that are read from files, so that no file takes all memory or time."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from mate_tf.errors import InputError

MIB = 2**20

_OF_A_VALUE = 8  # characters that are counted for a value that is not text


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of one table. Each is a flag of the command line, too.

    Rows that `max_table_cells` or `max_table_characters` leave out are not read, and `Table.unread`
    says so. A file that is beyond another limit is refused.

    Attributes:
        max_table_mb: size of the file, in MiB.
        max_table_cells: cells, with the header's.
        max_table_characters: characters in all cells.
        max_table_columns: columns.
        max_cell_characters: characters in one cell.
        max_unpacked_mb: unpacked size of a workbook, in MiB.
        max_zip_ratio: unpacked size of a workbook by the size of its file.

    Raises:
        InputError: if one of them is not a whole number above 0.
    """

    max_table_mb: int = 1024
    max_table_cells: int = 100_000
    max_table_characters: int = 2_000_000
    max_table_columns: int = 2_000
    max_cell_characters: int = 1_000_000
    max_unpacked_mb: int = 200
    max_zip_ratio: int = 200

    def __post_init__(self):
        """Checks the values."""
        for name, value in dataclasses.asdict(self).items():
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name}={value!r}: must be a whole number above 0")


UNLIMITED = Limits(*[2**60] * len(dataclasses.fields(Limits)))
"""Limits that no table reaches."""


def check_size(path: Any, size: int, limits: Limits) -> None:
    """Raises InputError if a file of `size` bytes is larger than allowed."""
    if size > limits.max_table_mb * MIB:
        raise InputError(
            f"{path}: the file has {size / MIB:,.0f} MiB; at most {limits.max_table_mb:,} are "
            f"allowed (max_table_mb)"
        )


class LimitedRows:
    """The rows of a table that is being read, up to its limits.

    Args:
        path: the file, for messages.
        limits: its limits.

    Attributes:
        rows: list of the rows that are kept, without the header.
        exceeded: name and value of the limit that left rows out; "" if none did.
    """

    def __init__(self, path: Any, limits: Limits):
        self.rows: list[Any] = []
        self.exceeded = ""
        self._path, self._limits = path, limits
        self._columns = self._characters = 0

    def add_header(self, header: Sequence[Any]) -> None:
        """Counts the header; errors as for `add`."""
        self._characters += self._measured(header, "header")

    def add(self, values: Sequence[Any], where: str, row: Any = None) -> bool:
        """Adds a row if it is within the limits. Returns whether it was added.

        Args:
            values: its values.
            where: what it is, for messages: "row 3 (line 4)".
            row: what is kept of it; the values if it is None.

        Raises:
            InputError: if it has too many columns or a cell that is too long.
        """
        limits = self._limits
        self._characters += self._measured(values, where)
        counts = {
            "max_table_cells": (len(self.rows) + 2) * self._columns,  # the header's, and this row
            "max_table_characters": self._characters,
        }
        for name, count in counts.items():
            if count > getattr(limits, name):
                self.exceeded = f"{name}={getattr(limits, name)}"
                return False
        self.rows.append(values if row is None else row)
        return True

    def unread(self, share: float | None = None) -> str:
        """Describes what is not read because of the limits; "" if everything is.

        Args:
            share: share of the file that was read, from 0 to 1; None if it is not known.

        Raises:
            InputError: if the limits leave no row below the header.
        """
        if not self.exceeded:
            return ""
        if not self.rows:
            raise InputError(
                f"{self._path}: header and first row are beyond the limit {self.exceeded}"
            )
        left = "" if share is None else f" ({100 * min(max(1 - share, 0), 0.99):.0f} % of the file)"
        return f"all rows after row {len(self.rows):,} not read{left}: {self.exceeded}"

    def _measured(self, values: Sequence[Any], where: str) -> int:
        """Returns the number of characters in a row; errors as for `add`."""
        limits = self._limits
        self._columns = max(self._columns, len(values))
        if self._columns > limits.max_table_columns:
            raise InputError(
                f"{self._path}: {where}: {self._columns:,} columns; at most "
                f"{limits.max_table_columns:,} are allowed (max_table_columns)"
            )
        lengths = [len(value) if isinstance(value, str) else _OF_A_VALUE for value in values]
        if lengths and max(lengths) > limits.max_cell_characters:
            raise InputError(
                f"{self._path}: {where}, column {lengths.index(max(lengths)) + 1}: "
                f"{max(lengths):,} characters in a cell; at most {limits.max_cell_characters:,} "
                "are allowed (max_cell_characters)"
            )
        return sum(lengths)
