"""Reads the tables of an HTML page with the texts around them, as pages of Wikipedia have them.

The first row of a table is its header; further rows of names are joined to it. Cells that span
rows or columns are repeated. Hidden elements, scripts, Wikipedia's marks of footnotes and links for
editing, and tables within tables are left out.
"""

import itertools
import os
import re
from html.parser import HTMLParser
from typing import NamedTuple

from mate_tf.errors import InputError
from mate_tf.tables import opening
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table

LIMITS = Limits(max_table_mb=32)
"""Limits of a page and its tables; tables beyond them are left out, larger pages are refused."""

_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
_IGNORED = ("script", "style", "noscript", "template", "math")
_VOID = frozenset("area base br col embed hr img input link meta source wbr".split())  # noqa: SIM905
_GROUPS = ("thead", "tbody", "tfoot")
_BREAKS = ("br", "p", "div", "li")
_MARKS = {"reference", "mw-editsection"}
"""Classes of Wikipedia's marks of footnotes and links for editing."""

_DIGITS = re.compile(r"\s*\+?([0-9]{1,9})")
_MOST_SPANNED = 1000  # HTML's own limit for columns


class TableOfPage(NamedTuple):
    """A table and the texts around it.

    Attributes:
        table: the table, with the page's title, the heading above it and its caption.
        texts: the first paragraph of the page, and the paragraphs between heading and table.
    """

    table: Table
    texts: tuple[str, ...]


class Page(NamedTuple):
    """The tables of a page.

    Attributes:
        tables: tables with a header and at least one row, of at least two columns.
        num_left_out: number of other tables: smaller, or beyond `LIMITS`.
    """

    tables: list[TableOfPage]
    num_left_out: int


def read_page(path: str | os.PathLike, name: str | None = None) -> Page:
    """Reads the tables of a UTF-8 HTML file. Their ids begin with `name`, by default the path.

    Raises:
        InputError: if it cannot be read, is too large or not UTF-8.
    """
    reader = _Reader(os.fspath(path) if name is None else name)
    with opening.opened(path, LIMITS) as file, opening.invalid_named(path):
        text = file.read()
    try:
        # Not closed: what is incomplete at the end is left out, and not searched again and again.
        reader.feed(text)
    except AssertionError as error:  # of Python's parser, for some broken declarations
        raise InputError(f"{path}: not HTML: {error}") from error
    return Page(reader.tables, reader.num_left_out)


class _Reader(HTMLParser):
    """Collects tables with the texts around them, and the number of tables left out."""

    def __init__(self, name: str):
        super().__init__(convert_charrefs=True)
        self.tables: list[TableOfPage] = []
        self.num_left_out = 0
        self._name, self._number = name, 0
        self._titles = {"title": "", "h1": ""}
        self._heading = self._description = ""
        self._paragraphs: list[str] = []
        self._ignored, self._depth = "", 0  # the outermost ignored element, and its depth
        self._capture: tuple[str, list[str]] | None = None  # element whose text is collected
        self._grid: _Grid | None = None  # of the table that is being read
        self._caption = ""

    def handle_starttag(self, tag, attributes):
        """Begins an element."""
        if tag in _BREAKS:
            self.handle_data("\n")
        if tag in _VOID:
            return
        attributes = {key: value or "" for key, value in attributes}
        if self._ignored:
            self._depth += tag == self._ignored
        elif tag in _IGNORED or _hidden(attributes) or (tag == "table" and self._grid):
            self._ignored, self._depth = tag, 1
        elif tag == "table":
            self._end_capture()
            self._grid, self._caption = _Grid(), ""
        elif self._grid:
            if tag == "tr":
                self._end_capture()
                self._grid.begin_row()
            elif tag in ("td", "th"):
                self._end_capture()
                self._grid.begin_cell(tag, attributes)
                self._capture = tag, []
            elif tag == "caption":
                self._capture = tag, []
            elif tag in _GROUPS:
                self._end_capture()
                self._grid.end_group()
        elif tag in (*self._titles, *_HEADINGS, "p"):
            self._end_capture()
            self._capture = tag, []

    def handle_endtag(self, tag):
        """Ends an element."""
        if self._ignored:
            if tag == self._ignored:
                self._depth -= 1
                self._ignored = self._ignored if self._depth else ""
        elif tag == "table" and self._grid:
            self._end_capture()
            self._add_table()
        elif self._capture and self._capture[0] == tag:
            self._end_capture()
        elif tag in _GROUPS and self._grid:
            self._end_capture()
            self._grid.end_group()
        elif tag in ("div", "section", "body") and not self._grid:
            self._end_capture()  # of a paragraph without an end tag

    def handle_data(self, data):
        """Collects text."""
        if self._capture and not self._ignored:
            self._capture[1].append(data)

    def _end_capture(self):
        """Puts the collected text where it belongs."""
        if not self._capture:
            return
        tag, parts = self._capture
        self._capture = None
        text = " ".join("".join(parts).split())
        if tag in ("td", "th") and self._grid:
            self._grid.end_cell(text)
        elif tag == "caption":
            self._caption = text
        elif tag in self._titles:
            self._titles[tag] = self._titles[tag] or text
        elif tag in _HEADINGS:
            self._heading, self._paragraphs = text, []
        elif text:
            self._description = self._description or text
            self._paragraphs.append(text)

    def _add_table(self):
        """Adds the table that ends here."""
        rows, self._grid = self._grid and self._grid.rows(), None
        if rows is None or len(rows) < 2 or len(rows[0]) < 2:
            self.num_left_out += 1
            return
        self._number += 1
        table = Table(
            tuple(rows[0]),
            tuple(map(tuple, rows[1:])),
            table_id=f"{self._name}_{self._number}",
            title=self._titles["h1"] or self._titles["title"],
            heading=self._heading,
            caption=self._caption,
        )
        texts = dict.fromkeys([self._description, " ".join(self._paragraphs)])
        self.tables.append(TableOfPage(table, tuple(filter(None, texts))))


