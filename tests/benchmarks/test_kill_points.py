"""Kills of a conversion: the same command then writes the same files."""

import json
import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "file", "kills"),
    [("--every=6", "kill_points.json", 3), ("--random=2", "random_kills.json", 2)],
)
def test_create_data(project, tmp_path, option, file, kills):
    """In a process of its own: its forks must not have used TensorFlow."""
    command = [sys.executable, project / "benchmarks" / "kill_points.py", option]
    command += ["--modes=create_data", f"--output={tmp_path}"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=project)
    assert result.returncode == 0, result.stderr[-2000:]
    (found,) = json.loads((tmp_path / file).read_text())
    assert found.pop("mode") == "create_data"
    assert found.pop("kills") >= kills
    assert found == {"refused": [], "different": [], "spoilt": []}
