"""Speed and memory of the attention variants side by side: two BERT-base layers, batch 1, float32.

    python benchmarks/attention.py                              # speed, plain and XLA
    python benchmarks/attention.py --training --lengths 2048 4096
    python benchmarks/attention.py --memory                     # peak memory, a process per length

Variants take turns within each repetition and medians are compared, so that a busy machine slows
all of them alike. The rate of a float32 matrix product, measured in the same turns, stands beside:
the share of it that `mate_efficient` reaches counts only the products MATE asks for (global rows,
and G + 3R keys for every other token), not the ones its blocks add.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

LENGTHS = (512, 1024, 2048, 4096, 8192)
VARIANTS = ("full", "mate_exact", "mate_efficient")
LAYERS, HIDDEN, HEADS, INTERMEDIATE = 2, 768, 12, 3072
GLOBAL_LENGTH, RADIUS = 116, 42
QUESTION, COLUMNS, CELL = 20, 8, 4
MATMUL = (2048, HIDDEN, INTERMEDIATE)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--variants", nargs="+", default=VARIANTS)
    parser.add_argument("--compile", choices=("plain", "xla", "both"), default="both")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--training", action="store_true", help="forward and backward pass")
    parser.add_argument("--memory", action="store_true", help="peak memory instead of time")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def flops(variant: str, length: int) -> float:
    """Of the matrix products of a forward pass: projections, feed-forward, attention."""
    dense = 2 * length * (4 * HIDDEN**2 + 2 * HIDDEN * INTERMEDIATE)
    pairs = length**2
    if variant == "mate_efficient" and length > GLOBAL_LENGTH:
        tail = length - GLOBAL_LENGTH
        pairs = GLOBAL_LENGTH * length + tail * min(GLOBAL_LENGTH + 3 * RADIUS, length)
    return LAYERS * (dense + 4 * HIDDEN * pairs)


def table_context(length: int):
    """One question and a table of `COLUMNS` columns with `CELL` tokens in each cell."""
    import numpy as np

    from mate_tf.attention import TableContext

    place = np.arange(length) - QUESTION
    row = np.where(place < 0, 0, place // (COLUMNS * CELL))
    column = np.where(place < 0, 0, place // CELL % COLUMNS + 1)
    arrays = (place >= 0, row, column, np.ones(length))
    return TableContext(*(array.astype(np.int32)[None] for array in arrays))


def layers(variant: str, training: bool):
    """(x, context) -> y, or with `training` the gradients of all weights."""
    import tensorflow as tf

    from mate_tf import attention
    from mate_tf.layers.encoder_block import EncoderBlock
    from mate_tf.models.encoder_config import EncoderConfig

    config = attention.AttentionConfig(name=variant)
    if variant == "mate_efficient":
        config.override({"global_length": GLOBAL_LENGTH, "radius": RADIUS})
    encoder_config = EncoderConfig(
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=INTERMEDIATE,
        attention=config,
    )
    pattern = attention.get(variant).pattern(config, HEADS)
    blocks = [EncoderBlock(encoder_config, config, name=f"blocks_{i}") for i in range(LAYERS)]
    for block in blocks:
        block.build()

    def forward(x, context):
        shared = pattern(context)
        for block in blocks:
            x = block(x, shared, training=training)
        return x

    def step(x, context):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(forward(x, context)))
        return tape.gradient(loss, [v for block in blocks for v in block.trainable_variables])

    return step if training else forward


def seconds(function, *inputs) -> tuple[float, float]:
    """Time on the clock, and time the processors spent: it tells more when others use them too."""
    start, worked = time.perf_counter(), time.process_time()
    result = function(*inputs)
    (result[0] if isinstance(result, list) else result).numpy()
    return time.perf_counter() - start, time.process_time() - worked


def measure_speed(args) -> list[dict]:
    """Median seconds per length, variant and kind of compilation, with the matmul rate beside."""
    import tensorflow as tf

    kinds = {"plain": [False], "xla": [True], "both": [False, True]}[args.compile]
    functions = {
        (variant, xla): tf.function(layers(variant, args.training), jit_compile=xla)
        for variant in args.variants
        for xla in kinds
    }
    a, b = tf.random.normal(MATMUL[:2]), tf.random.normal(MATMUL[1:])
    multiply = tf.function(lambda: tf.matmul(a, b))
    results = []
    for length in args.lengths:
        x, context = tf.random.normal([1, length, HIDDEN]), table_context(length)
        times = {key: [] for key in functions}
        rates = []
        for function in (*functions.values(), multiply):
            seconds(function, *([] if function is multiply else [x, context]))
        for _ in range(args.repeats):
            product = statistics.median(seconds(multiply)[0] for _ in range(5))
            rates.append(2 * MATMUL[0] * MATMUL[1] * MATMUL[2] / product)
            for key, function in functions.items():
                times[key].append(seconds(function, x, context))
        rate = statistics.median(rates)
        for (variant, xla), values in times.items():
            median, worked = (statistics.median(each) for each in zip(*values, strict=True))
            # a backward pass takes two products for each one of the forward pass
            work = flops(variant, length) * (3 if args.training else 1)
            results.append(
                {
                    "length": length,
                    "variant": variant,
                    "xla": xla,
                    "training": args.training,
                    "seconds": median,
                    "processor_seconds": worked,
                    "matmul_flops_per_second": rate,
                    "share_of_matmul_rate": work / median / rate,
                }
            )
        print_speed(results, length)
    return results


def print_speed(results: list[dict], length: int) -> None:
    rows = [row for row in results if row["length"] == length]
    print(
        f"\n{length} tokens; float32 matmul {rows[0]['matmul_flops_per_second'] / 1e9:.0f} GFLOP/s"
    )
    for row in rows:
        full = [r for r in rows if r["variant"] == "full" and r["xla"] == row["xla"]]
        ratios = ""
        if full:
            clock, worked = (full[0][key] / row[key] for key in ("seconds", "processor_seconds"))
            ratios = f"  {clock:5.2f}x full ({worked:.2f}x by processor time)"
        print(
            f"  {row['variant']:20} {'xla' if row['xla'] else 'plain':5}"
            f" {1e3 * row['seconds']:9.1f} ms{ratios}"
            f"  {row['share_of_matmul_rate']:5.0%} of the matmul rate",
            flush=True,
        )


def measure_memory(args) -> list[dict]:
    """Peak memory above the weights, each variant and length in a process of its own."""
    results = []
    for variant in args.variants:
        for length in args.lengths:
            command = [sys.executable, __file__, "--child", "--variants", variant]
            command += ["--lengths", str(length), "--threads", str(args.threads)]
            command += ["--training"] if args.training else []
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            row = {"variant": variant, "length": length, "training": args.training}
            if run.returncode == 0:
                row |= json.loads(run.stdout.splitlines()[-1])
                increment, peak = (row[key] / 2**20 for key in ("increment", "peak"))
                print(f"{variant:20} {length:6} {increment:9.0f} MiB above weights", end="")
                print(f", {peak:9.0f} MiB in all", flush=True)
            else:
                error = run.stderr.strip().splitlines()[-1:] or [f"signal {-run.returncode}"]
                row["error"] = error[0]
                print(f"{variant:20} {length:6} failed: {row['error']}", flush=True)
            results.append(row)
    for variant in args.variants:
        above = {
            r["length"]: r["increment"]
            for r in results
            if r["variant"] == variant and "increment" in r
        }
        if {2048, 8192} <= set(above):
            print(f"{variant}: 8192 tokens take {above[8192] / above[2048]:.2f}x those of 2048")
    return results


def memory_child(args) -> None:
    """Prints the peak memory of one call, and what of it came with the call."""
    import tensorflow as tf

    function = tf.function(layers(args.variants[0], args.training))
    length = args.lengths[0]
    x, context = tf.random.normal([1, length, HIDDEN]), table_context(length)
    before = memory("VmRSS")
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    seconds(function, x, context)
    seconds(function, x, context)
    peak = memory("VmHWM")
    print(json.dumps({"increment": peak - before, "peak": peak}))


def memory(field: str) -> int:
    """A field of /proc/self/status, in bytes."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split(field + ":")[1].split()[0]) * 1024