class _Grid:
    """Cells of a table, with those that span rows or columns repeated."""

    def __init__(self):
        self._rows: list[list[str]] = []
        self._below: dict[int, tuple[str, int]] = {}  # column -> text and rows that it still spans
        self._are_names: list[bool] = []  # rows whose cells are all column names
        self._span = 1, 1
        self._num_cells = self._width = 0

    def begin_row(self) -> None:
        """Begins a row."""
        if self._rows:
            self._fill()
        self._rows.append([])
        self._are_names.append(True)

    def end_group(self) -> None:
        """Ends a group of rows, which no cell spans beyond."""
        if self._rows:
            self._fill()
        self._below.clear()

    def begin_cell(self, tag: str, attributes: dict[str, str]) -> None:
        """Begins a cell; one without a row begins a row."""
        if not self._rows:
            self.begin_row()
        self._are_names[-1] &= tag == "th"
        rows = _number(attributes.get("rowspan"), 0)
        # 0: to the end of the group of rows
        self._span = rows or _MOST_SPANNED, _number(attributes.get("colspan"), 1)

    def end_cell(self, text: str) -> None:
        """Adds the cell."""
        rows, columns = self._span
        self._fill()
        for _ in range(columns if self._fits() else 0):
            self._add(text, rows)

    def rows(self) -> list[list[str]] | None:
        """Returns the rows, all as long as the longest one; None if they are beyond `LIMITS`.

        Rows of names at the beginning become one, with the names of a column joined: "2020 Sales".
        """
        if self._rows:
            self._fill()
        if not self._fits():
            return None
        kept = [
            (row + [""] * (self._width - len(row)), are_names)
            for row, are_names in zip(self._rows, self._are_names, strict=True)
            if row
        ]
        names = list(itertools.takewhile(lambda each: each[1] and len(set(each[0])) > 1, kept[1:]))
        if not kept or not kept[0][1] or len(names) + 1 >= len(kept):
            return [row for row, _ in kept]
        columns = zip(kept[0][0], *(row for row, _ in names), strict=True)
        header = [" ".join(filter(None, dict.fromkeys(column))) for column in columns]
        return [header, *(row for row, _ in kept[1 + len(names) :])]

    def _fill(self) -> None:
        """Repeats the cells above that span the current position of the last row."""
        while (column := len(self._rows[-1])) in self._below and self._fits():
            self._add(*self._below.pop(column))

    def _add(self, text: str, rows: int) -> None:
        """Adds a text to the last row, and to those below it up to a number of rows in all."""
        row = self._rows[-1]
        if rows > 1:
            self._below[len(row)] = text, rows - 1
        row.append(text)
        self._num_cells += 1
        self._width = max(self._width, len(row))

    def _fits(self) -> bool:
        """Returns False if there are too many cells or columns."""
        cells, columns = LIMITS.max_table_cells, LIMITS.max_table_columns
        return self._num_cells <= cells and self._width <= columns


def _hidden(attributes: dict[str, str]) -> bool:
    """Returns True for elements that are not displayed, and for Wikipedia's marks."""
    style = attributes.get("style", "").replace(" ", "").lower()
    marks = _MARKS.intersection(attributes.get("class", "").split())
    return bool(marks) or "display:none" in style or "hidden" in attributes


def _number(text: str | None, least: int) -> int:
    """Returns a number of rows or columns that a cell spans; 1 without one, as browsers read it."""
    match = _DIGITS.match(text or "")
    return min(max(int(match[1]), least), _MOST_SPANNED) if match else 1
