"""What a command imports: what is not needed for it is not loaded."""

import subprocess
import sys

import pytest

ANSWER = ("ask", "mate_tf/data/synthetic/example.csv", "who has the highest salary?")
TINY = (
    "--params_override=task.generation.num_train_tables=8,task.generation.num_dev_tables=1,"
    "task.generation.num_test_tables=1,trainer.steps_per_loop=1,trainer.summary_interval=1"
)
PROGRAM = """
import sys
from mate_tf.cli import main
try:
    main.run(["mate-tf", *sys.argv[1:]])
except SystemExit as end:
    assert not end.code, end
print(*sys.modules, sep="\\n", file=sys.stderr)
"""


@pytest.fixture
def modules(project):
    """modules(*arguments): all modules that are loaded after a command, in a new process."""

    def run(*arguments):
        command = [sys.executable, "-c", PROGRAM, *arguments]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return sorted(done.stderr.splitlines())

    return run


def of_ours(modules):
    return [name for name in modules if name.partition(".")[0] == "mate_tf"]


def test_an_answer(modules):
    """It needs no trainer, no task but the model's, and nothing that draws or fits."""
    found = modules(*ANSWER)
    ours = of_ours(found)
    assert len(ours) <= 119, f"{len(ours)} modules: {', '.join(ours)}"
    assert not {"mate_tf.training.trainer", "mate_tf.tasks.glue", "mate_tf.analysis"} & set(ours)
    assert not {"keras.src", "matplotlib", "sklearn"} & set(found)


@pytest.mark.slow
def test_a_training_of_two_steps(modules, tmp_path):
    job = ("--config_file=configs/quickstart.yaml", f"--output_dir={tmp_path}", TINY)
    modules("create_data", *job)
    ours = of_ours(modules("train", *job, "--num_train_steps=2", "--train_batch_size=2"))
    assert len(ours) <= 162, f"{len(ours)} modules: {', '.join(ours)}"
    assert "mate_tf.training.estimator" not in ours