def plot(results: list[dict], value: str, label: str, path: pathlib.Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    series = sorted({(row["variant"], row.get("xla", False)) for row in results})
    for variant, xla in series:
        points = [
            (row["length"], row[value])
            for row in results
            if (row["variant"], row.get("xla", False)) == (variant, xla) and value in row
        ]
        if points:
            name = variant + (" (XLA)" if xla else "")
            axes.plot(*zip(*points, strict=True), "--" if xla else "-", marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="tokens", ylabel=label)
    axes.set_xticks(sorted({row["length"] for row in results}))
    axes.get_xaxis().set_major_formatter(matplotlib.ticker.ScalarFormatter())
    axes.get_xaxis().set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    args = arguments()
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    if args.child:
        memory_child(args)
        return
    name = ("memory" if args.memory else "speed") + ("_training" if args.training else "")
    results = measure_memory(args) if args.memory else measure_speed(args)
    args.output.mkdir(parents=True, exist_ok=True)
    target = args.output / f"attention_{name}"
    target.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    if args.memory:
        plot(results, "increment", "bytes above weights", target.with_suffix(".png"))
    else:
        plot(results, "seconds", "seconds", target.with_suffix(".png"))
    print(f"\nwritten: {target}.json, {target}.png")


if __name__ == "__main__":
    main()
