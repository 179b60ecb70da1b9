"""Runs each mode of the command line to a kill or a full disk, runs it again, and compares files.

A mode gets SIGKILL at each of its changes to files: a rename, a removal, a new folder, a copy, or
the begin or end of a checkpoint's writing; or at random times. Or it has too little room: a file
system of its own in memory (needs the right to mount), or a limit of the size of files. Then the
same command runs to its end. Its files must be those of a run that was left alone: records,
weights, predictions, exports. Files that stood there before must be whole.

The runs are forks of a process that has imported TensorFlow, but has not used it.
"""

import hashlib
import itertools
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

# Also below tests, which show errors: TensorFlow counts a missing GPU as one.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

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

ROOM = 2**30  # bytes
PAGE = 4096  # bytes; files take whole pages


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
    """Runs the command line in a fork that calls `prepare` first; kills it after `seconds`. Returns
    its exit code, or minus the number of a signal. Its standard error goes to `said`."""
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
    """Runs modes in their order, and those before them. Yields mode; its arguments; the folder of
    its outputs, whose contents are lost later; a copy of that folder as the mode finds it; the
    seconds that it took; what `contents` gives after it."""
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


def kills(modes, folder: pathlib.Path, every: int = 1, number: int = 0, seed: int = 0):
    """Kills the modes at each `every`-th change to files, or `number` times at random times. Yields
    dicts: mode; kills; refused: reruns that did not end with 0; different: reruns with other files;
    spoilt: kills that left an earlier file neither old nor new."""
    times = random.Random(seed)
    for mode, command, work, before, seconds, expected in stages(modes, folder):
        found = {"mode": mode, "kills": 0, "refused": [], "different": [], "spoilt": []}
        at = 1
        while not number or found["kills"] < number:
            replace(work, before)
            if number:
                at = times.uniform(0, seconds)
                code = run(command, seconds=at)
            else:
                code = run(command, Killer(str(work), at).install)
            if code == -signal.SIGKILL:
                found["kills"] += 1
                rerun(command, work, before, expected, at, found)
            elif not number:
                break
            at += every
        yield found


def rerun(command, work, before, expected, at, found: dict) -> None:
    """Runs a mode again, and notes what is wrong before and after that."""
    if spoilt(work, before, expected):
        found["spoilt"].append(at)
    if found.get("limit") == "disk":
        Disk(work).resize(ROOM)
    if run(command) != 0:
        found["refused"].append(at)
    elif contents(work) != expected:
        found["different"].append(at)


class Disk:
    """File system of limited size in memory, mounted on an empty folder."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder

    def __enter__(self):
        self._mount("-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs")
        return self

    def __exit__(self, *error):
        subprocess.run(["umount", self._folder], check=True)

    def used(self) -> int:
        """Returns the bytes that are in use."""
        usage = os.statvfs(self._folder)
        return (usage.f_blocks - usage.f_bfree) * usage.f_frsize

    def resize(self, size: int) -> None:
        """Sets the size to so many bytes."""
        self._mount("-o", f"remount,size={size}")

    def _mount(self, *options) -> None:
        subprocess.run(["mount", *options, self._folder], check=True)


def size_of_newer(work: pathlib.Path, before: pathlib.Path) -> int:
    """Returns the size of the files of `work` that are newer than those of `before`, in bytes."""
    files = [path.stat() for path in work.rglob("*") if path.is_file()]
    newest = max((path.stat().st_mtime for path in before.rglob("*") if path.is_file()), default=0)
    return sum(-(-stat.st_size // PAGE) * PAGE for stat in files if stat.st_mtime > newest)


def limits_of_a_disk(work, before, parts: int):
    """Fills up the disk of the folder `work`, with room for a part of what the mode wrote there.
    Yields the room, and the function for the fork, which is None here."""
    with tempfile.TemporaryDirectory() as outside:
        after = pathlib.Path(outside) / "after"
        shutil.copytree(work, after)
        with Disk(work) as disk:
            replace(work, after)
            written = size_of_newer(work, before)
            for part in range(parts):
                replace(work, before)
                room = max(written * part // parts, PAGE)
                disk.resize(disk.used() + room)
                yield room, None
                disk.resize(ROOM)


def limits_of_files(work, before, parts: int):
    """Limits files to parts of the largest one; yields limit and function for the fork."""
    largest = max(path.stat().st_size for path in work.rglob("*") if path.is_file())
    for part in range(1, parts + 1):  # not 0: AutoGraph writes small files of its own
        limit = largest * part // (parts + 1)
        replace(work, before)
        yield limit, lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


LIMITS = {"disk": limits_of_a_disk, "file": limits_of_files}


def full(modes, folder: pathlib.Path, limit: str, parts: int = 10):
    """Runs the modes with too little room, with so many limits (of a key of LIMITS) each. Yields
    dicts: mode; limit; runs; completed: runs for which the room was enough; messages: the lines of
    the others; untidy: what was not one line and exit code 2; refused, different, spoilt: as
    `kills` has them."""
    said = folder / "said"
    for mode, command, work, before, _, expected in stages(modes, folder):
        names = ("messages", "untidy", "refused", "different", "spoilt")
        found = {"mode": mode, "limit": limit, "runs": 0, "completed": 0}
        found |= {name: [] for name in names}
        for size, prepare in LIMITS[limit](work, before, parts):
            found["runs"] += 1
            code = run(command, prepare, said=said)
            lines = [line for line in said.read_text().splitlines() if line.strip()]
            if code == 0:
                found["completed"] += 1
            elif code == 2 and len(lines) == 1:
                found["messages"].append(lines[0])
            else:
                found["untidy"].append({"limit": size, "code": code, "lines": lines[-30:]})
            rerun(command, work, before, expected, size, found)
        yield found


def in_a_process(what: str, mode: str, **options) -> dict:
    """Runs `kills` or `full` of one mode in a new process, which has not used TensorFlow."""
    command = [sys.executable, __file__, what, mode, json.dumps(options)]
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def main(what: str, mode: str, options: str) -> None:
    """Prints the result as JSON."""
    import mate_tf.analysis.attention.report
    import mate_tf.cli.export
    import mate_tf.cli.scores
    import mate_tf.cli.work  # noqa: F401  imported once, not in each fork

    with tempfile.TemporaryDirectory() as folder:
        measure = {"kills": kills, "full": full}[what]
        (found,) = measure([mode], pathlib.Path(folder), **json.loads(options))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
