"""Ways of computing attention under a scattered mask with TensorFlow's operations.

    python benchmarks/scattered_masks.py
    ONEDNN_VERBOSE=1 python benchmarks/scattered_masks.py --repeats 1    # the fused operations

The core of one layer as in static_masks_speed.py: 12 heads of 64, batch 1, float32, the mask
`scattered` of that benchmark for all heads. `products only` are the two matmuls without
softmax: the least time of each way that computes all scores. Ways take turns within each
repetition; medians of the processor time. Prints a table, writes JSON and a plot.
"""

import argparse
import functools

import common
import numpy as np
import static_masks_speed
import tensorflow as tf

HEADS, HEAD_SIZE = 12, 64
CHUNK = 256
NOTHING = -1e9


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--length", type=int, default=2048)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def heads_first(x):
    # [1, n, heads, size] <-> [1, heads, n, size]
    return tf.transpose(x, [0, 2, 1, 3])


def of_all_scores(mask) -> dict:
    """Ways that compute all scores, by name; each maps projections [1, n, heads, size] to one."""
    n, scale = len(mask), HEAD_SIZE**-0.5
    nobody = tf.zeros([1, 1, 1, n])
    where, bias = tf.constant(mask)[None, None], tf.where(mask, 0.0, NOTHING)[None, None]

    def whole(change):
        def attend(query, key, value):
            query, key, value = map(heads_first, (query, key, value))
            scores = tf.matmul(query, key, transpose_b=True)
            return heads_first(tf.matmul(change(scores), value))

        return attend

    def in_chunks(heads, change):
        """Of queries, and of so many heads, one after the other."""

        def attend(query, key, value):
            query, key, value = map(heads_first, (query, key, value))
            of_heads = []
            for head in range(0, HEADS, heads):
                q, k, v = (x[:, head : head + heads] for x in (query, key, value))
                chunks = []
                for start in range(0, n, CHUNK):
                    with tf.control_dependencies(chunks[-1:]):
                        own = q[:, :, start : start + CHUNK]
                        scores = tf.matmul(own, k, transpose_b=True)
                    chunks.append(tf.matmul(change(scores, slice(start, start + CHUNK)), v))
                of_heads.append(tf.concat(chunks, 2))
            return heads_first(tf.concat(of_heads, 1))

        return attend

    def masked(scores, queries=slice(None)):
        return tf.nn.softmax(tf.where(where[:, :, queries], scores * scale, NOTHING))

    def biased(scores, queries=slice(None)):
        return tf.nn.softmax(scores * scale + bias[:, :, queries])

    return {
        "full": whole(lambda scores: tf.nn.softmax(scores * scale + nobody)),
        "products only": whole(lambda scores: scores),
        "mask in a pass of its own": whole(masked),
        "mask added in the product": whole(biased),
        f"mask, chunks of {CHUNK}": in_chunks(HEADS, masked),
        f"added, chunks of {CHUNK}": in_chunks(HEADS, biased),
        f"mask, chunks of {CHUNK}, by head": in_chunks(1, masked),
        f"added, chunks of {CHUNK}, by head": in_chunks(1, biased),
    }


def of_allowed_pairs(mask) -> dict:
    """Ways that compute the allowed pairs only; those of the first and last token are left out.

    These two queries see everything, and would make the lists of keys as long as the sequence.
    """
    n, scale = len(mask), HEAD_SIZE**-0.5
    counts = mask.sum(-1)
    width = int(counts[counts < n // 2].max())
    padded = np.argsort(~mask, axis=-1, kind="stable")[:, :width]
    bias = tf.where(np.take_along_axis(mask, padded, -1), 0.0, NOTHING)[:, :, None]
    keys = tf.constant(padded, tf.int32)

    def gathered(query, key, value):
        # [n, width, heads, size]
        own_keys, own_values = (tf.gather(x[0], keys) for x in (key, value))
        scores = tf.reduce_sum(query[0][:, None] * own_keys, -1) * scale + bias
        return tf.reduce_sum(tf.nn.softmax(scores, 1)[..., None] * own_values, 1)[None]

    pairs = tf.constant(np.argwhere(mask), tf.int64)
    weights = tf.random.uniform([int(mask.sum())])

    def sparse_sums(query, key, value):
        del query, key
        return [
            tf.sparse.sparse_dense_matmul(tf.SparseTensor(pairs, weights, [n, n]), of_head)
            for of_head in tf.unstack(value[0], axis=1)
        ]

    return {"gathered keys": gathered, "weighted sums alone, as sparse product": sparse_sums}


def measure(args) -> list[dict]:
    """Medians of each way."""
    mask = static_masks_speed.learned_masks(args.length)["scattered"][0]
    shape = [1, args.length, HEADS, HEAD_SIZE]
    projections = [tf.random.stateless_normal(shape, [part, 0]) for part in range(3)]
    all_pairs, allowed = of_all_scores(mask), of_allowed_pairs(mask)
    ways = {name: tf.function(way, autograph=False) for name, way in (all_pairs | allowed).items()}
    ways["gathered keys, XLA"] = tf.function(
        allowed["gathered keys"], autograph=False, jit_compile=True
    )
    cases = {name: functools.partial(way, *projections) for name, way in ways.items()}
    medians = {name: worked for name, (_, worked) in common.in_turns(cases, args.repeats).items()}
    return [
        {"way": name, "processor_seconds": own, "processor_speedup": medians["full"] / own}
        for name, own in medians.items()
    ]


def plot(results: list[dict], length: int):
    """Draws a bar for each way, with a line where it would be as fast as full attention."""
    figure, axes = common.new_axes(9, 0.4 * len(results) + 1.2)
    ways = [row["way"] for row in results]
    bars = axes.barh(ways, [row["processor_speedup"] for row in results])
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.axvline(1, color="gray", linestyle="--", linewidth=1)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.set_xlabel("times as fast as full attention (processor time)")
    axes.set_title(f"A scattered mask over {length:,} tokens, 12 heads, one layer")
    return figure


def main() -> None:
    args = arguments()

    common.limit_threads(args.threads)
    results = measure(args)
    print(f"\n{args.length} tokens")
    for row in results:
        print(
            f"  {row['way']:40} {1e3 * row['processor_seconds']:9.1f} ms"
            f"  {row['processor_speedup']:5.2f}x full"
        )
    common.write(args, "scattered_masks", results, plot(results, args.length))


if __name__ == "__main__":
    main()
