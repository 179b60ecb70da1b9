"""Standard output and error that are closed, full or without a reader: no stack trace."""

import os
import subprocess
import sys

import pytest

_COMMAND = f"{sys.executable} -c 'from mate_tf.cli import main; main.run()'"


def run(arguments):
    return subprocess.run(
        f"{_COMMAND} {arguments}", shell=True, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("--help >/dev/full", 2, "No space left on device"),
        ("--help >&-", 0, ""),
        ("--help 2>&-", 0, ""),
        ("--help <&- >&- 2>&-", 0, ""),
        ("--mode=x 2>/dev/full", 2, ""),
        ("--mode=x 2>&-", 2, ""),
        ("--mode=x >&- 2>&-", 2, ""),
        ("--mode=x >/dev/full 2>/dev/full", 2, ""),
        ("--mode=x >/dev/full", 2, "-c: flag --mode=x"),
    ],
)
def test_streams(arguments, code, said):
    found = run(arguments)
    assert found.returncode == code
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr
    assert said in found.stderr
    assert len(found.stderr.splitlines()) <= 1


def test_what_is_still_held_at_the_end():
    """Less than a buffer: the error comes when the stream is flushed."""
    code = "from mate_tf.cli import main, modes; modes.MODES['glue'] = lambda _: print('done')"
    found = subprocess.run(
        f'env -u PYTHONUNBUFFERED {sys.executable} -c "{code}; main.run()" glue >/dev/full',
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert found.returncode == 2
    (line,) = found.stderr.splitlines()
    assert line.endswith("standard output: No space left on device")


def test_a_file_does_not_take_the_number_of_a_closed_stream(tmp_path):
    code = (
        "import sys; from mate_tf.cli import streams; streams.open_closed(); "
        f"file = open('{tmp_path / 'x'}', 'w'); assert file.fileno() > 2; print(chr(0xd800)); "
        "print(1, file=sys.stderr)"
    )
    found = subprocess.run(f'{sys.executable} -c "{code}" >&- 2>&-', shell=True, timeout=60)
    assert found.returncode == 0
    assert os.path.getsize(tmp_path / "x") == 0
