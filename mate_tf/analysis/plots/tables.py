"""Attention and masks over a table as a picture. matplotlib is imported when it is drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mate_tf.analysis.attention.cell_maps import ATTENTION, MASK, CellMaps
from mate_tf.analysis.plots.cells import shorten
from mate_tf.tables import html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 10, 6, 11
"""What is drawn of a table, beside its header, and of a cell."""

SOURCES = ("question", "cell")
"""Whose masks and attention are drawn."""

_COLOURS = {ATTENTION: "Blues", MASK: "Greens"}
_DARK = 0.6  # share of the largest value from which on text is white
_COLUMN, _ROW, _SMALL_ROW = 0.85, 0.22, 0.09  # inches


def table_maps(
    maps: CellMaps,
    title: str = "",
    *,
    sources: Sequence[str] = SOURCES,
    by_layer: bool = True,
) -> "Figure":
    """The table again and again, with a line below its header, its cells coloured.

    From left to right: what the question and a data cell (the one to which the question attends
    most; it has a frame) attend to, by types of heads. From top to bottom: their masks, their
    attention over all layers, and that of each layer, small and without words. Each panel says
    which share its darkest colour is.

    Args:
        maps: what is drawn.
        title: text above it.
        sources: which of SOURCES are drawn.
        by_layer: whether each layer is drawn too.
    """
    from matplotlib.figure import Figure

    rows, width = min(maps.rows, MAX_ROWS), min(maps.columns, MAX_COLUMNS)
    words = [maps.table.columns, *maps.table.rows[:rows]]
    texts = [[shorten(text, MAX_CHARACTERS) for text in row[:width]] for row in words]
    lines = [(view, None) for view in (MASK, ATTENTION) if view in maps.views]
    if by_layer and maps.layers > 1:
        lines += [(ATTENTION, layer + 1) for layer in range(maps.layers if lines[1:] else 0)]
    places = dict(zip(SOURCES, (maps.question_place, maps.data_cell(rows, width)), strict=True))
    columns = [
        (name, place, heads)
        for name, place in places.items()
        if name in sources and place is not None
        for heads in maps.heads
    ]
    heights = [len(texts) * (_SMALL_ROW if layer else _ROW) + 0.35 for _, layer in lines]
    figure = Figure(
        figsize=(len(columns) * (width * _COLUMN + 0.3), sum(heights) + 0.6), layout="constrained"
    )
    panels = figure.subplots(len(lines), len(columns), squeeze=False, height_ratios=heights)
    for (view, layer), of_line in zip(lines, panels, strict=True):
        where = f"layer {layer}" if layer else "all layers"
        for (name, place, heads), axes in zip(columns, of_line, strict=True):
            values = maps.in_cells(maps.shares(view, place, layer, heads))[: len(texts), :width]
            _draw(axes, values, [] if layer else texts, _COLOURS[view])
            largest = html.percent(float(values.max()))
            axes.set_title(
                f"{view} of the {name}, {where}, {heads}: up to {largest}", fontsize="xx-small"
            )
            if place < maps.question_place:
                _frame(axes, *divmod(place, maps.columns))
    if (rows, width) != (maps.table.num_rows, maps.table.num_columns):
        drawn = f"{html.counted(rows, 'row')} and {html.counted(width, 'column')}"
        title = f"{title} (the first {drawn})"
    figure.suptitle(title, fontsize="small", parse_math=False, wrap=True)
    return figure


def _draw(axes, values: np.ndarray, texts, colours: str) -> None:
    largest = float(values.max()) or 1.0
    axes.imshow(values, cmap=colours, vmin=0, vmax=largest, aspect="auto")
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
            drawn.set_in_layout(False)  # it is within its cell; measuring all of them takes long


def _frame(axes, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    corner = (column - 0.5, row - 0.5)
    axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="tab:orange", linewidth=2))
