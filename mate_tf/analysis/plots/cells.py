"""Heat maps of a table. matplotlib is imported when the first is drawn.

Figures are independent of windows and of pyplot. Save one with `figure.savefig("cells.png")`. A
notebook shows it after `%matplotlib inline`.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from mate_tf.analysis.plots import style
from mate_tf.errors import InputError
from mate_tf.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ROWS_WITH_TEXT = 40
"""Largest number of rows with text. In larger tables the text would be too small to read."""

_INCHES_PER_CHARACTER, _INCHES_PER_ROW, _MAX_HEIGHT = 0.085, 0.42, 16.0
_MIN_CHARACTERS = 7  # smallest width of a column; the number below the text needs it
_DARK = 0.55  # text is white for values above this share of the largest value


@style.styled
def cell_heat_map(
    table: Table,
    values: np.ndarray,
    marked_cells: Collection[tuple[int, int]] = (),
    *,
    title: str = "",
    label: str = "P(cell)",
    marked: str = "selected",
    max_value: float | None = None,
    max_width: int = 24,
) -> "Figure":
    """Draws a table with cells coloured by values: the larger, the darker.

        figure = cell_heat_map(table, answer.probabilities, answer.coordinates)

    A cell has its text and its value. Tables of more than `MAX_ROWS_WITH_TEXT` rows have colours
    and row numbers only.

    Args:
        values: <float>[rows, columns], values of the data cells, 0 or larger, such as the
            probabilities of POINTR's first stage (MATE paper, section 4.1).
        marked_cells: (row, column) of cells with a frame, 0-based without the header.
        label: name of the values.
        marked: name of the cells with a frame, below the table.
        max_value: value of the darkest colour; None: the largest value.
        max_width: characters of a cell that are shown.

    Raises:
        InputError: if `values` are not one finite number of at least 0 for each cell, the table has
            no rows, or a marked cell is not in it.
    """
    from matplotlib.patches import Rectangle

    values = _checked(table, values, marked_cells)
    max_value = max_value or float(values.max()) or 1.0
    texts = [[shorten(text, max_width) for text in row] for row in (table.columns, *table.rows)]
    widths = [max(_MIN_CHARACTERS, *map(len, column)) for column in zip(*texts, strict=True)]
    right = np.cumsum([0, *widths]) * _INCHES_PER_CHARACTER
    height = min(_INCHES_PER_ROW * (table.num_rows + 2), _MAX_HEIGHT)
    figure = style.new_figure(right[-1] + 2, height)
    axes = figure.add_subplot()
    below = np.arange(table.num_rows + 1)
    with_text = table.num_rows <= MAX_ROWS_WITH_TEXT
    lines = {"edgecolors": "lightgray", "linewidth": 0.5} if with_text else {}
    cells = axes.pcolormesh(
        right, below, values, cmap=style.SHARES, vmin=0, vmax=max_value, **lines
    )
    figure.colorbar(cells, label=label)
    middle = (right[:-1] + right[1:]) / 2
    # With parse_math, text between two dollar signs would be drawn as a formula.
    axes.set_xticks(middle, texts[0], parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.invert_yaxis()
    axes.set_ylabel("row")
    if with_text:
        axes.set_yticks(below[:-1] + 0.5, [str(row) for row in range(table.num_rows)])
        for (row, column), value in np.ndenumerate(values):
            axes.text(
                float(middle[column]),
                row + 0.5,
                f"{texts[row + 1][column]}\n{value:.2f}",
                color="white" if value > _DARK * max_value else "black",
                horizontalalignment="center",
                verticalalignment="center",
                fontsize="small",
                parse_math=False,
            )
    for row, column in marked_cells:
        width = right[column + 1] - right[column]
        axes.add_patch(
            Rectangle(
                (right[column], row), width, 1, fill=False, edgecolor=style.FRAME, linewidth=2.5
            )
        )
    axes.spines[:].set_visible(False)
    if marked_cells:
        axes.set_xlabel(f"framed: {marked}")
    axes.set_title(title, parse_math=False, wrap=True)
    return figure


def _checked(table: Table, values, marked_cells) -> np.ndarray:
    values = np.asarray(values, np.float64)
    shape = (table.num_rows, table.num_columns)
    if values.shape != shape:
        raise InputError(f"values of shape {values.shape} for a table of shape {shape}")
    if not values.size:
        raise InputError("a table without rows has no cells to plot")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise InputError("values to plot must be finite and not below 0")
    for row, column in marked_cells:
        if not (0 <= row < shape[0] and 0 <= column < shape[1]):
            raise InputError(f"marked cell ({row}, {column}) is not in a table of shape {shape}")
    return values


def shorten(text: str, max_width: int) -> str:
    """Returns the text in one line of at most `max_width` characters."""
    text = " ".join(text.split())
    return text if len(text) <= max_width else text[: max_width - 1] + "…"
