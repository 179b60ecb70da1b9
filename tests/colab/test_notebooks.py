"""Every notebook runs from top to bottom, draws something, and is kept without outputs.

None was run on Colab; its way to install is tried with a module in the place of google.colab.
"""

import ast
import importlib.util
import os
import pathlib
import runpy
import shutil
import sys
import types

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
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


def installed(path, folder, monkeypatch, uploaded=()):
    """What the install cell has pip install, in a folder, where mate-tf is not installed."""
    cells = nbformat.read(path, as_version=4).cells
    cell = next(each for each in cells if each.cell_type == "code")
    asked = []
    shell = types.SimpleNamespace(run_line_magic=lambda *magic: asked.append(magic))
    files = types.SimpleNamespace(upload=lambda: dict.fromkeys(uploaded, b""))
    monkeypatch.setitem(sys.modules, "google.colab", types.SimpleNamespace(files=files))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")  # restored afterwards; the cell sets it
    code = TransformerManager().transform_cell(cell.source)
    names = {"get_ipython": lambda: shell}
    exec(code, names)
    ((magic, arguments),) = asked
    assert magic == "pip"
    return arguments.replace("{SOURCE}", names["SOURCE"])


@every_notebook
def test_installs(path, monkeypatch, tmp_path):
    monkeypatch.delenv("MATE_TF_SOURCE", raising=False)
    assert installed(path, path.parent, monkeypatch) == 'install --quiet "..[colab]"'
    wheel = "mate_tf-0.1.0-py3-none-any.whl"
    assert installed(path, tmp_path, monkeypatch, [wheel]) == f'install --quiet "{wheel}[colab]"'
    monkeypatch.setenv("MATE_TF_SOURCE", "/a/folder")
    assert installed(path, tmp_path, monkeypatch) == 'install --quiet "/a/folder[colab]"'


def test_badges(tmp_path, monkeypatch):
    """Each leads to its notebook; a second call replaces the first one's, and nothing else."""
    for path in (*NOTEBOOKS, FOLDER / "badges.py"):
        shutil.copy(path, tmp_path)
    write = runpy.run_path(str(tmp_path / "badges.py"))["main"]
    for arguments in (["someone/else", "old"], ["owner/name"]):
        write(arguments)
    for path in NOTEBOOKS:
        badged = nbformat.read(tmp_path / path.name, as_version=4)
        nbformat.validate(badged)
        badge, _, rest = badged.cells[0].source.partition("\n\n")
        assert badge.endswith(f"/github/owner/name/blob/main/colab/{path.name})")
        cells = nbformat.read(path, as_version=4).cells
        assert [rest, *badged.cells[1:]] == [cells[0].source, *cells[1:]]
    with pytest.raises(SystemExit, match="OWNER/NAME"):
        write([])


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
