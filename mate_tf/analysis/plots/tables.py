"""Attention and masks over a table as a figure. matplotlib is imported when it is drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mate_tf.analysis.attention.cell_maps import ATTENTION, MASK, CellMaps
from mate_tf.analysis.plots import style
from mate_tf.analysis.plots.cells import shorten
from mate_tf.tables.text import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 10, 6, 11
"""Largest number of drawn data rows and columns, and of characters per cell."""

SOURCES = ("question", "cell")
"""Sources of the attention and masks that are drawn."""

_COLOURS = {ATTENTION: style.SHARES, MASK: "Greens"}
_LABELS = {ATTENTION: "share of the attention", MASK: "share of pairs allowed"}
_DARK = 0.6  # share of the largest value from which on text is white
_COLUMN, _ROW, _SMALL_ROW = 0.85, 0.22, 0.09  # inches


@style.styled
def table_maps(
    maps: CellMaps,
    title: str = "",
    *,
    sources: Sequence[str] = SOURCES,
    by_layer: bool = True,
) -> "Figure":
    """Draws the table in several panels, with cells coloured by attention or mask.

    Columns of panels are the sources, for each type of heads: the question, and the data cell that
    the question attends to most, which has a frame. Rows of panels are the mask, the attention over
    all layers and, small and without text, the attention of each layer. The panels of a row have
    the same colours, which the bar next to them explains. The question is above the figure.

    Args:
        title: text above the figure, before the question.
        sources: the sources to draw, of SOURCES.
        by_layer: whether to draw each layer too.
    """
    rows, width = min(maps.rows, MAX_ROWS), min(maps.columns, MAX_COLUMNS)
    words = [maps.table.columns, *maps.table.rows[:rows]]
    texts = [[shorten(text, MAX_CHARACTERS) for text in row[:width]] for row in words]
    lines = [(view, None) for view in (MASK, ATTENTION) if view in maps.views]
    if by_layer and maps.layers > 1:
        lines += [(ATTENTION, layer + 1) for layer in range(maps.layers if lines[1:] else 0)]
    indices = dict(zip(SOURCES, (maps.question_index, maps.data_cell(rows, width)), strict=True))
    columns = [
        (name, index, heads)
        for name, index in indices.items()
        if name in sources and index is not None
        for heads in maps.heads
    ]
    heights = [len(texts) * (_SMALL_ROW if layer else _ROW) + 0.35 for _, layer in lines]
    question = f"“{maps.question}”" if maps.question else ""
    title = "\n".join(filter(None, (title, question)))
    if (rows, width) != (maps.table.num_rows, maps.table.num_columns):
        drawn = f"{counted(rows, 'row')} and {counted(width, 'column')}"
        title += f", the first {drawn}"
    figure = style.new_figure(len(columns) * (width * _COLUMN + 0.3) + 0.9, sum(heights), title)
    panels = figure.subplots(len(lines), len(columns), squeeze=False, height_ratios=heights)
    for (view, layer), of_line in zip(lines, panels, strict=True):
        where = f"layer {layer}" if layer else "all layers"
        found = [
            maps.in_cells(maps.shares(view, index, layer, heads))[: len(texts), :width]
            for _, index, heads in columns
        ]
        largest = float(np.max(found)) or 1.0
        for (name, index, heads), values, axes in zip(columns, found, of_line, strict=True):
            image = _draw(axes, values, [] if layer else texts, _COLOURS[view], largest)
            axes.set_title(f"{view} of the {name}, {where}, {heads}", fontsize="small")
            if index < maps.question_index:
                _frame(axes, *divmod(index, maps.columns))
        style.percent_bar(figure, image, of_line, "" if layer else _LABELS[view])
    return figure


def _draw(axes, values: np.ndarray, texts, colours: str, largest: float):
    """Draws one table and returns its image."""
    image = axes.imshow(values, cmap=colours, vmin=0, vmax=largest, aspect="auto")
    axes.axhline(0.5, color="gray", linewidth=0.8)
    axes.set_xticks([])
    axes.set_yticks([])
    for row, of_row in enumerate(texts):
        for column, text in enumerate(of_row):
            drawn = axes.text(
                column,
                row,
                text,
                color="white" if values[row, column] > _DARK * largest else "black",
                horizontalalignment="center",
                verticalalignment="center",
                fontsize="x-small",
                fontweight="normal" if row else "bold",
                parse_math=False,
            )
            # The text is within its cell. Measuring all texts for the layout would be slow.
            drawn.set_in_layout(False)
    return image


def _frame(axes, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    corner = (column - 0.5, row - 0.5)
    axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=style.FRAME, linewidth=2))
