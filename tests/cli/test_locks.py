"""One mode at a time writes to a folder, and none reads what another one writes."""

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("without_graphs")

HELD = """
import sys
from mate_tf.files import lock
with getattr(lock, sys.argv[1])(sys.argv[2], "another job"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(project):
    """held(kind, folder): another process that holds a lock of `mate_tf.files.lock`."""
    processes = []

    def hold(kind, folder):
        command = [sys.executable, "-c", HELD, kind, folder]
        environment = os.environ | {"PYTHONPATH": str(project)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = subprocess.Popen(command, text=True, env=environment, **pipes)
        processes.append(process)
        assert process.stdout.readline() == "held\n"

    yield hold
    for process in processes:
        process.communicate()


@pytest.mark.parametrize("mode", ["predict", "predict_and_evaluate", "analyze", "train"])
def test_a_model_folder(held, trained_copy, refused, tmp_path, mode):
    folder = tmp_path / "model"
    before = sorted(os.listdir(folder))
    held("locked", str(folder))
    line = refused(f"--mode={mode}", *trained_copy)
    assert line.startswith(f"{folder}: another job, process ")
    assert line.endswith(" writes to this folder; wait until it ends, or give another one")
    assert sorted(os.listdir(folder)) == sorted([*before, ".lock"])


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("locked", "create_data"), ("reading", "create_data"), ("locked", "predict")],
)
def test_data(held, trained_copy, created, refused, tmp_path, kind, mode):
    """While another process makes them, or a training reads them."""
    folder = shutil.copytree(created, tmp_path / "data") / "tf_examples"
    held(kind, str(folder))
    line = refused(f"--mode={mode}", *trained_copy, f"--output_dir={folder.parent}")
    assert line.startswith(f"{folder}: another job, process ")


def test_an_export(held, trained_copy, refused, tmp_path):
    folder = tmp_path / "export"
    held("locked_beside", str(folder))
    line = refused("--mode=export", *trained_copy, f"--export_dir={folder}")
    assert line.startswith(f"{folder}: another job, process ")
    assert not folder.exists()
