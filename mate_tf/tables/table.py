"""The class `Table`, a table as plain text, with its readers.

table = Table.from_rows(["City", "Population"], [["Zürich", 402762], ["Bern", None]])
table.rows  # (("Zürich", "402762"), ("Bern", ""))
"""

import csv
import io
import pathlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import Any, NamedTuple

from mate_tf import tables
from mate_tf.errors import InputError
from mate_tf.tables.files import Path
from mate_tf.tables.limits import UNLIMITED, Limits
from mate_tf.tables.rendering import render
from mate_tf.tables.text import is_gap, is_unicode

_ABOUT = ("table_id", "title", "heading", "caption", "url", "unread")
"""Fields with a text about a table."""


class Cell(NamedTuple):
    """A data cell: 0-based row (the header does not count) and column, and its text."""

    row: int
    column: int
    text: str


@dataclass(frozen=True)
class Table:
    """Column names and rows of text.

    Every row has one cell per column. Names may repeat, cells may be empty, and there may be no
    rows. Values of other types are converted to text, missing ones (None, NaN, NaT, NA) to "".

    Attributes:
      columns: names of the columns.
      rows: texts of the data cells, row by row.
      table_id: identifier of the table, used in error messages.
      title: title of the document that contains the table.
      heading: heading of the section of the document that contains the table.
      caption: caption of the table.
      url: address of the document.
      unread: what of its file was not read because of `Limits`, in words; "" if everything was.
      remarks: how its file was read, in words, where a reader would not expect it.
      texts: pairs of the text of a cell and a text about it, see `tables.cell_texts`.

    Raises:
      InputError: if there is no column, if a row has more or fewer cells than there are columns, if
        a text cannot be encoded (a lone surrogate), if a value cannot be written as text, or if the
        title or another text about the table is not text.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    table_id: str = ""
    title: str = ""
    heading: str = ""
    caption: str = ""
    url: str = ""
    unread: str = ""
    remarks: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()

    def __post_init__(self):
        """Converts all values to text and checks the lengths of the rows."""
        where = self.table_id or "table"
        for name in _ABOUT:
            text = getattr(self, name)
            if not isinstance(text, str):
                raise InputError(f"{where}: {name} must be text, not {text!r}")
            if not is_unicode(text):
                raise InputError(f"{name} of a table: not valid Unicode: {text!a}")
        columns = _texts(self.columns, f"{where}: header")
        if not columns:
            raise InputError(f"{where}: no columns")
        rows = []
        for number, values in enumerate(self.rows, start=1):
            row = _texts(values, f"{where}: row {number}")
            if len(row) != len(columns):
                raise InputError(
                    f"{where}: row {number} has {len(row)} cells, but the header has {len(columns)}"
                )
            rows.append(row)
        for cell, text in self.texts:
            if not is_unicode(f"{cell}{text}"):
                raise InputError(f"{where}: the text about {cell!a} is not valid Unicode")
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "rows", tuple(rows))

    @property
    def num_rows(self) -> int:
        """Number of data rows."""
        return len(self.rows)

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def cells(self) -> Iterator[Cell]:
        """Yields all data cells, row by row."""
        for row, texts in enumerate(self.rows):
            for column, text in enumerate(texts):
                yield Cell(row, column, text)

    def cell(self, row: int, column: int) -> Cell:
        """Returns the data cell at a coordinate."""
        return Cell(row, column, self.rows[row][column])

    def column(self, index: int) -> tuple[str, ...]:
        """Returns the texts of a column from top to bottom, without its name."""
        return tuple(row[index] for row in self.rows)

    @classmethod
    def from_rows(
        cls,
        header: Iterable[Any],
        rows: Iterable[Iterable[Any]],
        title: str | None = None,
        **about: str,
    ) -> "Table":
        """Makes a table from values of any type; `about` are further fields such as `table_id`."""
        fields: dict[str, Any] = {"rows": tuple(rows), "title": title or "", **about}
        return cls(tuple(header), **fields)

    @classmethod
    def from_csv(
        cls,
        path: Path,
        title: str | None = None,
        *,
        delimiter: str | None = None,
        limits: Limits = UNLIMITED,
        **about: str,
    ) -> "Table":
        """Reads a CSV file; empty lines are skipped, cells may contain line breaks.

        With a delimiter the file is UTF-8 and its first record is the header. Without one, it may
        have any form and encoding, see `from_text`. The name of the file is the `table_id` unless
        another one is given.

        Args:
          path: the file.
          title: title of the document that contains the table.
          delimiter: delimiter of cells; None: detected.
          limits: how much is read at most, by default everything; `unread` says what is not.
          **about: further fields of the table.

        Raises:
          InputError: if the file cannot be read, is empty, has only a header, is not in its
            encoding, has an unclosed quotation mark, has a row that is longer or shorter than the
            header, or is beyond a limit that refuses it.
        """
        if delimiter is None:
            return cls.from_text(path, title, limits=limits, **about)
        header, rows, unread = tables.delimited.read(path, delimiter, None, limits)
        about = {"table_id": pathlib.Path(path).name, "unread": unread, **about}
        return cls.from_rows(header, rows, title, **about)

    @classmethod
    def from_text(
        cls,
        path: Path,
        title: str | None = None,
        *,
        limits: Limits = UNLIMITED,
        asked: "tables.text_table.FileOptions | None" = None,
        **about: str,
    ) -> "Table":
        """Reads a text file of unknown form: CSV, TSV, Markdown and the like, in any encoding.

        Lines above the header become the title. `remarks` say what was assumed.

        Args:
          path: the file.
          title: title of the document that contains the table.
          limits: as for `from_csv`.
          asked: delimiter, line of the header and encoding, where they are known.
          **about: further fields of the table.

        Raises:
          InputError: as `from_csv`.
        """
        content = tables.text_table.read(path, limits, asked)
        about = {"table_id": pathlib.Path(path).name, "unread": content.unread, **about}
        table = cls.from_rows(content.header, content.rows, title or content.title, **about)
        return table.with_remarks(content.remarks)

    @classmethod
    def from_tsv(
        cls, path: Path, title: str | None = None, *, limits: Limits = UNLIMITED, **about: str
    ) -> "Table":
        """Reads a tab-separated file; arguments and errors as for `from_csv`."""
        return cls.from_csv(path, title, delimiter="\t", limits=limits, **about)

    @classmethod
    def from_json(cls, path: Path, *, limits: Limits = UNLIMITED) -> "Table":
        """Reads a table from JSON, in one of two forms.

        The first form is an object with "columns" (or "header") and "rows" (or "data"), and
        optionally "title", "table_id", "heading", "caption" and "url". The second form is a list of
        objects, one per row, with the column names as keys; a missing key gives an empty cell.
        Numbers keep the spelling of the file. Limits are as for `from_csv`.

        Raises:
          InputError: if the file cannot be read, is empty, has no rows, is not UTF-8, is not JSON
            or has another form, or is beyond a limit that refuses it.
        """
        header, rows, about, unread = tables.json_table.read(path, limits)
        about = {"table_id": pathlib.Path(path).name, "unread": unread, **about}
        return cls.from_rows(header, rows, **about)

    @classmethod
    def from_dataframe(cls, frame: Any, title: str | None = None, **about: str) -> "Table":
        """Makes a table from a frame of pandas, polars, Arrow, DuckDB or another library.

        Named levels of a pandas index become columns. Integers that pandas stores as floats,
        because some are missing, are written without ".0", and float32 with the digits it has.

        Args:
          frame: any frame that narwhals knows.
          title: title of the document that contains the table.
          **about: further fields of the table.

        Raises:
          InputError: if it is not a frame, or has no columns.
        """
        from mate_tf.tables import data_frames

        header, columns = data_frames.read(frame)
        return cls.from_rows(header, zip(*columns, strict=True), title, **about)

    def with_remarks(self, remarks: Iterable[str]) -> "Table":
        """Returns the table with further remarks."""
        return replace(self, remarks=(*self.remarks, *remarks))

    def to_csv(self, path: Path | None = None) -> str:
        """Returns the table as CSV with all cells quoted, and writes it to `path` if given.

        `from_csv` reads the same columns and rows back, if there are rows.
        """
        buffer = io.StringIO(newline="")
        csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([self.columns, *self.rows])
        if path is not None:
            pathlib.Path(path).write_bytes(buffer.getvalue().encode())
        return buffer.getvalue()

    def render(self, marked_cells: Collection[tuple[int, int]] = (), **limits: int) -> str:
        """Renders the table for a terminal; `limits` are arguments of `rendering.render`."""
        return render(self.columns, self.rows, marked_cells, **limits)

    def to_markdown(self, marked_cells: Collection[tuple[int, int]] = ()) -> str:
        """Returns the table in Markdown; marked cells, as (row, column) from 0, are bold."""
        marked = set(marked_cells)

        def line(texts, row=None):
            cells = (" ".join(text.replace("|", "\\|").split()) for text in texts)
            bold = (f"**{c}**" if (row, n) in marked else c for n, c in enumerate(cells))
            return f"| {' | '.join(bold)} |"

        rule = f"|{'---|' * self.num_columns}"
        rows = (line(texts, row) for row, texts in enumerate(self.rows))
        return "\n".join([line(self.columns), rule, *rows])

    def _repr_html_(self) -> str:
        """Returns HTML for notebooks."""
        return tables.html.standalone(self)

    def __str__(self) -> str:
        """Returns the table rendered for a terminal."""
        return self.render()


def _texts(values: Iterable[Any], where: str) -> tuple[str, ...]:
    """Converts the values of a row to text; raises InputError for those that have none."""
    values = tuple(values)
    try:
        texts = tuple(map(_text, values))
    except (ValueError, RecursionError) as error:  # an integer of 5,000 digits
        column = next(i for i, value in enumerate(values, start=1) if not _has_text(value))
        raise InputError(f"{where}, column {column}: cannot be written: {error}") from None
    if not is_unicode("".join(texts)):
        column = next(i for i, text in enumerate(texts, start=1) if not is_unicode(text))
        raise InputError(f"{where}, column {column}: not valid Unicode") from None
    return texts


def _has_text(value: Any) -> bool:
    try:
        return isinstance(_text(value), str)
    except (ValueError, RecursionError):
        return False


def _text(value: Any) -> str:
    """Converts a value to text: "" for a missing one, the date for a datetime at midnight."""
    if isinstance(value, str):
        return str(value)
    if is_gap(value):
        return ""
    if isinstance(value, datetime) and value.time() == time.min:
        return value.date().isoformat()
    return str(value)
