"""Renders a table as text for a terminal, with marked cells."""

import unicodedata
from collections.abc import Collection, Sequence

_SEPARATOR = " | "


def render(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    marked_cells: Collection[tuple[int, int]] = (),
    *,
    max_rows: int = 12,
    max_columns: int = 8,
    max_width: int = 24,
) -> str:
    """Renders aligned columns, with `**marked**` cells and "..." for hidden parts.

    If the table is too large, the rows and columns around marked cells are shown. Between two shown
    rows a line gives the number of hidden rows.

    Args:
      columns: names of the columns.
      rows: texts of the data cells.
      marked_cells: (row, column), 0-based without the header.
      max_rows: largest number of rows to show.
      max_columns: largest number of columns to show.
      max_width: largest width of a cell in characters, without its marks.
    """
    marked = set(marked_cells)
    shown_rows = kept(len(rows), {row for row, _ in marked}, max_rows)
    shown_columns = kept(len(columns), {column for _, column in marked}, max_columns)

    def cells_of(texts: Sequence[str], row: int | None) -> list[str]:
        cells = []
        for position, column in enumerate(shown_columns):
            if column != (shown_columns[position - 1] + 1 if position else 0):
                cells.append("...")
            text = _shorten(texts[column], max_width)
            cells.append(f"**{text or '(empty)'}**" if (row, column) in marked else text)
        if shown_columns and shown_columns[-1] != len(columns) - 1:
            cells.append("...")
        return cells

    grid = [cells_of(columns, None), *(cells_of(rows[row], row) for row in shown_rows)]
    widths = [max(map(_width, cells)) for cells in zip(*grid, strict=True)]
    header, *body = [
        _SEPARATOR.join(
            cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)
        ).rstrip()
        for cells in grid
    ]
    lines = [header, "-+-".join("-" * width for width in widths)]
    following = 0
    for row, line in zip([*shown_rows, len(rows)], [*body, None], strict=True):
        if row > following:
            hidden = len({number for number, _ in marked if following <= number < row})
            note = f" ({hidden} with marked cells)" if hidden else ""
            left_out = row - following
            lines.append(f"... {left_out} row{'s' * (left_out > 1)}{note} ...")
        if line is not None:
            lines.append(line)
        following = row + 1
    return "\n".join(lines)


def kept(count: int, important: Collection[int], limit: int) -> list[int]:
    """Selects at most `limit` numbers of `range(count)`: `important` ones, then the closest."""
    if count <= limit:
        return list(range(count))
    anchors = sorted(important)[:limit] or [0]
    by_distance = sorted(range(count), key=lambda index: min(abs(index - a) for a in anchors))
    return sorted(by_distance[:limit])


def _shorten(text: str, max_width: int) -> str:
    """Returns the text on one line, shortened to `max_width` terminal cells."""
    text = " ".join(text.split())
    if _width(text) <= max_width:
        return text
    while _width(text) > max_width - 3:
        text = text[: min(len(text) - 1, max_width)]
    return text + "..."


def _width(text: str) -> int:
    """Counts terminal cells: 2 for East Asian wide characters, 0 for combining marks, else 1."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )
