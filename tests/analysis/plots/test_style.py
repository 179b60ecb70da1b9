"""One look for all figures."""

import ast
import sys

import matplotlib
import pytest

from mate_tf.analysis.plots import style
from mate_tf.errors import InputError


def test_settings_hold_while_a_figure_is_drawn():
    before = dict(matplotlib.rcParams)

    @style.styled
    def draw(title):
        """Draws."""
        axes = style.new_figure(3, 2, title).add_subplot()
        axes.plot([0, 1])
        return axes

    axes = draw("costs $5 or $6\nper question")
    assert axes.lines[0].get_color() == style.COLOURS[0]
    assert not axes.spines["top"].get_visible()
    assert axes.figure.get_suptitle() == "costs $5 or $6\nper question"
    assert axes.figure.get_figheight() == pytest.approx(2.4)
    assert draw.__doc__ == "Draws."
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'mate-tf\[plots\]'"):
        style.styled(lambda: None)()


def test_bar_in_per_cent():
    figure = style.new_figure(3, 2)
    axes = figure.add_subplot()
    bar = style.percent_bar(figure, axes.imshow([[0.0, 0.5]]), axes, "of the attention")
    figure.canvas.draw()
    assert bar.ax.get_ylabel() == "of the attention"
    assert bar.ax.get_yticklabels()[-1].get_text() == "50 %"


def test_all_figures_have_it(project):
    """Each function that draws begins with style.styled; no module makes figures by itself."""
    paths = [
        path for path in (project / "mate_tf" / "analysis").rglob("*.py") if path.name != "style.py"
    ]
    assert [path.name for path in paths if " Figure(" in path.read_text("utf-8")] == []
    drawing = [
        (path.name, node)
        for path in paths
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and isinstance(node.returns, ast.Constant)
        and node.returns.value == "Figure"
    ]
    assert len(drawing) >= 10
    missing = [
        f"{name}: {node.name}"
        for name, node in drawing
        if "style.styled" not in map(ast.unparse, node.decorator_list)
    ]
    assert missing == []
