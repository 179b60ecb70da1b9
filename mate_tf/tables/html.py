"""A table as HTML, with colours and numbers in its cells. All text in it is escaped.

The classes are styled in table.css.
"""

from collections.abc import Collection
from html import escape
from importlib import resources
from typing import NamedTuple

import numpy as np

from mate_tf.tables.rendering import kept
from mate_tf.tables.table import Table

MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 60, 20, 160
"""What is shown of a table and of a cell."""

_LEAST_SHOWN = 0.001  # shares below are shown as colour only


class Shading(NamedTuple):
    """Numbers in cells, drawn as colours.

    Attributes:
        kind: "answer" or "attention": which colour.
        values: <float>[rows + 1, columns], the header first; NaN for cells without.
        largest: the value of the strongest colour.
        label: what the values are.
        note: what else is to be said of them.
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
) -> str:
    """The table with its legend; what is not shown of it is said below.

    Args:
        table: the table.
        chosen: (row, column) of cells that get a frame, 0-based without the header. They and
            their neighbourhood are shown first.
        shading: colours of the cells.
        max_rows: data rows shown at most.
        max_columns: columns shown at most.
    """
    chosen = set(chosen)
    rows = kept(table.num_rows, {row for row, _ in chosen}, max_rows)
    columns = kept(table.num_columns, {column for _, column in chosen}, max_columns)

    def cells(tag, texts, row):
        yield f"<th class=number>{'' if row < 0 else row + 1}</th>"
        following = 0
        for column in columns:
            if column > following:
                yield f"<{tag} class=gap>…</{tag}>"
            following = column + 1
            yield _cell(tag, texts[column], shading, row + 1, column, (row, column) in chosen)
        if following < table.num_columns:
            yield f"<{tag} class=gap>…</{tag}>"

    lines = [f"<thead><tr>{''.join(cells('th', table.columns, -1))}</tr></thead><tbody>"]
    following = 0
    for row in [*rows, table.num_rows]:
        if row > following:
            hidden = f"… {counted(row - following, 'row')} …"
            lines.append(f"<tr class=gap><td colspan={len(columns) + 3}>{hidden}</td></tr>")
        if row < table.num_rows:
            lines.append(f"<tr>{''.join(cells('td', table.rows[row], row))}</tr>")
        following = row + 1
    kind = shading.kind if shading else "plain"
    return (
        f"<div class='mate-table {kind}'><table>{''.join(lines)}</tbody></table></div>"
        f"<div class=mate-below>{_size(table, rows, columns)}{_legend(shading)}</div>"
    )


def _cell(tag, text: str, shading: Shading | None, place: int, column: int, chosen: bool) -> str:
    """One cell; `place` is its row in the shading, where the header comes first."""
    text = " ".join(text.split())
    text = text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
    classes, style, number = ["chosen"] if chosen else [], "", ""
    value = float(shading.values[place, column]) if shading else np.nan
    if np.isfinite(value):
        classes.append("shaded")
        style = f" style='--share:{min(1.0, value / shading.largest if value else 0.0):.3f}'"
        if chosen or value >= _LEAST_SHOWN:
            number = f"<span class=share>{percent(value)}</span>"
    where = f"class='{' '.join(classes)}' data-cell='{place},{column}'"
    return f"<{tag} {where}{style}>{escape(text)}{number}</{tag}>"


def _size(table: Table, rows, columns) -> str:
    size = f"{counted(table.num_rows, 'row')}, {counted(table.num_columns, 'column')}"
    if (len(rows), len(columns)) != (table.num_rows, table.num_columns):
        size += f"; shown are {counted(len(rows), 'row')} and {counted(len(columns), 'column')}"
    return f"<span>{size}</span>"


def _legend(shading: Shading | None) -> str:
    if shading is None:
        return ""
    note = f"<p>{escape(shading.note)}</p>" if shading.note else ""
    return (
        f"<span class='legend {shading.kind}'>{escape(shading.label)} 0<i></i>"
        f"{percent(shading.largest)}</span>{note}"
    )


def style() -> str:
    """The style sheet of what `table_html` gives."""
    return (resources.files("mate_tf.tables") / "table.css").read_text("utf-8")


def percent(share: float) -> str:
    """A share in per cent, with a decimal where it is small."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


def counted(count: int, noun: str) -> str:
    """A number and what it counts: "1 row", "2,000 rows"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
