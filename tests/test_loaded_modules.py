"""What a command imports: answers need no trainer, and no task but their own."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from mate_tf.cli import main
try:
    main.run(["mate-tf", *sys.argv[2:]])
except SystemExit as end:
    assert not end.code, end
print(*(name for name in sys.modules if name.partition(".")[0] == sys.argv[1]), sep="\\n", file=sys.stderr)
"""


def loaded(project, *arguments, package="mate_tf"):
    """Returns the sorted modules of a package that are loaded after a command."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, package, *map(str, arguments)],
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return sorted(line for line in done.stderr.splitlines() if line.startswith(package))
