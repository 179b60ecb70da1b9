"""docs/extending.md, done word by word in a copy of the library."""

import os
import re
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(project):
    return (project / "docs" / "extending.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def extended(project, page, tmp_path_factory):
    """A copy of the library with what the page says, and data for its task."""
    folder = tmp_path_factory.mktemp("extended")
    for name in ("mate_tf", "tests", "configs", "docs", "models", "protos", "results"):
        shutil.copytree(project / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (*project.glob("*.py"), *project.glob("*.toml"), *project.glob("*.md")):
        shutil.copy(file, folder)
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        first, code = block.split("\n", 1)
        into = re.fullmatch(r"# (?:in )?((?:mate_tf|tests)/\S+\.py)(?:, (\w+))?", first)
        path, table = folder / into[1], into[2]
        if table:  # a row of it
            text = path.read_text(encoding="utf-8")
            assert text.count(f"\n{table} = {{\n") == 1
            code = text.replace(f"\n{table} = {{\n", f"\n{table} = {{\n{code}")
        else:
            assert not path.exists()
        path.write_text(code, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def blocks(page):
    """The page's commands: the contract test, the data, the task, the library's own tests."""
    return re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def trained(extended, blocks):
    """What the commands about the task print."""
    assert run(blocks[1], extended).returncode == 0
    done = run(blocks[2], extended)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def run(block, folder):
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_the_variant_keeps_the_contract(extended, blocks):
    done = run(blocks[0], extended)
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 9


def test_the_library_accepts_the_new_modules(extended, blocks):
    """Its tests find options without a range, and modules without a test, a docstring, a place."""
    done = run(blocks[3], extended)
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 70


def test_what_is_new_has_the_style_of_the_library(extended):
    for command in ("ruff check .", "ruff format --check ."):
        done = run(command, extended)
        assert done.returncode == 0, done.stdout[-3000:]


def test_the_task_runs_with_the_variant(extended, trained):
    assert "created | dev: 4 examples of 4 questions (100.0%)" in trained
    assert "majority class" in trained
    assert re.search(r"^accuracy +100\.0 % ", trained, re.MULTILINE), trained[-3000:]
    assert re.search(r"^cross-entropy +\S+ nats +0\.6931 nats$", trained, re.MULTILINE)
    model = extended / "out" / "captions" / "model"
    assert list(model.glob("ckpt-200.index"))
    assert "name: nearby" in (model / "params.yaml").read_text()


def test_wrong_data_of_the_task_is_refused(extended, trained, blocks):
    broken = extended / "broken"
    shutil.copytree(extended / "captions", broken)
    (broken / "train.csv").write_text("cities.csv,cities,maybe\n")
    block = blocks[2].replace("--input_dir=captions", f"--input_dir={broken} --mode=create_data")
    done = run(block.replace("out/captions", "out/broken"), extended)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].endswith("row 1: expected table, caption, 0 or 1")
