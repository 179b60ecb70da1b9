"""Modes in folders with odd names: they work there, or are refused before anything is written.

pytest -s -m faults tests/faults/test_odd_names.py
"""

import collections
import pathlib
import shutil

import pytest

NAMES = (
    *("a[1]", "lr=[1e-4]", "[!a]", "[", "]", "r*", "**", "what?", "?", "back\\slash"),
    *("{x}", "{a,b}", "a b", " a", "a ", "'", '"', "`a`", "ü", "表", "e\u0301", "\u202ea", "🙂"),
    *("-a", "a=b", "a,b", "a;b", "a&b", "a#b", "a%20b", "$HOME", "a:b", "a@2", "...", "a\tb"),
)
PATTERNS = set("[]*?\\")
MODES = ("create_data", "train", "eval", "predict", "export", "analyze")


class Runs:
    """Runs modes in a folder; keeps how they ended, and descriptions of wrong ends."""

    def __init__(self, invoke, capsys):
        self.ended, self.wrong = collections.Counter(), []
        self._invoke, self._capsys = invoke, capsys

    def run(self, folder: pathlib.Path, *arguments) -> None:
        """A mode that may be refused if the folder's name is a pattern, but then writes nothing."""
        before = sorted(folder.rglob("*"))
        self._capsys.readouterr()
        code = self._invoke(*arguments)
        said = self._capsys.readouterr().err
        lines = [line for line in said.splitlines() if line.startswith("mate-tf: ")]
        self.ended[code] += 1
        refused = code == 2 and len(lines) == 1 and PATTERNS & set(folder.name)
        if "Traceback" in said or not (code == 0 or refused):
            self.wrong.append(f"{folder.name!r}: {arguments[0]}: exit code {code}: {said[-300:]}")
        elif refused and sorted(folder.rglob("*")) != before:
            self.wrong.append(f"{folder.name!r}: {arguments[0]}: is refused, but has written")


@pytest.fixture
def runs(invoked, capsys, never_graphs):
    found = Runs(invoked, capsys)
    yield found
    assert not found.wrong, "\n".join(found.wrong)


def place(name, tmp_path, config_file):
    """A folder of this name with the files that modes read, and one of the name as a pattern."""
    folder = tmp_path / name
    folder.mkdir()
    (tmp_path / "rest").mkdir()  # the pattern r* would find this one
    shutil.copy(config_file, folder / "c.yaml")
    (folder / "t.csv").write_text("name,age\nann,30\nbob,25\n")
    return folder


@pytest.mark.faults
@pytest.mark.parametrize("name", NAMES)
def test_every_mode(runs, name, tmp_path, config_file):
    folder = place(name, tmp_path, config_file)
    for mode in MODES:
        flags = (f"--config_file={folder / 'c.yaml'}", f"--output_dir={folder}")
        runs.run(folder, f"--mode={mode}", *flags, "--num_processes=1")
    table = folder / "t.csv"
    if runs.ended[2] < len(MODES):  # it has an export
        runs.run(folder, "ask", table, "who is 30?", f"--export_dir={folder / 'model' / 'export'}")
    print(f"{name!r}: {runs.ended[0]} modes work, {runs.ended[2]} are refused")


@pytest.mark.parametrize("name", [name for name in NAMES if PATTERNS & set(name)])
def test_patterns_are_refused(runs, name, tmp_path, config_file):
    """Before TensorFlow reads anything; one is enough."""
    folder = place(name, tmp_path, config_file)
    flags = (f"--config_file={folder / 'c.yaml'}", f"--output_dir={folder}")
    for mode in ("create_data", "train"):
        runs.run(folder, f"--mode={mode}", *flags, "--num_processes=1")
    assert runs.ended[2] == 2
    assert not any((tmp_path / "rest").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_read(runs, name, tmp_path, config_file, trained_model):
    folder = place(name, tmp_path, config_file)
    runs.run(folder, "ask", folder / "t.csv", "who?", f"--export_dir={trained_model / 'export'}")
    assert runs.ended == {0: 1}
