"""Figures of scores over sparsity: figures 3, 4 and 7 and table 4 of the SparseBERT paper.

A point is (sparsity, mean, standard deviation): the share of pairs that are not in the mask, the
mean score over seeds, and its standard deviation, None for one seed. Points may be lists, as JSON
has them. Matplotlib is imported when a figure is drawn.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mate_tf.analysis.plots import style
from mate_tf.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Point = Sequence[float | None]
Series = Mapping[str, Sequence[Point]]

_PANELS_PER_ROW = 3
_MARKERS = "osD^vP*X<>"


@style.styled
def score_against_sparsity(panels: Mapping[str, Series], score: str = "score") -> "Figure":
    """Plots a curve for each series, in a panel for each task (figures 3, 4 and 7).

        score_against_sparsity({"RTE": {"importance": [(0.1, 0.69, 0.01), …], "random": […]}})

    A series with one point, such as a static mask among learned ones (figure 4), is a marker
    without a line. Points are sorted by sparsity. Error bars show the deviations.

    Args:
        panels: title -> series -> points.
        score: name of the score.

    Raises:
        InputError: if there are no points, or one is not valid.
    """
    for title, series in panels.items():
        for name, points in series.items():
            _check(points, f"{title}, {name}")
    if not any(panels.values()):
        raise InputError("score_against_sparsity: no points to plot")
    columns = min(len(panels), _PANELS_PER_ROW)
    rows = math.ceil(len(panels) / columns)
    figure = style.new_figure(4 * columns + 0.6, 3.4 * rows + 0.3)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    # A series has the same colour and marker in all panels.
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    for panel, (title, series) in zip(axes, panels.items(), strict=False):
        for name, points in series.items():
            number = names.index(name)
            sparsity, mean, deviation = _columns(sorted(points, key=lambda point: point[0] or 0))
            panel.errorbar(
                [100 * each for each in sparsity],
                mean,
                yerr=deviation,
                label=name,
                color=style.COLOURS[number % len(style.COLOURS)],
                marker=_MARKERS[number % len(_MARKERS)],
                linestyle="-" if len(points) > 1 else "none",
                capsize=2,
            )
        panel.set_title(title, parse_math=False)
        panel.legend()
    for panel in axes[len(panels) :]:
        panel.remove()
    figure.supxlabel("sparsity, %")
    figure.supylabel(score)
    return figure


def _columns(points):
    """Returns lists of sparsities, means and deviations; 0 for unknown deviations."""
    sparsity, mean, deviation = zip(*points, strict=True)
    return list(sparsity), list(mean), [each or 0.0 for each in deviation]


def _check(points, where: str) -> None:
    if not points:
        raise InputError(f"{where}: no points to plot")
    for point in points:
        if len(point) != 3 or not all(_is_number(each) for each in point[:2]):
            raise InputError(f"{where}: a point is (sparsity, mean, deviation), not {point!r}")
        if not 0 <= point[0] <= 1:
            raise InputError(f"{where}: sparsity is a share between 0 and 1, not {point[0]!r}")


def _is_number(value) -> bool:
    return value is not None and math.isfinite(value)
