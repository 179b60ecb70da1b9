"""Runs each mode on a full disk, makes room, runs it again, and compares the results.

    python benchmarks/disk_full.py                # needs the right to mount
    python benchmarks/disk_full.py --limit file

With `--limit disk` the folder of the outputs is a file system of its own in memory, with room for a
part of what the mode writes: nothing, then a tenth of it, and so on. With `--limit file` no file
may become larger than some size. A mode must end with one line and exit code 2. Files that stood
there before must be whole. With room enough the same command must end well, with the files of a run
that was never short of room. Prints a table and writes JSON.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import kill_points

ROOM = 2**30  # bytes
PAGE = 4096  # bytes; files take whole pages


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", nargs="+", choices=kill_points.MODES, default=kill_points.MODES)
    parser.add_argument("--limit", choices=("disk", "file"), default="disk")
    parser.add_argument("--parts", type=int, default=10, help="limits of each mode")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    return parser.parse_args()


class Disk:
    """File system of limited size in memory, mounted on a folder.

    Args:
        folder: the folder, an empty one.
    """

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

    Yields:
        the room, and the function for the fork, which is None here.
    """
    with tempfile.TemporaryDirectory() as outside:
        after = pathlib.Path(outside) / "after"
        shutil.copytree(work, after)
        with Disk(work) as disk:
            kill_points.replace(work, after)
            written = size_of_newer(work, before)
            for part in range(parts):
                kill_points.replace(work, before)
                room = max(written * part // parts, PAGE)
                disk.resize(disk.used() + room)
                yield room, None
                disk.resize(ROOM)


def limits_of_files(work, before, parts: int):
    """Limits the size of files to parts of the largest one.

    Yields:
        the limit, and the function for the fork, which sets it.
    """
    largest = max(path.stat().st_size for path in work.rglob("*") if path.is_file())
    for part in range(1, parts + 1):  # not 0: AutoGraph writes small files of its own
        limit = largest * part // (parts + 1)
        kill_points.replace(work, before)
        yield limit, lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def measure(modes, folder: pathlib.Path, limits, parts: int):
    """Runs the modes with too little room.

    Args:
        modes: which of `kill_points.MODES`.
        folder: a folder for all files.
        limits: `limits_of_a_disk` or `limits_of_files`.
        parts: number of limits of each mode.

    Yields:
        dicts: mode; runs; completed: runs for which the room was enough; messages: the lines of the
        others; untidy: what was not one line and exit code 2; spoilt, refused, different: as
        `kill_points.measure` has them.
    """
    said = folder / "said"
    for mode, command, work, before, _, expected in kill_points.stages(modes, folder):
        names = ("messages", "untidy", "refused", "different", "spoilt")
        found = {"mode": mode, "runs": 0, "completed": 0, **{name: [] for name in names}}
        for limit, prepare in limits(work, before, parts):
            found["runs"] += 1
            code = kill_points.run(command, prepare, said=said)
            lines = [line for line in said.read_text().splitlines() if line.strip()]
            if code == 0:
                found["completed"] += 1
            elif code == 2 and len(lines) == 1:
                found["messages"].append(lines[0])
            else:
                found["untidy"].append({"limit": limit, "code": code, "lines": lines[-30:]})
            if kill_points.spoilt(work, before, expected):
                found["spoilt"].append(limit)
            if prepare is None:
                subprocess.run(["mount", "-o", f"remount,size={ROOM}", work], check=True)
            if kill_points.run(command) != 0:
                found["refused"].append(limit)
            elif kill_points.contents(work) != expected:
                found["different"].append(limit)
        yield found


def main() -> None:
    options = arguments()
    import mate_tf.analysis.attention.report
    import mate_tf.cli.work  # noqa: F401  imported once, not in each fork

    limits = limits_of_a_disk if options.limit == "disk" else limits_of_files
    results = []
    print("mode         runs  room enough  one line  other ends  refused  different  spoilt")
    with tempfile.TemporaryDirectory() as folder:
        for found in measure(options.modes, pathlib.Path(folder), limits, options.parts):
            results.append(found)
            counts = [len(found[key]) for key in ("messages", "untidy", "refused")]
            counts += [len(found[key]) for key in ("different", "spoilt")]
            print(
                f"{found['mode']:12}{found['runs']:5}{found['completed']:13}{counts[0]:10}"
                f"{counts[1]:12}{counts[2]:9}{counts[3]:11}{counts[4]:8}",
                flush=True,
            )
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / f"full_{options.limit}.json"
    path.write_text(json.dumps(results, indent=2), encoding="utf-8")
    print(f"wrote | {path}")


if __name__ == "__main__":
    main()
