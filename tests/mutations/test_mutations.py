"""The tests notice bugs: each of mutations.yaml is put into a copy of mate_tf, and tests are run.

    pytest -s -m faults tests/mutations                 # prints the first test that fails
    pytest -s -m faults tests/mutations -k padding

Takes about half a minute a bug on 2 cores, because each starts a process of its own.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest
import yaml

PROJECT = pathlib.Path(__file__).resolve().parents[2]
COPIED = ("mate_tf", "tests", "configs", "protos", "benchmarks", "docs", "colab", "results")
MUTATIONS = yaml.safe_load(pathlib.Path(__file__).with_name("mutations.yaml").read_text("utf-8"))


def file_with(folder: pathlib.Path, old: str) -> pathlib.Path:
    """The file of mate_tf that has a text, once."""
    paths = [path for path in folder.glob("mate_tf/**/*.py") if old in path.read_text("utf-8")]
    assert len(paths) == 1, f"in {len(paths)} files instead of one: {old}"
    assert paths[0].read_text("utf-8").count(old) == 1, f"occurs more than once: {old}"
    return paths[0]


def first_failure(mutation: dict) -> str:
    """Name of the first test that fails with the bug; empty if none does."""
    old, new = mutation["old"], mutation["new"]
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in COPIED:
            shutil.copytree(PROJECT / name, copy / name)
        for path in PROJECT.iterdir():
            if path.is_file():
                shutil.copy(path, copy)
        path = file_with(copy, old)
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
        shared = os.environ.get("MATE_TF_SHARED", str(PROJECT.parent / "shared"))
        options = ("-x", "-q", "-p", "no:cacheprovider")
        result = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *mutation["tests"]],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy), "MATE_TF_SHARED": shared},
            capture_output=True,
            text=True,
        )
    assert result.returncode in (0, 1), (result.stdout + result.stderr).strip()
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", result.stdout, re.MULTILINE)
    return found[1] if found else ""


def test_each_can_be_put_in():
    assert len(MUTATIONS) >= 15
    for mutation in MUTATIONS:
        assert file_with(PROJECT, mutation["old"]).is_file()
        assert mutation["new"] != mutation["old"]
        assert all((PROJECT / path).is_file() for path in mutation["tests"]), mutation["tests"]


@pytest.mark.parametrize(
    ("new", "caught_by"),
    [("count >= 1)", "test_most_frequent_values_of_each_column"), ("1 < count)", "")],
)
def test_names_the_test_that_fails(new, caught_by):
    """The second of these is not a bug."""
    mutation = {"old": "count > 1)", "new": new, "tests": ["tests/tables/test_histogram.py"]}
    assert first_failure(mutation).rpartition("::")[2] == caught_by


@pytest.mark.faults
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: f"{each['area']}: {each['bug']}")
def test_is_noticed(mutation):
    found = first_failure(mutation)
    print(f"{mutation['area']}: {mutation['bug']} | {found or 'NOTHING'}")
    assert found
