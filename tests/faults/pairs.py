"""Runs two commands at a time on the same folders, with pauses at their changes to files.

Each has a pid namespace of its own if this process may make them, so that both have the same
process id, as in two containers. One of the two may be refused with one line and exit code 2; the
files must be those of a run that was left alone.
"""

import ctypes
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from . import killing

_NEW_PIDS = 0x20000000  # CLONE_NEWPID


class Pauser(killing.Killer):
    """Pauses at changes to the files of a folder, at random."""

    def __init__(self, folder: str, seed: int):
        super().__init__(folder, 0)
        self._random = random.Random(seed)

    def _count(self) -> None:
        time.sleep(self._random.choice((0, 0, 0.01, 0.1)))


def start(command: list[str], work: pathlib.Path, seed: int, said: str) -> int:
    """Starts a command in a fork; returns the process id of that."""
    child = os.fork()
    if child:
        return child
    ctypes.CDLL(None).unshare(_NEW_PIDS)  # in vain without the right to
    os._exit(killing.run(command, Pauser(str(work), seed).install, said=said))


def pairs(mode: str, other: str, folder: pathlib.Path, number: int) -> dict:
    """Runs pairs of modes. Returns pairs; refused: commands that were; untidy: what was neither
    that nor exit code 0; different: pairs with other files than a run that was left alone."""
    found = {"mode": mode, "other": other, "pairs": 0, "refused": 0, "untidy": [], "different": []}
    for _, command, work, before, seconds, expected in killing.stages([mode], folder):
        commands = [command, killing.commands(work)[other]]
        for pair in range(number):
            killing.replace(work, before)
            said = [str(folder / f"said_{index}") for index in range(2)]
            children = []
            for index, each in enumerate(commands):
                children.append(start(each, work, 2 * pair + index, said[index]))
                time.sleep(random.Random(pair).uniform(0, seconds / 2))
            codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
            found["pairs"] += 1
            for code, path in zip(codes, said, strict=True):
                lines = [line for line in pathlib.Path(path).read_text().splitlines() if line]
                if code == 2 and len(lines) == 1:
                    found["refused"] += 1
                elif code:
                    found["untidy"].append({"pair": pair, "code": code, "lines": lines[-5:]})
            left = killing.contents(work)
            wrong = [name for name, one in expected.items() if left.get(name) != one]
            if wrong and codes != [2, 2]:
                found["different"].append({"pair": pair, "files": wrong[:5], "codes": codes})
    return found


def in_a_process(mode: str, other: str, number: int) -> dict:
    """Runs `pairs` in a new process, which has not used TensorFlow."""
    command = [sys.executable, "-m", "tests.faults.pairs", mode, other, str(number)]
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def main(mode: str, other: str, number: str) -> None:
    """Prints the result as JSON."""
    import mate_tf.analysis.attention.report
    import mate_tf.cli.export
    import mate_tf.cli.scores
    import mate_tf.cli.work  # noqa: F401  imported once, not in each fork

    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(pairs(mode, other, pathlib.Path(folder), int(number))))


if __name__ == "__main__":
    main(*sys.argv[1:])
