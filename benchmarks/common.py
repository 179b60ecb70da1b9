"""What the benchmarks share: options, jobs of the command line, timing in turns, results."""

import argparse
import copy
import json
import os
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import mate_tf  # noqa: E402, F401 - before TensorFlow, whose environment it sets

CONFIGS = ROOT / "configs"


def parser(doc: str) -> argparse.ArgumentParser:
    """A parser with --output; the first line of a module's text describes it."""
    found = argparse.ArgumentParser(description=doc.splitlines()[0])
    folder = pathlib.Path("out/benchmarks")
    found.add_argument("--output", type=pathlib.Path, default=folder, help="folder of the results")
    return found


def limit_threads(threads: int, inter_op: int = 1) -> None:
    """Bounds TensorFlow's threads, before it is used."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(inter_op)


def run(mode: str, *flags, threads: int | None = None) -> None:
    """Runs one mode of the command line in a process of its own; trainings resume by themselves.

    Ends this program if the mode fails.
    """
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS") if threads else ()
    environment = os.environ | dict.fromkeys(names, str(threads)) | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, str(ROOT / "run_task_main.py"), f"--mode={mode}", *map(str, flags)]
    print("run |", " ".join(command[1:]), flush=True)
    done = subprocess.run(command, env=environment, check=False)
    if done.returncode:
        sys.exit(f"--mode={mode} ended with exit code {done.returncode}")


def job(*flags):
    """The job that the command line makes of flags, for many of them in one process."""
    from mate_tf.cli import flags as definitions
    from mate_tf.cli.job import Job

    print("job |", " ".join(flags), flush=True)
    values = copy.deepcopy(definitions.FLAGS)
    values(["benchmark", *flags])
    return Job.from_flags(values)


def overrides(values) -> list[str]:
    """Flags for texts of --params_override."""
    return [f"--params_override={each}" for each in values]


def in_turns(cases: dict[object, Callable], repeats: int, warm_up: int = 1) -> dict:
    """Measures calls that take turns, so that a busy machine slows all of them alike.

    Args:
        cases: name -> function without arguments that returns a tensor or a list of tensors.
        repeats: how often each is measured.
        warm_up: how often each is called before.

    Returns:
        name -> median seconds on the clock, and of the processors.
    """
    from mate_tf.analysis.cost import speed

    times = {name: [] for name in cases}
    for repeat in range(-warm_up, repeats):
        for name, function in cases.items():
            measured = speed.seconds(function)
            if repeat >= 0:
                times[name].append(measured)
    return {
        name: tuple(statistics.median(each) for each in zip(*values, strict=True))
        for name, values in times.items()
    }


def add_speedup(rows: list[dict], reference: dict) -> None:
    """Adds how many times as fast as a reference each row is, by clock and by processor time."""
    for row in rows:
        for name in ("", "processor_"):
            row[f"{name}speedup"] = reference[f"{name}seconds"] / row[f"{name}seconds"]


def new_axes(width: float, height: float, columns: int = 1, **options):
    """A figure and its axes, one or a row of them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(1, columns, figsize=(width, height), layout="constrained", **options)


def bars(groups: dict[str, list[float]], names, label: str, texts=None):
    """Draws groups of bars beside each other.

    Args:
        groups: title of a series -> a value for each name.
        names: what stands below each place.
        label: of the axis of values.
        texts: title of a series -> a text above each bar.
    """
    figure, axes = new_axes(3 + 1.1 * len(names), 4)
    width = 0.8 / len(groups)
    for number, (title, values) in enumerate(groups.items()):
        places = [place + width * (number + 0.5) - 0.4 for place in range(len(values))]
        drawn = axes.bar(places, values, 0.9 * width, label=title)
        if texts:
            axes.bar_label(drawn, texts[title])
    axes.set_xticks(range(len(names)), names)
    axes.margins(y=0.1)
    axes.set_ylabel(label)
    axes.legend()
    return figure


def write(options, name: str, content, figure=None) -> None:
    """Writes results as JSON into --output, and a figure beside it."""
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / f"{name}.json"
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if figure is not None:
        figure.savefig(path.with_suffix(".png"), dpi=120)
    print(f"written | {path}{'' if figure is None else ', .png'}", flush=True)
