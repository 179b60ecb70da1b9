"""The command line as a program: help, exit codes, one-line messages."""

import os
import subprocess
import sys


def run(project, *arguments, **kwargs):
    return subprocess.run(
        [sys.executable, project / "run_task_main.py", *arguments],
        capture_output=True,
        text=True,
        cwd=project,
        check=False,
        **kwargs,
    )


def test_help_lists_modes_and_flags_without_tensorflow(project, run_python):
    result = run(project, "--help")
    assert result.returncode == 0
    for word in ("create_data", "predict_and_evaluate", "--attention", "--radius"):
        assert word in result.stdout
    code = (
        "import sys; sys.argv=['x','--help']; from mate_tf.cli import main\n"
        "try: main.run()\nexcept SystemExit: pass\nassert 'tensorflow' not in sys.modules"
    )
    run_python(code)


def test_wrong_flags_give_one_line_and_exit_code_2(project):
    """All that is printed; tests/cli goes through what else can be wrong."""
    result = run(project, "--no_such_flag=1")
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("run_task_main.py: ")
    assert "no_such_flag" in line
    assert result.stdout == ""


def test_reader_that_stops_early(project):
    """`... --help | head -1` ends without complaint."""
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [sys.executable, "run_task_main.py", "--help"],
        cwd=project,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, "")
