"""The command line as a program: help, exit codes, one-line messages."""

import subprocess
import sys
import time

import pytest


def run(project, *arguments, **kwargs):
    return subprocess.run(
        [sys.executable, project / "run_task_main.py", *arguments],
        capture_output=True,
        text=True,
        cwd=project,
        check=False,
        **kwargs,
    )


def test_help_lists_modes_and_flags_without_tensorflow(project):
    start = time.monotonic()
    result = run(project, "--help")
    seconds = time.monotonic() - start
    assert result.returncode == 0
    for word in ("create_data", "predict_and_evaluate", "--attention", "--radius"):
        assert word in result.stdout
    # TensorFlow's import alone takes longer than this, whatever the machine.
    code = (
        "import sys; sys.argv=['x','--help']; from mate_tf.cli import main\n"
        "try: main.run()\nexcept SystemExit: pass\nassert 'tensorflow' not in sys.modules"
    )
    checked = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True)
    assert checked.returncode == 0, checked.stderr
    assert seconds < 10


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--no_such_flag=1"], ["no_such_flag"]),
        (["--mode=dance"], ["mode", "dance"]),
        (["--radius=minus"], ["radius", "minus"]),
        (["stray"], ["stray"]),
    ],
)
def test_wrong_flags_give_one_line_and_exit_code_2(project, arguments, words):
    result = run(project, *arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    for word in words:
        assert word in result.stderr
