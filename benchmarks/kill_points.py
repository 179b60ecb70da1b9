"""Kills each mode, runs it again, and compares the results.

    python benchmarks/kill_points.py
    python benchmarks/kill_points.py --random 100

A mode gets SIGKILL at each of its changes to files: a rename, a removal, a new folder, a copy, or
the begin or end of a checkpoint's writing. With `--random` it gets SIGKILL at so many random times
instead. Then the same command runs to its end. Its files must be those of a run that was not
killed: records, weights, predictions, exports. Files that stood there before must be whole after
the kill. Prints a table and writes JSON.

The processes are forks of this one, which has imported TensorFlow, but has not used it.
"""

import argparse
import hashlib
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

CONFIG = "configs/quickstart.yaml"
SMALLER = """
task:
  generation: {num_train_tables: 6, num_dev_tables: 3, num_test_tables: 2}
  conversion: {max_seq_length: 128}
  train_data: {global_batch_size: 4, buckets: [], curriculum_steps: 0}
  validation_data: {buckets: []}
  model: {encoder: {hidden_size: 16, num_hidden_layers: 1, num_attention_heads: 2}}
trainer:
  train_steps: 3
  steps_per_loop: 1
  summary_interval: 1
  checkpoint_interval: 1
  optimizer_config: {learning_rate: {type: constant, constant: {learning_rate: 0.01}}}
"""
MODES = ("create_data", "train", "predict", "export", "analyze")
REPLACING = ("predict", "export", "analyze")
"""Modes that find their outputs of an earlier run, which must stay whole."""

VARYING = ("events.out", ".lock", "checkpoint", "fingerprint.pb")
"""How names of files begin that differ from run to run. The state file `checkpoint` has times, a
SavedModel's fingerprint a random number."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--every", type=int, default=1, help="only every n-th change")
    parser.add_argument("--random", type=int, help="number of kills at random times instead")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random times")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    return parser.parse_args()


class Killer:
    """Counts the changes to the files of a folder, and kills this process at one of them."""

    def __init__(self, folder: str, at: int):
        self._folder, self._left = folder, at

    def install(self) -> None:
        """Replaces the functions that change files."""
        import tensorflow as tf

        gfile = tf.io.gfile
        places = [(os, name) for name in ("rename", "replace", "mkdir", "rmdir", "remove")]
        places += [(shutil, "rmtree"), (shutil, "copyfile")]
        places += [(gfile, name) for name in ("rename", "remove", "rmtree", "copy", "makedirs")]
        for owner, name in places:
            setattr(owner, name, self._counted(getattr(owner, name)))
        manager = tf.train.CheckpointManager
        manager.save = self._counted(manager.save, always=True)

    def _counted(self, function, always: bool = False):
        def counted(*args, **options):
            concerned = always or any(
                isinstance(each, (str, os.PathLike)) and os.fspath(each).startswith(self._folder)
                for each in args
            )
            if concerned:
                self._count()
            result = function(*args, **options)
            if always:
                self._count()
            return result

        return counted

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def run(arguments: list[str], prepare=None, seconds: float | None = None, said=os.devnull) -> int:
    """Runs the command line in a fork.

    Args:
        arguments: its arguments.
        prepare: function that the fork calls first.
        seconds: time after which the fork gets SIGKILL.
        said: file for what it writes to the standard error.

    Returns:
        its exit code, or minus the number of a signal.
    """
    child = os.fork()
    if child == 0:
        _run_here(arguments, prepare, said)
    timer = threading.Timer(seconds or 0, os.kill, (child, signal.SIGKILL))
    if seconds is not None:
        timer.start()
    # The timer must not kill another process, so the child stays a zombie until it has ended.
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    timer.cancel()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run_here(arguments, prepare, said) -> None:
    """Runs the command line and ends this process."""
    code = 1
    try:
        for descriptor, path in ((1, os.devnull), (2, said)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
        from mate_tf.cli import main

        if prepare is not None:
            prepare()
        try:
            main.run(["mate-tf", *arguments])
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def contents(folder: pathlib.Path) -> dict[str, str]:
    """Returns relative path -> SHA-256 of all finished files that are the same in every run."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.name.startswith(VARYING)
        and "/." not in f"/{path.relative_to(folder)}"
    }


