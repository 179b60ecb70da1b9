"""The picture of a table with attention and masks."""

import io

import numpy as np
import pytest

from mate_tf.analysis.attention import cell_maps
from mate_tf.analysis.attention.cell_maps import ATTENTION
from mate_tf.analysis.plots import tables as table_plots

pytest.importorskip("matplotlib")


def panels(figure):
    """Title -> the axes, without those of the colour bars."""
    return {axes.get_title(): axes for axes in figure.axes if axes.get_title()}


def test_panels(looking_alike, small_example, pieces):
    maps = cell_maps.measure(looking_alike("mate_exact"), small_example, pieces)
    figure = table_plots.table_maps(maps, "$a title$")
    found = panels(figure)
    heads = ("row heads", "column heads")
    assert list(found) == [
        f"{view} of the {name}, {where}, {of_type}"
        for view, where in (
            ("mask", "all layers"),
            *(("attention", where) for where in ("all layers", "layer 1", "layer 2")),
        )
        for name in ("question", "cell")
        for of_type in heads
    ]
    # one scale and one bar for a row of panels: of 20, 20, 33 and 29 % at most
    for axes in found.values():
        largest = 1 if axes.get_title().startswith("mask") else 1 / 3
        assert axes.images[0].get_clim() == pytest.approx((0, largest))
    labels = [bar.get_ylabel() for bar in figure.axes if not bar.get_title()]
    assert labels == ["share of pairs allowed", "share of the attention", "", ""]
    assert figure.get_suptitle() == f"$a title$\n“{maps.question}”"
    axes = found["attention of the cell, all layers, row heads"]
    shown = axes.images[0].get_array()
    np.testing.assert_allclose(shown, maps.in_cells(maps.shares(ATTENTION, 5, None, "row heads")))
    assert [text.get_text() for text in axes.texts][:2] == ["who", "year"]
    assert [text.get_text() for text in axes.texts][-1] == "annika"
    assert len(axes.patches) == 1
    assert axes.patches[0].get_xy() == (0.5, 1.5)
    assert not found["attention of the question, layer 1, row heads"].texts
    file = io.BytesIO()
    figure.savefig(file, format="png")
    assert len(file.getvalue()) > 10_000


def test_one_source_and_no_layers(looking_alike, small_example, pieces):
    maps = cell_maps.measure(looking_alike("mate_exact"), small_example, pieces)
    found = panels(table_plots.table_maps(maps, sources=["cell"], by_layer=False))
    assert list(found) == [
        "mask of the cell, all layers, row heads",
        "mask of the cell, all layers, column heads",
        "attention of the cell, all layers, row heads",
        "attention of the cell, all layers, column heads",
    ]


def test_one_layer_and_a_large_table(looking_alike, small_example, pieces):
    """Of which the first cells are drawn, and the frame is around one of these."""
    small = cell_maps.measure(looking_alike("full", layers=1), small_example, pieces)
    (part,) = small.views[ATTENTION]
    shape = (8 * 20 + 1, 8 * 20 + 2)
    shares = np.zeros(shape)
    shares[:, 9 * 8 + 7] = 0.9  # not drawn
    shares[:, 3 * 8 + 2] = 0.1
    table = small.table.from_rows(["name"] * 8, [["a long text in a cell"] * 8] * 30)
    views = {view: [part._replace(shares=shares)] for view in small.views}
    figure = table_plots.table_maps(cell_maps.CellMaps(table, "", 19, 8, views), "large")
    assert len(figure.axes) == 4 + 2  # with their bars
    assert figure.get_suptitle() == "large, the first 10 rows and 6 columns"
    axes = figure.axes[3]
    assert axes.images[0].get_array().shape == (11, 6)
    assert axes.texts[-1].get_text() == "a long tex…"
    assert axes.patches[0].get_xy() == (1.5, 2.5)


def test_a_header_alone(looking_alike, small_example, pieces):
    small_example = {name: values[:, :5] for name, values in small_example.items()}
    maps = cell_maps.measure(looking_alike("full", layers=1), small_example, pieces)
    assert maps.rows == 0
    titles = list(panels(table_plots.table_maps(maps)))
    assert all("of the question" in title for title in titles)
