"""A conversion on a full disk: one line, and the same command completes when there is room."""

import json
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_create_data(project, tmp_path):
    """In a process of its own: its forks must not have used TensorFlow."""
    command = [sys.executable, project / "benchmarks" / "disk_full.py", "--limit=file"]
    command += ["--modes=create_data", "--parts=3", f"--output={tmp_path}"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=project)
    assert result.returncode == 0, result.stderr[-2000:]
    (found,) = json.loads((tmp_path / "full_file.json").read_text())
    messages = found.pop("messages")
    assert len(messages) + found.pop("completed") == found.pop("runs") == 3
    assert messages
    assert all("File too large" in line or "too large" in line for line in messages), messages
    assert found.pop("mode") == "create_data"
    assert found == {"untidy": [], "refused": [], "different": [], "spoilt": []}
