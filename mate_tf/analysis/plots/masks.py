"""Figures of importance and learned masks: SparseBERT's figures 2, 5 and 6, and relations.

Matplotlib is imported when a figure is drawn.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from mate_tf.analysis.plots import style
from mate_tf.attention import mask_pruning
from mate_tf.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS_PER_ROW = 4
_MOST_DISTANCES = 16


@style.styled
def importance_map(importance, title: str = "") -> "Figure":
    """Plots normalized importance, averaged over the heads (figure 2a), and its mean by distance.

    The bars show the groups of section 3.1.2. Distance 0 is the diagonal. "special" are the pairs
    with the first or the last token, which are not in the other bars.

    Args:
        importance: <float>[heads, n, n].

    Raises:
        InputError: if `importance` has another shape.
    """
    _check(importance, "importance")
    mean = mask_pruning.normalised(importance).mean(0)
    figure = style.new_figure(10, 4.2, title)
    left, right = figure.subplots(1, 2)
    left.set(xlabel="key", ylabel="query")
    image = left.imshow(mean, cmap=style.SHARES, vmin=0, vmax=1)
    figure.colorbar(image, ax=left, label="importance")
    bars = importance_by_distance(mean)
    right.bar(list(bars), list(bars.values()))
    right.set(xlabel="distance between query and key", ylabel="mean importance")
    right.tick_params("x", rotation=60)
    return figure


def importance_by_distance(importance) -> dict[str, float]:
    """Computes mean importance by distance, "0" to "15" and "more", and of "special" pairs.

    Groups without pairs are omitted.

    Args:
        importance: <float>[n, n].
    """
    importance = np.asarray(importance)
    special, distance = _special(len(importance))
    groups = {str(d): ~special & (distance == d) for d in range(_MOST_DISTANCES)}
    groups |= {"more": ~special & (distance >= _MOST_DISTANCES)}
    # The diagonal is not part of the special pairs either.
    groups |= {"special": special & (distance > 0)}
    return {name: float(importance[group].mean()) for name, group in groups.items() if group.any()}


def importance_by_position(importance) -> dict[str, float]:
    """Computes mean importance over the groups of section 3.1.2.

    "diagonal", "neighbours" (distance 1) and "elsewhere" are pairs without the first and the last
    token. "special" are pairs with one of these two, which are [CLS] and [SEP] in inputs of full
    length. Groups without pairs are omitted.

    Args:
        importance: <float>[n, n].
    """
    importance = np.asarray(importance)
    special, distance = _special(len(importance))
    groups = {
        "diagonal": ~special & (distance == 0),
        "neighbours": ~special & (distance == 1),
        "special": special & (distance > 0),
        "elsewhere": ~special & (distance > 1),
    }
    return {name: float(importance[group].mean()) for name, group in groups.items() if group.any()}


@style.styled
def head_importance(importance, title: str = "") -> "Figure":
    """Plots the normalized importance of each head; see `importance_map`.

    Args:
        importance: <float>[heads, n, n].

    Raises:
        InputError: if `importance` has another shape.
    """
    _check(importance, "importance")
    figure, panels = _panels(len(importance), title)
    normalised = mask_pruning.normalised(importance)
    for number, (axes, of_head) in enumerate(zip(panels, normalised, strict=True), 1):
        image = axes.imshow(of_head, cmap=style.SHARES, vmin=0, vmax=1)
        axes.set_title(f"head {number}")
    figure.colorbar(image, ax=panels, label="importance", shrink=0.6)
    return figure


@style.styled
def head_masks(mask, title: str = "") -> "Figure":
    """Plots the mask of each head, allowed pairs in blue, with its sparsity (figures 5 and 6).

    Args:
        mask: <bool>[heads, n, n], as `mask_files.load` returns it.

    Raises:
        InputError: if `mask` has another shape.
    """
    _check(mask, "a mask")
    figure, panels = _panels(len(mask), title)
    for number, (axes, of_head) in enumerate(zip(panels, np.asarray(mask), strict=True), 1):
        axes.imshow(of_head, cmap=style.mask_colours(), vmin=0, vmax=1, interpolation="nearest")
        axes.set_title(f"head {number}: sparsity {100 * mask_pruning.sparsity(of_head):.1f} %")
    style.mask_legend(figure)
    return figure


def _panels(count: int, title: str):
    """Returns a figure with a panel for each head, without ticks, and its panels."""
    columns = min(count, _PANELS_PER_ROW)
    rows = math.ceil(count / columns)
    figure = style.new_figure(max(2.4 * columns, 4.8), 2.6 * rows + 0.4, title)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in panels[count:]:
        axes.remove()
    for number, axes in enumerate(panels[:count]):
        axes.set(xticks=[], yticks=[])
        axes.set_xlabel("key" if number + columns >= count else "")
        axes.set_ylabel("" if number % columns else "query")
    return figure, panels[:count]


def _special(n: int):
    """Returns the pairs with the first or last token, <bool>[n, n], and distances <int>[n, n]."""
    position = np.arange(n)
    ends = (position == 0) | (position == n - 1)
    return ends[:, None] | ends[None, :], abs(position[:, None] - position[None, :])


def _check(values, what: str) -> None:
    shape = np.shape(values)
    if len(shape) != 3 or shape[1] != shape[2] or not shape[0] or not shape[1]:
        raise InputError(f"{what} to plot is [heads, n, n], not {list(shape)}")
