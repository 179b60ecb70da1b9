"""Figure of heads that attend along rows and along columns."""

from typing import TYPE_CHECKING

import numpy as np

from mate_tf.analysis.attention.flow_by_type import COLUMN, ROW, FlowByType
from mate_tf.analysis.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST_WIDTH, _LEAST_HEIGHT = 5.5, 2.6  # inches, for the titles and the colour bar
_FARTHEST = 3  # limits of the colours: 2^-3 to 2^3 times uniform attention


@style.styled
def row_and_column_heads(flow: FlowByType, title: str = "") -> "Figure":
    """Plots each head's attention to the query's row and column, relative to uniform attention.

    White is uniform attention; the colours are on a logarithmic scale. Heads that behave like row
    or column heads (`FlowByType.head_likeness`) have a dot.

    Args:
        flow: accumulated attention of at least one layer.
    """
    layers, heads = flow.by_head.shape[:2]
    width, height = max(2 * (0.3 * heads + 1.2) + 1, _LEAST_WIDTH), 0.3 * layers + 1.9
    figure = style.new_figure(width, max(height, _LEAST_HEIGHT), title)
    panels = figure.subplots(1, 2, sharey=True)
    likeness = np.array(flow.head_likeness())
    for axes, kind in zip(panels, (ROW, COLUMN), strict=True):
        powers = np.log2(np.maximum(flow.times_uniform(kind), 2.0**-_FARTHEST))
        image = axes.imshow(powers, cmap=style.RATIOS, vmin=-_FARTHEST, vmax=_FARTHEST)
        layer, head = np.nonzero(likeness == kind)
        axes.plot(head, layer, "k.", markersize=5)
        axes.set_title(f"attention to the own {kind}\n• behaves like a {kind} head")
        axes.set_xticks(range(heads), map(str, range(1, heads + 1)))
        axes.set_xlabel("head")
    panels[0].set_yticks(range(layers), map(str, range(1, layers + 1)))
    panels[0].set_ylabel("layer")
    ticks = range(-_FARTHEST, _FARTHEST + 1)
    bar = figure.colorbar(image, ax=panels, ticks=ticks, label="times uniform attention")
    bar.set_ticklabels([f"{2.0**tick:g}" for tick in ticks])
    return figure
