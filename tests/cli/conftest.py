"""The command line within this process, and a tiny experiment taken through its modes once."""

import pathlib
import shutil
import subprocess
import sys
import time

import psutil
import pytest
from absl import logging  # noqa: F401  (defines flags, which flagsaver would take away again)
from absl.testing import flagsaver

from mate_tf.cli import main

from .. import graphs
from ..shared_folder import shared_folder

CONFIG = """
task:
  name: SYNTHETIC
  generation: {num_train_tables: 6, num_dev_tables: 3, num_test_tables: 2, max_rows: 8}
  conversion: {max_seq_length: 128, drop_rows_to_fit: true}
  train_data: {global_batch_size: 4}
  validation_data: {global_batch_size: 4}
  model:
    cell_cross_entropy: true
    max_num_rows: 16
    max_num_columns: 8
    encoder:
      hidden_size: 16
      num_hidden_layers: 1
      num_attention_heads: 2
      intermediate_size: 16
      attention: {name: mate_efficient, global_length: 16, radius: 16}
trainer:
  train_steps: 2
  steps_per_loop: 1
  summary_interval: 1
  checkpoint_interval: 1
  validation_interval: 2
"""


def invoke(*arguments) -> int:
    """Runs the command line; returns its exit code. Flags are as before afterwards."""
    with flagsaver.flagsaver(), graphs.freed():
        try:
            main.run(["mate-tf", *map(str, arguments)])
        except SystemExit as stop:
            return stop.code
    return 0


@pytest.fixture(autouse=True)
def flags_as_before():
    """What one test gives as flags, no other one sees."""
    with flagsaver.flagsaver():
        yield


@pytest.fixture(scope="module")
def without_graphs():
    """See `graphs.avoided`: for tests of modes; their tasks' graphs are those of other tests."""
    with graphs.avoided():
        yield


@pytest.fixture(scope="module")
def never_graphs():
    """For many trainings of one kind, also with MATE_TF_THOROUGH=1."""
    with graphs.eager():
        yield


@pytest.fixture(scope="session")
def invoked():
    """`invoke`, for fixtures that are made once."""
    return invoke


@pytest.fixture
def command(capsys):
    """command(*arguments): runs them, which must succeed, and returns what they print."""

    def run(*arguments):
        code = invoke(*arguments)
        output = capsys.readouterr()
        assert code == 0, output.err
        return output.out

    return run


@pytest.fixture
def refused(capsys):
    """refused(*arguments): exit code 2 and one line of the program's own, which is returned."""

    def run(*arguments):
        capsys.readouterr()
        code = invoke(*arguments)
        output = capsys.readouterr()
        assert code == 2, output.err
        assert "Traceback" not in output.err
        (line,) = (line for line in output.err.splitlines() if line.startswith("mate-tf: "))
        return line.removeprefix("mate-tf: ")

    return run


class Started(psutil.Popen):
    """The command line in a process of its own, which is killed at the end of the block."""

    def __exit__(self, *raised):
        if self.poll() is None:
            self.kill()
        return super().__exit__(*raised)

    def wait_until(self, condition):
        """Waits as long as the process lives: how fast it is depends on who else computes."""
        while not condition():
            assert self.poll() is None
            time.sleep(0.05)


@pytest.fixture
def started(project):
    """started(*arguments): a `Started`."""

    def start(*arguments):
        command = [sys.executable, project / "run_task_main.py", *arguments]
        return Started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    return start


@pytest.fixture
def files():
    """files(folder): names of all files below it."""
    return lambda folder: sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    )


@pytest.fixture(scope="session")
def config_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "tiny.yaml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="session")
def created(config_file, tmp_path_factory):
    """Output folder after create_data; not to be changed."""

    def create(folder):
        flags = (f"--config_file={config_file}", f"--output_dir={folder}", "--num_processes=1")
        assert invoke("--mode=create_data", *flags) == 0

    return shared_folder(tmp_path_factory, "cli_created", create)


@pytest.fixture
def arguments(config_file, created, tmp_path):
    """Flags of a training into tmp_path / "model"."""
    return (
        "--mode=train",
        f"--config_file={config_file}",
        f"--output_dir={created}",
        f"--model_dir={tmp_path / 'model'}",
    )


@pytest.fixture(scope="session")
def trained(config_file, created, tmp_path_factory):
    """Flags of the experiment after create_data and train; not to be changed."""

    def flags(folder):
        return (
            f"--config_file={config_file}",
            f"--output_dir={created}",
            f"--model_dir={folder / 'model'}",
        )

    def train(folder):
        assert invoke("--mode=train", *flags(folder)) == 0

    return flags(shared_folder(tmp_path_factory, "cli_trained", train))


@pytest.fixture
def trained_copy(trained, tmp_path):
    """The flags of `trained` with a copy of its model folder."""
    *others, model_dir = trained
    source, copy = pathlib.Path(model_dir.partition("=")[2]), tmp_path / "model"
    shutil.copytree(source, copy)
    return (*others, f"--model_dir={copy}")
