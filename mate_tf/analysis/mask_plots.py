"""Importance of positions and learned masks: figures 2, 5 and 6 of the SparseBERT paper.

Matplotlib is imported when a figure is drawn.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from mate_tf.attention import mask_pruning
from mate_tf.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS_PER_ROW = 4
_MOST_DISTANCES = 16


def importance_map(importance, title: str = "") -> "Figure":
    """Importance averaged over the heads, normalised (figure 2a), and its mean by distance.

    The bars to the right are what section 3.1.2 reads off the map: the diagonal is distance 0, and
    "special" are the pairs with the first or the last token, which the other bars leave out.

    Args:
        importance: <float>[heads, n, n].
        title: text above the plot.

    Raises:
        InputError: not of that shape.
    """
    from matplotlib.figure import Figure

    _check(importance, "importance")
    mean = mask_pruning.normalised(importance).mean(0)
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.set(xlabel="key", ylabel="query")
    figure.colorbar(left.imshow(mean, cmap="viridis", vmin=0, vmax=1), label="importance")
    bars = importance_by_distance(mean)
    right.bar(list(bars), list(bars.values()))
    right.set(xlabel="distance", ylabel="mean importance")
    right.tick_params("x", labelsize="small", rotation=60)
    figure.suptitle(title, parse_math=False)
    return figure


def importance_by_distance(importance) -> dict[str, float]:
    """Mean of an <float>[n, n] by distance, "0" to "15" and "more", and of "special" pairs.

    Groups that have no pairs are left out.
    """
    importance = np.asarray(importance)
    place = np.arange(len(importance))
    ends = (place == 0) | (place == len(place) - 1)
    special = ends[:, None] | ends[None, :]
    distance = abs(place[:, None] - place[None, :])
    groups = {str(d): ~special & (distance == d) for d in range(_MOST_DISTANCES)}
    groups |= {"more": ~special & (distance >= _MOST_DISTANCES)}
    # of the special pairs too, not those of a token with itself
    groups |= {"special": special & (distance > 0)}
    return {name: float(importance[group].mean()) for name, group in groups.items() if group.any()}


def head_masks(mask, title: str = "") -> "Figure":
    """The mask of each head, white where there is attention (figures 5 and 6), with its sparsity.

    Args:
        mask: <bool>[heads, n, n], as `mask_files.load` gives it.
        title: text above the plot.

    Raises:
        InputError: not of that shape.
    """
    from matplotlib.figure import Figure

    _check(mask, "a mask")
    count = len(mask)
    columns = min(count, _PANELS_PER_ROW)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(2.4 * columns, 2.6 * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for number, axes in enumerate(panels, 1):
        if number > count:
            axes.remove()
            continue
        of_head = np.asarray(mask[number - 1])
        axes.imshow(of_head, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes.set_title(f"head {number}: {mask_pruning.sparsity(of_head):.1%}", fontsize="small")
        axes.set_xticks([])
        axes.set_yticks([])
    figure.suptitle(title, parse_math=False)
    return figure


def _check(values, what: str) -> None:
    shape = np.shape(values)
    if len(shape) != 3 or shape[1] != shape[2] or not shape[0] or not shape[1]:
        raise InputError(f"{what} to plot is [heads, n, n], not {list(shape)}")
