"""What all benchmarks share: fair timing, the machine's own rates, tables, JSON and plots.

The machines that run this are small and noisy. So variants are compared side by side in one run:
each is warmed up, then all take turns, and the median counts.
"""

import json
import os
import platform
import statistics
import time

import numpy as np
import tensorflow as tf

THREADS = 2


def set_threads(threads: int = THREADS) -> None:
    """Fixes the threads of TensorFlow; must come before its first operation."""
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)


def interleave(functions: dict, repeats: int = 7, warmup: int = 2) -> dict[str, float]:
    """Median seconds of each function; they take turns, so noise hits all alike.

    Args:
        functions: name -> callable without arguments that returns tensors.
        repeats: timed calls of each.
        warmup: untimed calls of each before (tracing, compilation, allocation).
    """
    for function in functions.values():
        for _ in range(warmup):
            function()
    seconds = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            _wait(function())
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def _wait(result) -> None:
    for tensor in tf.nest.flatten(result):
        if isinstance(tensor, tf.Tensor):
            tensor.numpy()


def matmul_function(rows: int, inner: int = 768, columns: int = 3072, dtype=tf.float32):
    """A function of eight products [rows, inner] x [inner, columns], and its FLOPs."""
    a = tf.cast(tf.random.normal([rows, inner]), dtype)
    b = tf.cast(tf.random.normal([inner, columns]), dtype)
    times = 8

    @tf.function
    def products():
        # sums keep each product alive; different scales keep them from being merged
        return [tf.reduce_sum(tf.matmul(a * (1.0 + i), b)[0]) for i in range(times)]

    return products, 2.0 * times * rows * inner * columns


def table_features(
    length: int, batch: int = 1, question: int = 20, columns: int = 8, seed: int = 0
):
    """A full table of `length` tokens: question, header row, then cells of 1 to 4 tokens.

    Rows and columns fit the paper's radius 42 as long as the table has at most 42 tokens a row; a
    column of a long table does not fit, as in the paper.

    Returns:
        dict of <int32>[batch, length] model inputs.
    """
    rng = np.random.default_rng(seed)
    segment, row, column = ([0] * question for _ in range(3))
    r = 0
    while len(row) < length:
        for c in range(1, columns + 1):
            tokens = int(rng.integers(1, 5))
            segment += [1] * tokens
            row += [r] * tokens
            column += [c] * tokens
        r += 1

    def tile(values):
        return tf.constant(np.tile(np.array(values[:length], np.int32), [batch, 1]))

    zeros = tf.zeros([batch, length], tf.int32)
    return {
        "input_ids": tf.constant(rng.integers(5, 1000, [batch, length]), tf.int32),
        "input_mask": tf.ones([batch, length], tf.int32),
        "segment_ids": tile(segment),
        # ids are clipped as the converter does
        "column_ids": tile(column),
        "row_ids": tf.minimum(tile(row), 255),
        "prev_label_ids": zeros,
        "column_ranks": zeros,
        "inv_column_ranks": zeros,
        "numeric_relations": zeros,
    }


def machine() -> dict:
    """What the figures were measured on."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if "model name" in line), "")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "threads": tf.config.threading.get_intra_op_parallelism_threads(),
        "tensorflow": tf.__version__,
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
    }


def print_table(rows: list[dict], columns: list[str] | None = None) -> None:
    """Prints dictionaries as an aligned table; floats with four significant digits."""
    columns = columns or list(rows[0])
    cells = [[_format(row.get(name, "")) for name in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for line in [columns, ["-" * width for width in widths], *cells]:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


def _format(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_json(path: str, results: dict) -> None:
    """Writes results with the machine they come from."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine(), **results}, file, indent=2)


def plot_lines(path: str, lines: dict, xlabel: str, ylabel: str, title: str) -> None:
    """Log-log lines, one a name: {name: [(x, y), ...]}."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 5))
    for name, points in lines.items():
        axes.plot(*zip(*sorted(points), strict=True), marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
