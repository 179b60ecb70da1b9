"""What notebooks show: pictures in which nothing is drawn, answers in tables.

Notebooks import it, too: `watch` looks at their pictures while they are drawn.
"""

import functools
from xml.etree import ElementTree

import numpy as np
from matplotlib.backend_bases import FigureCanvasBase

LEAST = 1e-3
"""Smallest difference of two values that can be seen, as a share of the largest value."""


def blank(figure) -> list[str]:
    """Returns the panels of a figure in which all values are the same, or "no panel".

    Frames, titles and ticks do not count. Values are those of images and meshes, the heights of
    lines and bars.
    """
    panels = [axes for axes in figure.axes if not hasattr(axes, "_colorbar")]
    found = [f"panel {i}" for i, axes in enumerate(panels) if not any(map(_varies, _values(axes)))]
    return found if panels else ["no panel"]


def _values(axes):
    """Yields the values of each artist, and those of all bars together."""
    for artist in (*axes.images, *axes.collections):
        yield artist.get_array()
    for line in axes.lines:
        yield line.get_ydata()
    yield [patch.get_height() for patch in axes.patches if hasattr(patch, "get_height")]


def _varies(values) -> bool:
    numbers = np.ma.masked_invalid(np.ravel([] if values is None else values), copy=True)
    seen = numbers.compressed().astype(float)
    return bool(seen.size and np.ptp(seen) > LEAST * abs(seen).max())


def watch() -> list[list[str]]:
    """Returns a list that gets `blank` of each figure that this process draws from now on."""
    found, draw = [], FigureCanvasBase.print_figure

    @functools.wraps(draw)
    def watched(canvas, *args, **kwargs):
        found.append(blank(canvas.figure))
        return draw(canvas, *args, **kwargs)

    FigureCanvasBase.print_figure = watched
    return found


def answers(html: str) -> list[tuple[str, str]]:
    """Returns (answer, expected) of each row of a table that pandas shows, if it has both."""
    table = ElementTree.fromstring(html[html.index("<table") : html.index("</table>") + 8])
    header, *rows = (["".join(cell.itertext()) for cell in row] for row in table.iter("tr"))
    if not {"answer", "expected"} <= {*header}:
        return []
    return [(row[header.index("answer")], row[header.index("expected")]) for row in rows]
