"""Start to end of `mate-tf ask`, with and without OpenVINO's cache of compiled models.

    python benchmarks/compiled_cache.py

Each run is a process of its own, and both sides take turns. The first run with the cache, which
fills it, is not counted. Prints medians and writes JSON.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import common

CHILD = """
import sys, time
import openvino
from mate_tf.cli.main import run
from mate_tf.serving.engine import model

cache, *arguments = sys.argv[1:]
if cache:
    model._core().set_property({"CACHE_DIR": cache})
compiles, spent = openvino.Core.compile_model, []

def timed(*given):
    begin = time.perf_counter()
    compiled = compiles(*given)
    spent.append(time.perf_counter() - begin)
    return compiled

openvino.Core.compile_model = timed
try:
    run(["mate-tf", "ask", *arguments, "--format=json"])
finally:
    print(f"\\ncompiled {sum(spent)}", file=sys.stderr)
"""
"""A program like `mate-tf ask`, which prints the seconds of compilation last."""

TABLE = common.ROOT / "mate_tf" / "data" / "synthetic" / "example.csv"


def measure(cache: str, precision: str) -> dict[str, float]:
    """Seconds of one run: from start to end, of the processors, and of the compilation."""
    question = "who has the highest salary?"
    command = [sys.executable, "-c", CHILD, cache, str(TABLE), question, f"--precision={precision}"]
    used, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=common.ROOT)
    total, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    processors = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    compilation = float(done.stderr.split()[-1])
    return {"start to end": total, "processors": processors, "compilation": compilation}


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--precisions", nargs="+", default=["float32", "bfloat16", "int8"])
    parser.add_argument("--repeats", type=int, default=9)
    return parser.parse_args()


def main() -> None:
    options, results = arguments(), {}
    with tempfile.TemporaryDirectory() as folder:
        for precision in options.precisions:
            cache = os.path.join(folder, precision)
            measure(cache, precision)
            runs = {"without": [], "with the cache": []}
            for _ in range(options.repeats):
                for side, place in zip(runs, ("", cache), strict=True):
                    runs[side].append(measure(place, precision))
            size = sum(each.stat().st_size for each in pathlib.Path(cache).iterdir()) / 2**20
            for side, found in runs.items():
                medians = {
                    name: statistics.median(each[name] for each in found) for name in found[0]
                }
                results[f"{precision}, {side}"] = medians
                print(f"{precision:9} {side:15}", end="")
                print(*(f"{name} {value:.2f} s" for name, value in medians.items()), sep="   ")
            print(f"{precision:9} the cache has {size:.0f} MiB", flush=True)
    common.write(options, "compiled_cache", results)


if __name__ == "__main__":
    main()
