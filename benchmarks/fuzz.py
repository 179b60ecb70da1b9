"""Gives damaged bytes to everything that reads files, and hostile tables to the conversion.

    python benchmarks/fuzz.py

Every format gets valid files with 1 to 4 changes: bits, bytes, and parts that are cut, repeated or
moved. Each must be read, or refused by an error that the command line prints as one line. Tables
with hostile cells are written, read again, pruned and converted. What ends in another way is
unexpected; it is written to a folder. Prints a table and writes JSON.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import resource
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strings", type=int, default=100_000, help="of all formats together")
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    return parser.parse_args()


def peak() -> float:
    """Returns the peak memory of this process, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fuzz_format(name, form, number: int, seed: int, failures: pathlib.Path) -> dict:
    """Reads damaged contents of a format.

    Args:
        name: name of the format.
        form: a `tests.faults.fuzz.Format`.
        number: number of contents.
        seed: seed of the damage.
        failures: folder for contents with an unexpected end.

    Returns:
        name; strings; accepted; unexpected: kind of error -> number; slowest, in seconds;
        peak_mib, of the process up to here.
    """
    from tests.faults import fuzz

    draw = random.Random(f"{seed} {name}")
    found = {"name": name, "strings": number, "accepted": 0, "unexpected": {}, "slowest": 0.0}
    for _ in range(number):
        content = fuzz.mutated(form.sample, draw)
        start = time.perf_counter()
        try:
            found["accepted"] += form.parse(content)
        except Exception as error:
            kind = type(error).__name__
            if found["unexpected"].setdefault(kind, 0) < 3:
                failures.mkdir(parents=True, exist_ok=True)
                digest = hashlib.sha256(content).hexdigest()[:8]
                (failures / f"{name} {kind} {digest}").write_bytes(content)
            found["unexpected"][kind] += 1
        found["slowest"] = max(found["slowest"], time.perf_counter() - start)
    form.path.write_bytes(form.pack(form.sample))
    return found | {"peak_mib": peak()}


def fuzz_tables(number: int, seed: int, folder: pathlib.Path) -> dict:
    """Takes hostile tables through reading, pruning and conversion; returns as `fuzz_format`."""
    from mate_tf.errors import InputError
    from tests.faults import fuzz

    reader = fuzz.TableReader(folder)
    found = {"name": "tables", "strings": number, "accepted": 0, "unexpected": {}, "slowest": 0.0}
    for table, question in fuzz.tables(number, seed):
        start = time.perf_counter()
        try:
            reader.read(table, question)
            found["accepted"] += 1
        except InputError:
            pass
        except Exception as error:
            kind = f"{type(error).__name__}: {error}"[:200]
            found["unexpected"][kind] = found["unexpected"].get(kind, 0) + 1
        found["slowest"] = max(found["slowest"], time.perf_counter() - start)
    return found | {"peak_mib": peak()}


def show(found: dict) -> None:
    """Prints a row of the table."""
    unexpected = sum(found["unexpected"].values())
    print(
        f"{found['name']:26}{found['strings']:9,}{found['accepted']:10,}{unexpected:12}"
        f"{1000 * found['slowest']:14,.0f}{found['peak_mib']:10,.0f}",
        flush=True,
    )


def main() -> None:
    options = arguments()
    import tensorflow as tf
    from absl import logging

    from tests.faults import fuzz

    # A damaged state file of a training is a warning.
    logging.set_verbosity(logging.FATAL)
    tf.get_logger().setLevel("CRITICAL")
    results = []
    print("what is read                number  accepted  unexpected  slowest (ms)  peak MiB")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        forms = fuzz.formats(folder)
        failures = options.output / "fuzz"
        for form in forms:
            number = -(-options.strings // len(forms))
            results.append(fuzz_format(form, forms[form], number, options.seed, failures))
            show(results[-1])
        results.append(fuzz_tables(options.tables, options.seed, folder))
        show(results[-1])
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "fuzz.json"
    path.write_text(json.dumps(results, indent=2), encoding="utf-8")
    print(f"wrote | {path}")


if __name__ == "__main__":
    main()
