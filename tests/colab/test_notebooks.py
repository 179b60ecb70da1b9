"""Every notebook runs from top to bottom, draws something, and is kept without what it printed."""

import ast
import os
import pathlib
import sys

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "colab"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

MOST_SECONDS = 900
"""Of one cell: what takes longer, hangs."""

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_the_readme_lists_them_all(project):
    assert NOTEBOOKS
    readme = (project / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in NOTEBOOKS if f"(colab/{path.name})" not in readme] == []


@every_notebook
def test_is_kept_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    for cell in cells:
        assert not cell.outputs, cell.source
        assert cell.execution_count is None, cell.source
        assert "execution" not in cell.metadata, cell.source
    assert notebook.metadata.kernelspec.name == "python3"


@pytest.mark.slow
@every_notebook
def test_runs(path, project, monkeypatch, tmp_path):
    """As Jupyter runs it: in its own folder, by this environment's Python."""
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.setenv("PYTHONPATH", str(project), prepend=os.pathsep)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    where = "import sys, mate_tf\nsys.prefix, mate_tf.__file__"
    notebook.cells.append(nbformat.v4.new_code_cell(where))
    folder = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, kernel_name="python3", timeout=MOST_SECONDS, resources=folder)
    client.execute()
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", [])]
    assert not [each for each in outputs if each.output_type == "error"]
    assert any("image/png" in each.get("data", {}) for each in outputs)
    expected = sys.prefix, str(project / "mate_tf" / "__init__.py")
    # Long values are broken into lines.
    assert ast.literal_eval(outputs[-1].data["text/plain"]) == expected
