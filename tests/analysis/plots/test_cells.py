"""Heat maps: what stands in them, and where."""

import io
import warnings

import numpy as np
import pytest

from mate_tf.analysis import plots
from mate_tf.errors import InputError
from mate_tf.tables.table import Table

TABLE = Table.from_rows(
    ["Year", "Winner"], [["2001", "Ann"], ["2002", "Bob"], ["2003", "costs $5,\nnot $6"]]
)
VALUES = np.array([[0.0, 0.1], [0.05, 0.8], [0.01, 0.04]])


def drawn(figure):
    """Its bytes as a PNG, which nothing may be wrong with."""
    with warnings.catch_warnings(), io.BytesIO() as file:
        warnings.simplefilter("error")
        figure.savefig(file, format="png")
        return file.getvalue()


def mesh(axes):
    (cells,) = (each for each in axes.collections if each.get_array() is not None)
    return cells


def test_cells_show_their_text_and_value():
    figure = plots.cell_heat_map(TABLE, VALUES, title="who won in $2002, or $2003?")
    axes, colours = figure.axes
    assert drawn(figure).startswith(b"\x89PNG")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Year", "Winner"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1", "2"]
    assert axes.get_title() == "who won in $2002, or $2003?"
    assert colours.get_ylabel() == "P(cell)"
    assert np.allclose(mesh(axes).get_array(), VALUES)
    assert mesh(axes).get_clim() == (0, 0.8)
    assert {text.get_text() for text in axes.texts} == {
        "2001\n0.00",
        "Ann\n0.10",
        "2002\n0.05",
        "Bob\n0.80",
        "2003\n0.01",
        "costs $5, not $6\n0.04",
    }


def test_texts_stand_in_their_cells():
    """The first row on top; each text in the rectangle that has its value's colour."""
    figure = plots.cell_heat_map(TABLE, VALUES)
    axes = figure.axes[0]
    drawn(figure)
    assert axes.yaxis_inverted()
    corners = mesh(axes).get_coordinates()
    for text in axes.texts:
        x, y = text.get_position()
        (column,) = np.flatnonzero((corners[0, :-1, 0] < x) & (x < corners[0, 1:, 0]))
        (row,) = np.flatnonzero((corners[:-1, 0, 1] < y) & (y < corners[1:, 0, 1]))
        own = " ".join(TABLE.rows[row][column].split())
        assert text.get_text() == f"{own}\n{VALUES[row, column]:.2f}"
        assert text.get_color() == ("white" if own == "Bob" else "black")


def test_marked_cells_are_framed():
    axes = plots.cell_heat_map(TABLE, VALUES, [(1, 1)]).axes[0]
    (frame,) = axes.patches
    corners = mesh(axes).get_coordinates()
    assert frame.get_xy() == pytest.approx(corners[1, 1])
    assert (frame.get_x() + frame.get_width(), frame.get_y() + 1) == pytest.approx(corners[2, 2])
    assert axes.get_xlabel() == "framed: selected"


def test_options():
    options = {"label": "attention", "marked": "right", "max_value": 1.0, "max_width": 6}
    figure = plots.cell_heat_map(TABLE, VALUES, [(0, 0)], **options)
    axes, colours = figure.axes
    assert axes.get_xlabel() == "framed: right"
    assert mesh(axes).get_clim() == (0, 1)
    assert colours.get_ylabel() == "attention"
    assert axes.texts[-1].get_text() == "costs…\n0.04"


def test_long_tables_are_drawn_without_words():
    table = Table.from_rows(["a", "b"], [["x", "y"]] * 500)
    values = np.linspace(0, 1, 1000).reshape(500, 2)
    figure = plots.cell_heat_map(table, values, [(499, 1)])
    assert drawn(figure)
    assert np.allclose(mesh(figure.axes[0]).get_array(), values)
    assert not figure.axes[0].texts
    assert figure.get_figheight() <= 16


def test_no_probability_anywhere():
    figure = plots.cell_heat_map(TABLE, np.zeros((3, 2)))
    assert drawn(figure)
    assert mesh(figure.axes[0]).get_clim() == (0, 1)


@pytest.mark.parametrize(
    ("table", "values", "marked", "message"),
    [
        (TABLE, VALUES.T, (), r"values of shape \(2, 3\) for a table of shape \(3, 2\)"),
        (TABLE, VALUES - 0.5, (), "not below 0"),
        (TABLE, VALUES * np.nan, (), "finite"),
        (TABLE, VALUES, [(3, 0)], r"marked cell \(3, 0\) is not in"),
        (TABLE, VALUES, [(0, -1)], r"marked cell \(0, -1\) is not in"),
        (Table.from_rows(["a"], []), np.zeros((0, 1)), (), "without rows"),
    ],
)
def test_what_cannot_be_plotted(table, values, marked, message):
    with pytest.raises(InputError, match=message):
        plots.cell_heat_map(table, values, marked)
