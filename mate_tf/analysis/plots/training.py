"""Figures of training by layer: figures 2 to 5 of the Treeformer paper.

The data are lines of layers.jsonl, read by `training.layer_log` or, for all stages of a
bootstrapping, by `training.bootstrap`. Matplotlib is imported when a figure is drawn.
"""

import itertools
import math
from typing import TYPE_CHECKING

from mate_tf.analysis.plots import style
from mate_tf.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS_PER_ROW = 4


@style.styled
def loss_curves(runs: dict[str, list[dict]], metric: str | None = None) -> "Figure":
    """Plots loss and a metric over steps (figures 2, 3). Dotted lines are starts of stages.

    The loss is that of a fixed batch, also at the start of each stage, so that the plot shows the
    rise of the loss there.

    Args:
        runs: title -> lines.
        metric: name of a metric in `training` or, if it is missing there, in `validation`.

    Raises:
        InputError: if there are no lines.
    """
    _check(runs)
    figure = style.new_figure(11 if metric else 6, 3.6)
    panels = figure.subplots(1, 2 if metric else 1, squeeze=False)[0]
    for index, (title, lines) in enumerate(runs.items()):
        curves = [[(line["step"], line["probe_loss"]) for line in lines if "probe_loss" in line]]
        if metric:
            curves.append(_values(lines, metric))
        for axes, curve in zip(panels, curves, strict=True):
            axes.plot(*_columns(curve), color=f"C{index}", label=title)
            for step in _stage_begins(lines):
                axes.axvline(step, color=f"C{index}", linestyle=":", linewidth=0.8)
    for axes, label in zip(panels, ("loss", metric), strict=False):
        axes.set_xlabel("step")
        axes.set_ylabel(label)
        axes.grid()
    panels[0].legend()
    return figure


@style.styled
def leaf_distribution(lines: list[dict]) -> "Figure":
    """Plots the share of the keys in each leaf at the end of the training, by layer (figure 4).

    Leaves are sorted by their shares, in descending order.

    Raises:
        InputError: if no layer has trees.
    """
    with_layers = [line for line in lines if "layers" in line]
    layers = with_layers[-1]["layers"] if with_layers else []
    of_trees = [number for number, layer in enumerate(layers, 1) if "leaf_shares" in layer]
    if not of_trees:
        raise InputError("leaf_distribution: no layer has decision trees")
    figure, panels = _panels(of_trees)
    for axes, number in zip(panels, of_trees, strict=True):
        layer = layers[number - 1]
        shares = layer["leaf_shares"]
        axes.bar(range(1, len(shares) + 1), [100 * share for share in shares], width=0.9)
        axes.axhline(100 / len(shares), color="black", linestyle=":", linewidth=0.8)
        axes.set_title(f"layer {number}: {layer['attention']}")
    figure.supxlabel("leaf, by its share; dotted: equal shares")
    figure.supylabel("share of the keys, %")
    return figure


@style.styled
def gradient_norms(
    runs: dict[str, list[dict]], layers: list[int] | None = None, of_trees: bool = False
) -> "Figure":
    """Plots gradient norms over steps, in a panel for each layer (figure 5).

    Args:
        runs: title -> lines.
        layers: numbers of layers, from 1; None: all layers.
        of_trees: plot the norms of the trees' gradients only, for the steps in which the layer has
            trees.

    Raises:
        InputError: if there are no lines, or a layer does not exist.
    """
    _check(runs)
    key = "tree_gradient_norm" if of_trees else "gradient_norm"
    count = max(len(line.get("layers", ())) for lines in runs.values() for line in lines)
    layers = list(range(1, count + 1)) if layers is None else layers
    if not layers or not all(1 <= number <= count for number in layers):
        raise InputError(f"gradient_norms: layers {layers} of {count}")
    figure, panels = _panels(layers)
    for axes, number in zip(panels, layers, strict=True):
        for title, lines in runs.items():
            curve = [
                (line["step"], line["layers"][number - 1].get(key))
                for line in lines
                if "layers" in line
            ]
            axes.plot(*_columns(curve), label=title)
        axes.set_yscale("log")
        axes.set_title(f"layer {number}")
    panels[0].legend()
    figure.supxlabel("step")
    figure.supylabel("gradient norm" + (" of the trees" if of_trees else ""))
    return figure


def _panels(numbers):
    """Returns a figure with a panel for each number, and its panels."""
    columns = min(len(numbers), _PANELS_PER_ROW)
    rows = math.ceil(len(numbers) / columns)
    figure = style.new_figure(2.6 * columns + 1, 2.4 * rows + 0.6)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in panels[len(numbers) :]:
        axes.remove()
    return figure, panels[: len(numbers)]


def _values(lines, metric):
    for part in ("training", "validation"):
        points = [
            (line["step"], line[part][metric]) for line in lines if metric in line.get(part, {})
        ]
        if points:
            return points
    return []


def _columns(curve):
    """Returns steps and values, with NaN for missing values."""
    return (
        [step for step, _ in curve],
        [float("nan") if value is None else value for _, value in curve],
    )


def _stage_begins(lines):
    """Returns the steps at which a new stage begins."""
    pairs = itertools.pairwise(lines)
    return [after["step"] for before, after in pairs if before.get("stage") != after.get("stage")]


def _check(runs):
    if not any(runs.values()):
        raise InputError("there are no lines of layers.jsonl to plot")
