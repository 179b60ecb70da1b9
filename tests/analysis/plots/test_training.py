"""Figures of how training went: which curves and bars they have."""

import io

import numpy as np
import pytest

from mate_tf.analysis.plots import training as training_plots
from mate_tf.errors import InputError


def layer(norm, *shares):
    found = {"attention": "tree_fine" if shares else "full", "gradient_norm": norm}
    if shares:
        found |= {"leaf_shares": list(shares), "tree_gradient_norm": norm / 10}
    return found


STAGES = [
    {"stage": 1, "step": 0, "probe_loss": 3.0, "layers": [layer(1.0), layer(2.0)]},
    {
        "stage": 1,
        "step": 5,
        "training": {"accuracy": 0.25},
        "probe_loss": 2.0,
        "layers": [layer(1.5), layer(2.5)],
    },
    {"stage": 1, "step": 5, "validation": {"accuracy": 0.5}},
    {"stage": 2, "step": 5, "probe_loss": 2.75, "layers": [layer(0.5), layer(0.25, 0.75, 0.25)]},
    {
        "stage": 2,
        "step": 9,
        "training": {"accuracy": 0.375},
        "probe_loss": None,
        "layers": [layer(0.5, 1.0, 0.0), layer(0.125, 0.625, 0.375)],
    },
]
ONCE = [{"step": 9, "training": {"accuracy": 1.0}, "probe_loss": 1.0, "layers": [layer(1.0)] * 2}]


def drawn(figure):
    with io.BytesIO() as file:
        figure.savefig(file, format="png")
        assert file.getvalue().startswith(b"\x89PNG")
    return figure


def points(line):
    return np.array(line.get_xydata()).tolist()


def test_loss_jumps_where_a_stage_begins():
    figure = drawn(training_plots.loss_curves({"in stages": STAGES, "at once": ONCE}, "accuracy"))
    loss, accuracy = figure.axes
    curve, begin, other = loss.lines
    assert points(curve)[:3] == [[0, 3.0], [5, 2.0], [5, 2.75]]
    assert np.isnan(points(curve)[3][1])  # diverged
    assert list(begin.get_xdata()) == [5, 5]
    assert points(other) == [[9, 1.0]]
    assert [text.get_text() for text in loss.get_legend().get_texts()] == ["in stages", "at once"]
    assert points(accuracy.lines[0]) == [[5, 0.25], [9, 0.375]]
    assert points(accuracy.lines[2]) == [[9, 1.0]]
    evaluated = training_plots.loss_curves({"": [*STAGES[:1], STAGES[2]]}, "accuracy")
    assert points(evaluated.axes[1].lines[0]) == [[5, 0.5]]
    assert len(training_plots.loss_curves({"a": STAGES}).axes) == 1


def test_leaves_in_the_end():
    first, second = drawn(training_plots.leaf_distribution(STAGES)).axes
    assert [bar.get_height() for bar in first.patches] == [100, 0]
    assert [bar.get_height() for bar in second.patches] == [62.5, 37.5]
    assert second.get_title() == "layer 2: tree_fine"
    with pytest.raises(InputError, match="no layer has decision trees"):
        training_plots.leaf_distribution(STAGES[:2])


def test_gradient_norms_by_layer():
    (axes,) = drawn(training_plots.gradient_norms({"in stages": STAGES, "": ONCE}, [2])).axes
    assert points(axes.lines[0]) == [[0, 2.0], [5, 2.5], [5, 0.25], [9, 0.125]]
    assert axes.get_title() == "layer 2"
    of_trees = training_plots.gradient_norms({"in stages": STAGES}, of_trees=True)
    assert len(of_trees.axes) == 2
    assert points(of_trees.axes[1].lines[0])[2:] == [[5, 0.025], [9, 0.0125]]
    with pytest.raises(InputError, match=r"layers \[3\] of 2"):
        training_plots.gradient_norms({"a": STAGES}, [3])
    with pytest.raises(InputError, match="no lines"):
        training_plots.gradient_norms({"a": []})
