"""Plots of scores against sparsity."""

import json

import numpy as np
import pytest

from mate_tf.analysis.plots import sparsity as sparsity_plots
from mate_tf.errors import InputError

PANELS = {
    "RTE": {
        "importance": [(0.9, 0.60, 0.02), (0.1, 0.70, 0.01), (0.5, 0.65, None)],
        "star": [(0.961, 0.58, 0.03)],
    },
    "MRPC": {"star": [(0.961, 0.8, 0.0)]},
}


def test_each_task_has_a_panel_and_each_series_its_points_by_sparsity():
    figure = sparsity_plots.score_against_sparsity(json.loads(json.dumps(PANELS)), "accuracy")
    rte, mrpc = figure.axes
    assert [panel.get_title() for panel in (rte, mrpc)] == ["RTE", "MRPC"]
    curve, point = (container.lines for container in rte.containers)
    np.testing.assert_allclose(curve[0].get_xydata(), [[10, 0.7], [50, 0.65], [90, 0.6]])
    (bars,) = curve[2]
    lengths = [high[1] - low[1] for low, high in bars.get_segments()]
    np.testing.assert_allclose(lengths, [0.02, 0, 0.04])
    assert (curve[0].get_linestyle(), point[0].get_linestyle()) == ("-", "None")
    # the same mask looks the same in all panels
    assert mrpc.containers[0].lines[0].get_color() == point[0].get_color() != curve[0].get_color()
    assert figure.get_supylabel() == "accuracy"


@pytest.mark.parametrize(
    ("panels", "message"),
    [
        ({}, "no points"),
        ({"RTE": {}}, "no points"),
        ({"RTE": {"star": []}}, "RTE, star: no points"),
        ({"RTE": {"star": [(0.9, 0.5)]}}, r"RTE, star: a point is \(sparsity, mean, deviation\)"),
        ({"RTE": {"star": [(0.9, float("nan"), None)]}}, "a point is"),
        ({"RTE": {"star": [(96.1, 0.5, None)]}}, "a share between 0 and 1, not 96.1"),
    ],
)
def test_points_are_checked(panels, message):
    with pytest.raises(InputError, match=message):
        sparsity_plots.score_against_sparsity(panels)
