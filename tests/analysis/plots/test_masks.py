"""Plots of importance and of learned masks."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from mate_tf.analysis.plots import masks as mask_plots
from mate_tf.analysis.plots import style
from mate_tf.errors import InputError


def test_importance_by_distance():
    n = 30
    i, j = np.indices([n, n])
    values = np.where((i % (n - 1) == 0) | (j % (n - 1) == 0), 5.0, abs(i - j))
    found = mask_plots.importance_by_distance(values)
    assert [found[str(d)] for d in range(16)] == list(range(16))
    assert found["special"] == 5
    assert found["more"] > 16
    assert mask_plots.importance_by_distance(np.ones([2, 2])) == {"special": 1.0}


def test_importance_map_shows_the_mean_over_heads():
    heads = np.random.default_rng(0).random([3, 8, 8])
    heads[:, range(8), range(8)] = 0
    figure = mask_plots.importance_map(heads, "pre-training")
    shown = np.asarray(figure.axes[0].images[0].get_array())
    assert shown.shape == (8, 8)
    assert (shown.diagonal() == 0).all()
    low, high = heads.min((1, 2), keepdims=True), heads.max((1, 2), keepdims=True)
    np.testing.assert_allclose(shown, ((heads - low) / (high - low)).mean(0))
    bars = figure.axes[1].patches
    assert bars[0].get_height() == 0
    assert bars[1].get_height() > 0.2


def test_importance_by_position():
    n = 9
    i, j = np.indices([n, n])
    special = (i % (n - 1) == 0) | (j % (n - 1) == 0)
    # the first and the last token with themselves are in no group
    values = np.where(special, np.where(i == j, 100.0, 7.0), np.minimum(abs(i - j), 2))
    expected = {"diagonal": 0, "neighbours": 1, "special": 7, "elsewhere": 2}
    assert mask_plots.importance_by_position(values) == expected
    assert list(mask_plots.importance_by_position(np.ones([3, 3]))) == ["diagonal", "special"]


def test_head_importance_shows_each_head_by_itself():
    heads = np.random.default_rng(0).random([3, 8, 8]) + np.array([0, 5, 9])[:, None, None]
    *panels, bar = mask_plots.head_importance(heads, "pre-training").axes
    assert [panel.get_title() for panel in panels] == ["head 1", "head 2", "head 3"]
    for panel, of_head in zip(panels, heads, strict=True):
        shown = np.asarray(panel.images[0].get_array())
        np.testing.assert_allclose(shown, (of_head - of_head.min()) / np.ptp(of_head))
    assert bar.get_ylabel() == "importance"


def test_head_masks_are_blue_where_there_is_attention():
    mask = np.zeros([5, 6, 6], bool)
    mask[2, 0] = True
    figure = mask_plots.head_masks(mask)
    assert len(figure.axes) == 5
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "the query attends to the key",
        "it does not",
    ]
    image = figure.axes[2].images[0]
    shown = image.cmap(image.norm(np.asarray(image.get_array())))
    assert to_hex(shown[0, 0]) == style.ALLOWED
    assert to_hex(shown[1, 0]) == style.NOT_ALLOWED
    assert figure.axes[2].get_title() == "head 3: sparsity 83.3 %"


def test_shapes_are_checked():
    with pytest.raises(InputError, match=r"a mask to plot is \[heads, n, n\], not \[3, 4\]"):
        mask_plots.head_masks(np.ones([3, 4], bool))
    with pytest.raises(InputError, match="importance to plot"):
        mask_plots.importance_map(np.ones([0, 4, 4]))
    with pytest.raises(InputError, match="importance to plot"):
        mask_plots.head_importance(np.ones([4, 4]))
