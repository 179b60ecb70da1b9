"""Other ways to compute `mate_efficient`, compared with the one in use; see results/log.md.

    python benchmarks/mate_choices.py --lengths 2048 4096 --precisions float32 bfloat16

Two layers of BERT-base shape, batch 1. All ways take turns in one process; their outputs are
compared with those of the way that ships, on equal weights.
"""

import argparse
import contextlib
import statistics

import common
import numpy as np
import tensorflow as tf

from mate_tf.analysis.cost import encoder_layers, profile_report, speed
from mate_tf.attention import base, mate
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import shape_list
from mate_tf.models.encoder_config import EncoderConfig

SHIPPED = "mate_efficient"
BLOCKS = (1, 3, 4, 6)


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=(2048, 4096))
    parser.add_argument("--precisions", nargs="+", default=("float32",))
    parser.add_argument("--num_hidden_layers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


@contextlib.contextmanager
def replaced(owner, name: str, value):
    """`owner` has another attribute while layers are made and traced."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def fused_projections(self, x, *layers):
    """Query, key and value in one product, in place of `TableAttention.project`."""
    batch, seq, hidden = shape_list(x)
    kernel = tf.concat([layer.kernel for layer in layers], axis=1)
    bias = tf.concat([layer.bias for layer in layers], axis=0)
    y = tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, hidden]), kernel), bias)
    parts = tf.reshape(y, [batch, seq, len(layers), self.num_heads, self.head_size])
    return tf.unstack(parts, axis=2)


def ways() -> dict:
    """Name -> context manager under which that way is made."""
    found = {SHIPPED: contextlib.nullcontext()}
    for number in BLOCKS:
        found[f"{number} buckets a block"] = replaced(mate, "BUCKETS_PER_BLOCK", number)
    found["fused projections"] = replaced(base.TableAttention, "project", fused_projections)
    return found


def measure(options, length: int, precision: str) -> list[dict]:
    """Median and least seconds of each way, and how far its output is from the shipped one's."""
    config = encoder_layers.variant_config(
        EncoderConfig(num_hidden_layers=options.num_hidden_layers), SHIPPED, length
    )
    given = encoder_layers.inputs(config, length, precision)
    functions, outputs = {}, {}
    for name, made in ways().items():
        with made:
            keras.utils.set_random_seed(1)
            case = encoder_layers.Case(SHIPPED, length, precision)
            functions[name] = encoder_layers.function(config, case)
            outputs[name] = tf.cast(functions[name](*given), tf.float32).numpy()
    seconds = {name: [] for name in functions}
    for repeat in range(-2, options.repeats):  # the first two warm up
        for name, function in functions.items():
            measured = speed.seconds(function, *given)[0]
            if repeat >= 0:
                seconds[name].append(measured)
    reference = outputs[SHIPPED]
    rows = [
        {
            "length": length,
            "precision": precision,
            "way": name,
            "seconds": statistics.median(values),
            "least_seconds": min(values),
            "difference": float(np.abs(outputs[name] - reference).max() / np.abs(reference).max()),
        }
        for name, values in seconds.items()
    ]
    print(f"\n{length} tokens, {precision}")
    for row in rows:
        row["times_as_fast"] = rows[0]["seconds"] / row["seconds"]
        print(
            f"  {row['way']:22} {1e3 * row['seconds']:8.1f} ms, at least "
            f"{1e3 * row['least_seconds']:8.1f}  {row['times_as_fast']:5.2f}x  "
            f"differs by {row['difference']:.0e}",
            flush=True,
        )
    return rows


def main() -> None:
    options = arguments()

    common.limit_threads(options.threads)
    results = [
        row
        for length in options.lengths
        for precision in options.precisions
        for row in measure(options, length, precision)
    ]
    rows = [row | {"variant": f"{row['way']}, {row['precision']}"} for row in results]
    figure = profile_report.plot(rows, "seconds", "seconds")
    common.write(options, "mate_choices", results, figure)


if __name__ == "__main__":
    main()
