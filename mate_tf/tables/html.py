"""Renders a table as HTML, with colours and numbers in its cells. All text is escaped.

The CSS classes are styled in table.css.
"""

from collections.abc import Collection
from html import escape
from importlib import resources
from typing import NamedTuple

import numpy as np

from mate_tf.tables.rendering import kept
from mate_tf.tables.table import Table
from mate_tf.tables.text import counted, percent

MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 60, 20, 160
"""Largest numbers of rows, columns and characters per cell that are shown."""

_LEAST_SHOWN = 0.001  # smaller values are shown as colour only


class Shading(NamedTuple):
    """Values of cells, drawn as colours.

    Attributes:
        kind: "answer" or "attention"; decides the colour.
        values: <float>[rows + 1, columns], the header first; NaN for cells without a value.
        largest: the value of the strongest colour.
        label: name of the values, for the legend.
        note: further text below the table.
    """

    kind: str
    values: np.ndarray
    largest: float
    label: str
    note: str = ""


def table_html(
    table: Table,
    chosen: Collection[tuple[int, int]] = (),
    shading: Shading | None = None,
    max_rows: int = MAX_ROWS,
    max_columns: int = MAX_COLUMNS,
    read: tuple[Collection[int], Collection[int]] | None = None,
) -> str:
    """Returns a table with its legend as HTML. A line below says how much of it is shown.

    Rows and columns that were not read are grey.

    Args:
        table: the table.
        chosen: (row, column) of cells with a frame, 0-based without the header. If the table is
            too large, the rows and columns around them are shown.
        shading: colours of the cells.
        max_rows: largest number of data rows to show.
        max_columns: largest number of columns to show.
        read: rows and columns that a model has read, from 0; None for all of them.
    """
    chosen = set(chosen)
    rows = kept(table.num_rows, {row for row, _ in chosen}, max_rows)
    columns = kept(table.num_columns, {column for _, column in chosen}, max_columns)
    unread_rows, unread_columns = (
        set(range(count)) - set(found if read else range(count))
        for count, found in zip((table.num_rows, table.num_columns), read or ((), ()), strict=True)
    )

    def cells(tag, texts, row):
        yield f"<th class=number>{'' if row < 0 else row + 1}</th>"
        following = 0
        for column in columns:
            if column > following:
                yield f"<{tag} class=gap>…</{tag}>"
            following = column + 1
            classes = ["chosen"] if (row, column) in chosen else []
            classes += ["unread"] if column in unread_columns else []
            yield _cell(tag, texts[column], shading, row + 1, column, classes)
        if following < table.num_columns:
            yield f"<{tag} class=gap>…</{tag}>"

    lines = [f"<thead><tr>{''.join(cells('th', table.columns, -1))}</tr></thead><tbody>"]
    following = 0
    for row in [*rows, table.num_rows]:
        if row > following:
            number = len(unread_rows.intersection(range(following, row)))
            hidden = counted(row - following, "row") + f", {number} of them not read" * (number > 0)
            hidden = f"… {hidden} …"
            lines.append(f"<tr class=gap><td colspan={len(columns) + 3}>{hidden}</td></tr>")
        if row < table.num_rows:
            tag = "<tr class=unread>" if row in unread_rows else "<tr>"
            lines.append(f"{tag}{''.join(cells('td', table.rows[row], row))}</tr>")
        following = row + 1
    kind = shading.kind if shading else "plain"
    return (
        f"<div class='mate-table {kind}'><table>{''.join(lines)}</tbody></table></div>"
        f"<div class=mate-below>{_size(table, rows, columns)}"
        f"{_unread(unread_rows, unread_columns)}{_legend(shading)}</div>"
    )


def standalone(table: Table, chosen: Collection[tuple[int, int]] = ()) -> str:
    """Returns a table as HTML with its styles, for a notebook; arguments as for `table_html`."""
    return f"<style>{style()}</style>{table_html(table, chosen)}"


def _cell(tag, text: str, shading: Shading | None, row: int, column: int, classes) -> str:
    """Returns one cell with CSS classes; `row` counts from 0, the header."""
    text = " ".join(text.split())
    text = text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
    style, number = "", ""
    value = float(shading.values[row, column]) if shading else np.nan
    if shading and np.isfinite(value):
        classes = [*classes, "shaded"]
        style = f" style='--share:{min(1.0, value / shading.largest if value else 0.0):.3f}'"
        if "chosen" in classes or value >= _LEAST_SHOWN:
            number = f"<span class=share>{percent(value)}</span>"
    attributes = f"class='{' '.join(classes)}' data-cell='{row},{column}'"
    return f"<{tag} {attributes}{style}>{escape(text)}{number}</{tag}>"


def _size(table: Table, rows, columns) -> str:
    """Returns the line with the size of the table and of the part that is shown."""
    size = f"{counted(table.num_rows, 'row')}, {counted(table.num_columns, 'column')}"
    if (len(rows), len(columns)) != (table.num_rows, table.num_columns):
        size += f"; shown are {counted(len(rows), 'row')} and {counted(len(columns), 'column')}"
    unread = f"<span class=cut>{escape(table.unread)}</span>" if table.unread else ""
    return f"<span>{size}</span>{unread}"


def _unread(rows: Collection[int], columns: Collection[int]) -> str:
    """Returns the line about rows and columns that were not read; "" if there are none."""
    parts = [(rows, "row"), (columns, "column")]
    text = " and ".join(counted(len(found), noun) for found, noun in parts if found)
    return f"<span class=unread>grey: {text} not read</span>" if text else ""


def _legend(shading: Shading | None) -> str:
    """Returns the colour scale with its label and note; "" if there is no shading."""
    if shading is None:
        return ""
    note = f"<p>{escape(shading.note)}</p>" if shading.note else ""
    return (
        f"<span class='legend {shading.kind}'>{escape(shading.label)} 0<i></i>"
        f"{percent(shading.largest)}</span>{note}"
    )


def style() -> str:
    """Returns the style sheet for the HTML of `table_html`."""
    return (resources.files("mate_tf.tables") / "table.css").read_text("utf-8")