def commands(folder: pathlib.Path) -> dict[str, list[str]]:
    """Returns mode -> arguments of the command line, in the order in which they are run."""
    smaller = folder.parent / "smaller.yaml"
    smaller.write_text(SMALLER, encoding="utf-8")
    common = [f"--config_file={CONFIG}", f"--params_override={smaller}"]
    common += [f"--output_dir={folder}", "--num_processes=1"]
    return {mode: [f"--mode={mode}", *common] for mode in MODES}


def stages(modes, folder: pathlib.Path):
    """Runs modes in their order, and those before them.

    Args:
        modes: which of MODES.
        folder: a folder for all files.

    Yields:
        mode; its arguments; the folder of its outputs; a copy of that folder as the mode finds it;
        the seconds that it took; what `contents` gives after it. What the caller leaves in the
        folder is lost.
    """
    work, before, after = folder / "work", folder / "before", folder / "after"
    work.mkdir()
    last = max(map(MODES.index, modes))
    for mode, command in itertools.islice(commands(work).items(), last + 1):
        if mode in REPLACING:
            run(command)
        shutil.copytree(work, before)
        start = time.perf_counter()
        code = run(command)
        seconds = time.perf_counter() - start
        if code:
            raise RuntimeError(f"{mode} ended with {code}")
        shutil.copytree(work, after)
        if mode in modes:
            yield mode, command, work, before, seconds, contents(work)
            replace(work, after)
        shutil.rmtree(before)
        shutil.rmtree(after)


def replace(folder: pathlib.Path, source: pathlib.Path) -> None:
    """Replaces the contents of a folder, which may be a mount point, by a copy of another one."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(source, folder, dirs_exist_ok=True)


def spoilt(work: pathlib.Path, before: pathlib.Path, expected: dict[str, str]) -> list[str]:
    """Returns the earlier files that are neither as they were nor as the mode leaves them."""
    from mate_tf.files.folder import recover

    recover(str(work / "model" / "export"))  # as the next command does first
    left = contents(work)
    return [
        name
        for name, of_old in contents(before).items()
        if left.get(name) not in (of_old, expected.get(name))
    ]


def measure(modes, folder: pathlib.Path, every: int, number: int | None, seed: int):
    """Kills the modes.

    Args:
        modes: which of MODES.
        folder: a folder for all files.
        every: kill at each so many-th change.
        number: number of kills at random times instead, of all modes together.
        seed: seed of these times.

    Yields:
        dicts: mode; kills; refused: reruns that did not end with 0; different: reruns with other
        files; spoilt: kills that left an earlier file neither old nor new.
    """
    times = random.Random(seed)
    for mode, command, work, before, seconds, expected in stages(modes, folder):
        found = {"mode": mode, "kills": 0, "refused": [], "different": [], "spoilt": []}
        at, wanted = 1, number and -(-number // len(modes))
        while wanted is None or found["kills"] < wanted:
            replace(work, before)
            if wanted is None:
                code = run(command, Killer(str(work), at).install)
            else:
                at = times.uniform(0, seconds)
                code = run(command, seconds=at)
            if code == -signal.SIGKILL:
                found["kills"] += 1
                if spoilt(work, before, expected):
                    found["spoilt"].append(at)
                if run(command) != 0:
                    found["refused"].append(at)
                elif contents(work) != expected:
                    found["different"].append(at)
            elif wanted is None:
                break
            at += every
        yield found


def main() -> None:
    options = arguments()
    import mate_tf.analysis.attention.report
    import mate_tf.cli.work  # noqa: F401  imported once, not in each fork

    results = []
    print("mode           kills  refused reruns  different results  spoilt files")
    with tempfile.TemporaryDirectory() as folder:
        chosen = (options.every, options.random, options.seed)
        for found in measure(options.modes, pathlib.Path(folder), *chosen):
            results.append(found)
            counts = [len(found[key]) for key in ("refused", "different", "spoilt")]
            print(
                f"{found['mode']:12}{found['kills']:8}{counts[0]:16}{counts[1]:19}{counts[2]:14}",
                flush=True,
            )
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / ("random_kills.json" if options.random else "kill_points.json")
    path.write_text(json.dumps(results, indent=2), encoding="utf-8")
    print(f"wrote | {path}")


if __name__ == "__main__":
    main()
