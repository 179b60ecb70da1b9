"""Kills each mode at each of its changes to files, runs it again, and compares the results.

    python benchmarks/kill_points.py

A change is a rename, a removal, a new folder, a copy, or the begin or end of a checkpoint's
writing. At each the process gets SIGKILL. Then the same command runs to its end. Its files must be
those of a run that was not killed: records, weights, predictions, exports. A training that goes on
after its first steps draws another order of the examples, so its weights differ. Files that stood
there before must be whole after the kill. Prints a table and writes JSON.

The processes are forks of this one, which has imported TensorFlow, but has not used it.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
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


def run(arguments: list[str], killer: Killer | None = None) -> int:
    """Runs the command line in a fork; returns its exit code, or minus the number of a signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            from mate_tf.cli import main

            if killer is not None:
                killer.install()
            try:
                main.run(["mate-tf", *arguments])
                code = 0
            except SystemExit as stop:
                code = stop.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


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


def measure(modes, every: int, folder: pathlib.Path):
    """Kills the modes at each of their changes.

    Args:
        modes: which of MODES.
        every: only each so many-th change.
        folder: a folder for all files.

    Yields:
        dicts: mode; kills; refused: reruns that did not end with 0; different: reruns with other
        files; spoilt: kills that left an earlier file neither old nor new.
    """
    from mate_tf.files.folder import recover

    work, before = folder / "work", folder / "before"
    work.mkdir()
    for mode, command in commands(work).items():
        if mode in REPLACING:
            run(command)
        shutil.copytree(work, before)
        code = run(command)
        if code:
            raise RuntimeError(f"{mode} ended with {code}")
        expected = contents(work)
        found = {"mode": mode, "kills": 0, "refused": [], "different": [], "spoilt": []}
        old = contents(before)
        at = 1
        while mode in modes:
            shutil.rmtree(work)
            shutil.copytree(before, work)
            if run(command, Killer(str(work), at)) != -signal.SIGKILL:
                break
            found["kills"] += 1
            recover(str(work / "model" / "export"))  # as the next command does first
            left = contents(work)
            if any(
                left.get(name) not in (of_old, expected.get(name)) for name, of_old in old.items()
            ):
                found["spoilt"].append(at)
            if run(command) != 0:
                found["refused"].append(at)
            elif contents(work) != expected:
                found["different"].append(at)
            at += every
        if mode in modes:
            yield found
        shutil.rmtree(before)  # the last run was not killed: its files are those of the next mode


def main() -> None:
    options = arguments()
    import mate_tf.cli.analyze
    import mate_tf.cli.export
    import mate_tf.cli.predict
    import mate_tf.cli.train  # noqa: F401  imported once, not in each fork

    results = []
    print("mode           kills  refused reruns  different results  spoilt files")
    with tempfile.TemporaryDirectory() as folder:
        for found in measure(options.modes, options.every, pathlib.Path(folder)):
            results.append(found)
            counts = [len(found[key]) for key in ("refused", "different", "spoilt")]
            print(
                f"{found['mode']:12}{found['kills']:8}{counts[0]:16}{counts[1]:19}{counts[2]:14}",
                flush=True,
            )
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "kill_points.json"
    path.write_text(json.dumps(results, indent=2), encoding="utf-8")
    print(f"wrote | {path}")


if __name__ == "__main__":
    main()
