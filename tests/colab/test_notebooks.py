"""Every notebook runs from top to bottom, learns, answers and draws; it is kept without outputs.

None was run on Colab; its way to install is tried with a module in the place of google.colab.
"""

import ast
import importlib.util
import io
import os
import pathlib
import runpy
import shutil
import sys
import types

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from matplotlib.backend_bases import FigureCanvasBase
from nbclient import NotebookClient

from ..event_files import summaries
from . import pictures

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "colab"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

MOST_SECONDS = 900
"""Of one cell: what takes longer, hangs."""

OWN_MODEL = "pointr"
"""The notebook that does not need the model of README.md's first command."""

WATCH = "import pictures\n\nSEEN = pictures.watch()"
SEEN = "import sys\n\nimport mate_tf\n\nsys.prefix, mate_tf.__file__, SEEN"
"""What the test runs before and after all cells."""

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


def test_trains_the_quickstart_once(monkeypatch, tmp_path):
    """As README.md's first command does, in a folder that all notebooks of a checkout share."""
    sources = {
        path.stem: [cell.source for cell in nbformat.read(path, as_version=4).cells]
        for path in NOTEBOOKS
        if path.stem != OWN_MODEL
    }
    train = next(each for each in sources["quickstart"] if "main.run" in each)
    folder = next(line for line in train.splitlines() if line.startswith("OUT ="))
    for name, cells in sources.items():
        assert folder in "\n".join(cells).splitlines(), name
    commands = []
    names = {"pathlib": pathlib, "main": types.SimpleNamespace(run=commands.append)}
    (tmp_path / "colab").mkdir()
    monkeypatch.chdir(tmp_path / "colab")
    exec(train, names)
    (tmp_path / "setup.py").touch()
    exec(train, names)
    (tmp_path / "out" / "quickstart" / "model" / "export").mkdir(parents=True)
    exec(train, names)
    expected = ["mate-tf", "--config_file=quickstart.yaml"]
    assert commands == [
        [*expected, "--output_dir=out/quickstart"],
        [*expected, "--output_dir=../out/quickstart"],
    ]


@pytest.mark.parametrize("value", [0.0, 0.5, np.nan])
def test_blank_pictures_are_seen(value, monkeypatch):
    """Whatever shows one value, with title, frame, colour bar and a marked cell."""
    monkeypatch.setattr(FigureCanvasBase, "print_figure", FigureCanvasBase.print_figure)
    seen = pictures.watch()
    for varies in (False, True):
        values = np.full([4, 4], value)
        values[0, :2] = [1.0, 0.2] if varies else value
        figure, (image, mesh, line, bars) = plt.subplots(1, 4)
        figure.colorbar(image.imshow(values, vmin=0, vmax=1), ax=image)
        mesh.pcolormesh(values)
        mesh.add_patch(plt.Rectangle((0, 0), 1, 1, fill=False))
        line.plot(np.nan_to_num(values).ravel(), label="a line")
        line.legend()
        bars.bar(range(4), np.nan_to_num(values[0]))
        bars.axhline(0.3)
        figure.savefig(io.BytesIO())
        plt.close(figure)
    plt.figure().savefig(io.BytesIO())
    plt.close()
    assert seen == [[f"panel {i}" for i in range(4)], [], ["no panel"]]


def test_answers_are_read():
    frame = pd.DataFrame({"question": ["a & b?", "c?"], "answer": ["<1>", "2"]})
    assert pictures.answers(frame.to_html()) == []
    frame["expected"] = ["<1>", "3"]
    assert pictures.answers(frame._repr_html_()) == [("<1>", "<1>"), ("2", "3")]


@pytest.mark.slow
@every_notebook
def test_runs(path, project, monkeypatch, tmp_path, request):
    """As Jupyter runs it: in its own folder, by this environment's Python."""
    trainings = set()
    if path.stem != OWN_MODEL:
        trainings.add(request.getfixturevalue("quickstart_model") / "train")
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    python_path = os.pathsep.join(map(str, (project, pathlib.Path(__file__).parent)))
    monkeypatch.setenv("PYTHONPATH", python_path, prepend=os.pathsep)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    for place, code in ((0, WATCH), (len(notebook.cells) + 1, SEEN)):
        notebook.cells.insert(place, nbformat.v4.new_code_cell(code))
    folder = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, kernel_name="python3", timeout=MOST_SECONDS, resources=folder)
    client.execute()
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", [])]
    assert not [each for each in outputs if each.output_type == "error"]
    shown = [each.data for each in outputs if "data" in each]
    # Long values are broken into lines.
    prefix, module, seen = ast.literal_eval(shown.pop()["text/plain"])
    assert (prefix, module) == (sys.prefix, str(project / "mate_tf" / "__init__.py"))
    assert seen
    assert len(seen) == len([each for each in shown if "image/png" in each])
    assert [(number, panels) for number, panels in enumerate(seen) if panels] == []
    tables = [each["text/html"] for each in shown if "text/html" in each]
    answered = [pair for table in tables for pair in pictures.answers(table)]
    assert answered
    # WikiTableQuestions' tables are read in small letters.
    assert [pair for pair in answered if pair[0].lower() != pair[1].lower()] == []
    trainings |= {events.parent for events in tmp_path.rglob("train/events.out.tfevents.*")}
    assert trainings
    for training in trainings:
        rates = [rate for _, rate in summaries(training)["learning_rate"]]
        assert min(rates[:-1] or rates) > 0, training  # that of the last step may be 0
