"""Every notebook runs from top to bottom, learns and draws something, and is kept without outputs.

None was run on Colab; its way to install is tried with a module in the place of google.colab.
"""

import ast
import base64
import importlib.util
import io
import os
import pathlib
import runpy
import shutil
import sys
import types

import nbformat
import numpy as np
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from matplotlib.image import imread
from nbclient import NotebookClient

from ..event_files import summaries

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "colab"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

MOST_SECONDS = 900
"""Of one cell: what takes longer, hangs."""

LEAST_DEVIATION = 0.02
"""Standard deviation of the grey levels of a picture, 0 to 1. A picture of one colour has 0."""

CHECKS = {
    # Axes have frames and titles, so that pictures tell little of what is drawn in them.
    "masks_and_trees": """
assert importance.std() > 0
assert 0.01 < mask_pruning.sparsity(found) < 0.99
assert len({leaf for leaf in of_keys.flat}) > 1
""",
}
"""Notebook -> a last cell that looks at what it has shown."""

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


def deviation(png: str) -> float:
    """Standard deviation of the grey levels of a picture in base64."""
    picture = imread(io.BytesIO(base64.b64decode(png)), format="png")
    return float(np.std(picture[..., :3].mean(-1)))


@pytest.mark.slow
@every_notebook
def test_runs(path, project, monkeypatch, tmp_path):
    """As Jupyter runs it: in its own folder, by this environment's Python."""
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.setenv("PYTHONPATH", str(project), prepend=os.pathsep)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    where = "import sys, mate_tf\nsys.prefix, mate_tf.__file__"
    for code in (CHECKS.get(path.stem, ""), where):
        notebook.cells.append(nbformat.v4.new_code_cell(code))
    folder = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, kernel_name="python3", timeout=MOST_SECONDS, resources=folder)
    client.execute()
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", [])]
    assert not [each for each in outputs if each.output_type == "error"]
    pictures = [each.data["image/png"] for each in outputs if "image/png" in each.get("data", {})]
    assert pictures
    assert min(map(deviation, pictures)) > LEAST_DEVIATION
    # Every training has a learning rate above 0, but for its last step.
    trainings = {events.parent for events in tmp_path.rglob("train/events.out.tfevents.*")}
    assert trainings
    for training in trainings:
        rates = [rate for _, rate in summaries(training)["learning_rate"]]
        assert min(rates[:-1] or rates) > 0, training
    expected = sys.prefix, str(project / "mate_tf" / "__init__.py")
    # Long values are broken into lines.
    assert ast.literal_eval(outputs[-1].data["text/plain"]) == expected
