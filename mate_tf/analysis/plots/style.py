"""One look for all figures: fonts, colours, legends. matplotlib is imported on use."""

import functools
from typing import TYPE_CHECKING, Any

from mate_tf.errors import InputError

if TYPE_CHECKING:
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure

SHARES = "Blues"
"""Colour map of what is 0 or larger: attention, probabilities, importance."""

RATIOS = "PuOr_r"
"""Colour map of ratios, white for 1."""

NOT_ALLOWED, ALLOWED = "#f4f4f4", "#1f77b4"
"""Colours of a mask."""

FRAME = "#e8590c"
"""Colour of the frames around cells."""

COLOURS = (
    *("#0b559f", "#e8590c", "#2b8a3e", "#ae3ec9", "#c92a2a"),
    *("#868e96", "#f2a900", "#0c8599", "#5c3d00", "#000000"),
)
"""Colours of lines, in this order."""

_SETTINGS: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "figure.titlesize": 10,
    "figure.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.3,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
}


def styled(draw):
    """Decorates a function that draws a figure, which then has this look.

    Raises:
        InputError: when it is called, if matplotlib is not installed.
    """

    @functools.wraps(draw)
    def in_style(*args, **kwargs):
        matplotlib = require_matplotlib()
        from matplotlib import rcsetup

        colours = rcsetup.cycler(color=COLOURS)
        with matplotlib.rc_context({**_SETTINGS, "axes.prop_cycle": colours}):
            return draw(*args, **kwargs)

    return in_style


def require_matplotlib():
    """Returns the module matplotlib; raises InputError if it is not installed."""
    try:
        import matplotlib
    except ImportError as error:
        raise InputError("plots need matplotlib: pip install 'mate-tf[plots]'") from error
    return matplotlib


def new_figure(width: float, height: float, title: str = "") -> "Figure":
    """Returns an empty figure, independent of windows and of pyplot.

    Args:
        width: width in inches.
        height: height in inches, without the title.
        title: text above the figure. A sign between dollars is not a formula.
    """
    from matplotlib.figure import Figure

    lines = title.count("\n") + 1 if title else 0
    figure = Figure(figsize=(width, height + 0.2 * lines), layout="constrained")
    if title:
        figure.suptitle(title, parse_math=False, wrap=True)
    return figure


def percent_bar(figure: "Figure", image, panels, label: str) -> "Colorbar":
    """Adds the colour bar of an image with shares, in per cent, and returns it.

    Args:
        image: what has the colours, with values between 0 and 1.
        panels: the axes that the bar belongs to.
        label: name of the share.
    """
    from matplotlib.ticker import PercentFormatter

    return figure.colorbar(
        image, ax=panels, label=label, format=PercentFormatter(1.0, symbol=" %"), pad=0.01
    )


def mask_legend(figure: "Figure") -> None:
    """Adds a legend of the two colours of a mask below the figure."""
    from matplotlib.patches import Patch

    entries = (("the query attends to the key", ALLOWED), ("it does not", NOT_ALLOWED))
    patches = [
        Patch(facecolor=colour, edgecolor="gray", linewidth=0.4, label=label)
        for label, colour in entries
    ]
    figure.legend(handles=patches, loc="outside lower center", ncols=2)


def mask_colours():
    """Returns the colour map of a mask: False, True."""
    from matplotlib.colors import ListedColormap

    return ListedColormap([NOT_ALLOWED, ALLOWED])
