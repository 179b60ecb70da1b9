"""Table 4 and Table 11 of the Treeformer paper: time and FLOPs of tree attention against full.

    python benchmarks/treeformer_speed.py
    python benchmarks/treeformer_speed.py --trained out/listops_small/model   # its trees beside

The self-attention layer alone, with its projections: 8 heads, hidden size 768, batch 1, trees of
height 6, one thread. Variants take turns within each repetition and medians are compared, so that
a busy machine slows all of them alike; processor time tells more than the clock there. Trees get
biases that spread the tokens over the leaves in the shares wanted: equal ones, half of them in one
leaf (skewed), or those that a training with tree attention left in its last layer. The last two
also with a capacity of the leaves, for which `pairs` and `largest leaf` are those before it.

FLOPs are those of the attention without the projections, at the lengths and widths of Table 11,
relative to full attention: by formula, where each node is scored only on the path taken; with all
nodes scored, as in training; as done here, where `tree_fine` scores whole levels, as that is
faster; and by TensorFlow's profiler. The table's other rows are by formula.
"""

import argparse
import functools
import statistics

import common
import numpy as np
import tensorflow as tf

from mate_tf import attention
from mate_tf.analysis.cost import flops as formulas
from mate_tf.analysis.cost import profile_report
from mate_tf.attention import leaf_blocks
from mate_tf.attention.base import all_pairs_flops
from mate_tf.attention.decision_trees import TreeShape
from mate_tf.training import layer_log

LENGTHS = (1024, 2048, 4096, 8192)
HIDDEN, HEADS, HEIGHT = 768, 8, 6
CAPACITY = 2.0
BRANCHINGS = ((100, 10), (8, 8))
WANTED = {1024: 1.4, 2048: 2.0, 4096: 3.2, 8192: 5.2}
LRA = {
    "ListOps": (2048, 512, 4),
    "Text": (4096, 256, 4),
    "Retrieval": (8192, 128, 4),
    "Image": (1024, 32, 1),
}
"""Tasks of Table 11: tokens, hidden size, heads (Table 8)."""
OTHERS = {
    "linformer": {"projected_length": 16},  # low_rank_features in Long Range Arena's code
    "kernel": {},
    "bigbird": {},
}
"""The other rows of Table 11, whose options the paper does not give."""


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--variants", nargs="+", help="only those whose names start so, and full")
    parser.add_argument("--parts", action="store_true", help="measure the parts of tree_fine")
    parser.add_argument("--trained", help="--model_dir of a training with binary trees")
    return parser.parse_args()


def skewed_shares(num_leaves: int):
    """Half of the tokens in the last leaf, equal shares in the others."""
    rest = 0.5 / (num_leaves - 1)
    return np.array([[rest] * (num_leaves - 1) + [0.5]])


def trained_shares(model_dir: str):
    """Shares of the leaves in the last layer after a training, means over heads, [1, leaves]."""
    last = [line["layers"] for line in layer_log.read(model_dir) if "layers" in line][-1]
    return np.array([last[-1]["leaf_shares"]])


def spread(layer, x, shares=None) -> None:
    """Sets the biases of binary trees so that the tokens of x fall into leaves in `shares`.

    These are [heads or 1, leaves]; None: all equal. x is <float>[1, seq, hidden].
    """
    tree, shape = layer.tree, layer.tree_shape
    heads, height = layer.num_heads, shape.height
    shares = np.ones([1, shape.num_leaves]) if shares is None else np.asarray(shares, float)
    shares = np.resize(shares, [heads, shape.num_leaves])
    tree.bias.assign(np.zeros(tree.bias.shape))
    projections = layer.project(x, layer.query, layer.key)
    scores = np.concatenate([tree.scores(part)[0, 0] for part in projections], axis=1)
    bias = np.zeros(tree.bias.shape, np.float32)
    for head in range(heads):
        node = np.zeros(scores.shape[1], int)
        for level in range(height):
            first, below = 2**level - 1, shares[head].reshape(2**level, 2, -1).sum(-1)
            for j in range(2**level):
                own = scores[head, node == j, first + j]
                if own.size and below[j].sum():
                    bias[head, first + j] = -_quantile(own, below[j, 0] / below[j].sum())
            at = first + node
            node = 2 * node + (scores[head, np.arange(len(node)), at] + bias[head, at] > 0)
    tree.bias.assign(bias)


def _quantile(values, share: float) -> float:
    """A threshold with this share of the values below it, all or none of them at 1 or 0."""
    if share in (0, 1):
        return values.max() + 1 if share else values.min() - 1
    return np.quantile(values, share)


def cases(args) -> dict:
    """Name -> (variant, options, shares of the leaves or None for equal ones)."""
    found = {
        "full": ("full", {}, None),
        "tree_fine": ("tree_fine", {"tree_height": HEIGHT}, None),
        "tree_fine skewed": ("tree_fine", {"tree_height": HEIGHT}, skewed_shares(2**HEIGHT)),
    }
    for branching in BRANCHINGS:
        options = {"branching": list(branching)}
        found[f"tree_fine {options['branching']}"] = ("tree_fine", options, None)
    found["tree_coarse"] = ("tree_coarse", {"tree_height": HEIGHT}, None)
    found["tree_coarse folded"] = found["tree_coarse"]
    if args.trained:
        shares = trained_shares(args.trained)
        height = (len(shares[0]) - 1).bit_length()
        found["tree_fine trained"] = ("tree_fine", {"tree_height": height}, shares)
    for name in ("tree_fine skewed", "tree_fine trained"):
        if name in found:
            kind, options, shares = found[name]
            limited = options | {"leaf_capacity": CAPACITY}
            found[f"{name}, capacity {CAPACITY:g}"] = (kind, limited, shares)
    if args.variants:
        wanted = ("full", *args.variants)
        found = {name: case for name, case in found.items() if name.startswith(wanted)}
    return found


def make(name: str, case, x):
    """(function of x, layer): the layer compiled, its trees as the case wants them for x."""
    variant_name, options, shares = case
    config = attention.AttentionConfig(name=variant_name, **options)
    variant = attention.get(variant_name)
    tf.random.set_seed(1)
    layer = variant.attention(config, HEADS, hidden_size=HIDDEN)
    layer.build([None, None, HIDDEN])
    ones = tf.ones(x.shape[:2], tf.int32)
    context = attention.TableContext(0 * ones, 0 * ones, 0 * ones, ones)
    pattern = variant.pattern(config, HEADS)(context)
    if hasattr(layer, "tree") and layer.tree_shape.binary:
        spread(layer, x, shares)
    if name == "tree_coarse folded":
        query_tree, key_tree = layer.folded()
        run = functools.partial(
            layer.call_folded, query_tree=query_tree, key_tree=key_tree, pattern=pattern
        )
    else:
        run = functools.partial(layer, pattern=pattern, training=False)
    return tf.function(run, autograph=False), layer


def measure_speed(args) -> list[dict]:
    """Median seconds of each case and length, and what its trees ask for."""
    results = []
    for length in args.lengths:
        x = tf.random.stateless_normal([1, length, HIDDEN], [1, length])
        made = {name: make(name, case, x) for name, case in cases(args).items()}
        calls = {name: functools.partial(function, x) for name, (function, _) in made.items()}
        for name, (clock, worked) in common.in_turns(calls, args.repeats).items():
            row = {"length": length, "variant": name, "seconds": clock, "processor_seconds": worked}
            results.append(row | occupancy(made[name][1], x))
        rows = results[-len(made) :]
        common.add_speedup(rows, rows[0])
        print_speed(rows)
    return results


def measure_parts(args) -> list[dict]:
    """Median processor milliseconds of the parts of `tree_fine`, each computed alone.

    `rest` is the time of the layer without these parts: blocks, their attention, and the way back.
    """
    results = []
    for length in args.lengths:
        x = tf.random.stateless_normal([1, length, HIDDEN], [1, length])
        real = tf.ones([1, length], tf.bool)
        print(f"\n{length} tokens, processor milliseconds")
        for name, case in cases(args).items():
            if not name.startswith("tree_fine"):
                continue
            whole, layer = make(name, case, x)
            query, key = layer.project(x, layer.query, layer.key)
            leaves = [layer.tree.leaves(part) for part in (query, key)]
            num_leaves = layer.tree_shape.num_leaves

            def project(x, layer=layer):
                parts = layer.project(x, layer.query, layer.key, layer.value)
                return [layer.project_back(part) for part in parts[:1]] + parts[1:]

            def descend(query, key, layer=layer):
                return [layer.tree.leaves(part) for part in (query, key)]

            def sort(*leaves, real=real, num_leaves=num_leaves):
                return [leaf_blocks.sort(part, real, num_leaves).indices for part in leaves]

            parts = {
                "projections": (project, [x]),
                "leaves": (descend, [query, key]),
                "sorting": (sort, leaves),
                "all": (whole, [x]),
            }
            compiled = {
                part: functools.partial(tf.function(function, autograph=False), *inputs)
                for part, (function, inputs) in parts.items()
            }
            medians = common.in_turns(compiled, args.repeats)
            row = {part: 1e3 * worked for part, (_, worked) in medians.items()}
            row["rest"] = 2 * row["all"] - sum(row.values())
            print(f"  {name:30}" + "".join(f"{part} {ms:7.1f}  " for part, ms in row.items()))
            results.append({"length": length, "variant": name, **row})
    return results


def occupancy(layer, x) -> dict:
    """Pairs compared relative to all pairs, and the share of keys in the fullest leaf."""
    if not hasattr(layer, "tree"):
        return {"pairs": 1.0, "largest_leaf": 1.0}
    counts = [
        tf.math.bincount(tf.reshape(leaves, [layer.num_heads, -1]), axis=-1, minlength=2).numpy()
        for leaves in layer.leaves(x)
    ]
    width = min(count.shape[1] for count in counts)
    seq = x.shape[1]
    same = (counts[0][:, :width].astype(float) * counts[1][:, :width]).sum(-1)
    return {
        "pairs": float(np.mean(same) / seq**2),
        "largest_leaf": float(np.max(counts[1]) / seq),
    }


def print_speed(rows: list[dict]) -> None:
    length = rows[0]["length"]
    print(f"\n{length} tokens")
    for row in rows:
        wanted = WANTED.get(length) if row["variant"] == "tree_fine" else None
        print(
            f"  {row['variant']:30} {1e3 * row['seconds']:9.1f} ms  {row['speedup']:5.2f}x full"
            f" ({row['processor_speedup']:.2f}x by processor time)"
            f"  pairs {row['pairs']:7.2%}  largest leaf {row['largest_leaf']:6.1%}"
            + (f"  wanted {wanted}x" if wanted else ""),
            flush=True,
        )


def flops(kind: str, length: int, hidden: int, at_once: bool = False, pairs=None) -> float:
    """Of the attention of one layer without projections; a multiplication and an addition are two.

    Args:
        kind: "full", "tree_fine" or "tree_coarse", with binary trees of HEIGHT.
        length: tokens.
        hidden: width.
        at_once: whether to count the nodes off the path that are scored here nevertheless.
        pairs: share of the pairs that fall into one leaf; None: balanced leaves.
    """
    if kind == "full":
        return all_pairs_flops(hidden, length)
    options = {} if pairs is None else {"pairs": pairs}
    layer = attention.get(kind).attention
    return layer.tree_flops(TreeShape.of(HEIGHT), length, hidden, at_once, **options)


def flops_of_all_nodes(length: int, hidden: int) -> float:
    """Of TC-Attention, with each query and key scored at every node, as in training."""
    levels = TreeShape.of(HEIGHT).levels
    off_the_path = sum((level.nodes - 1) * level.scores for level in levels)
    return flops("tree_coarse", length, hidden) + 4 * length * hidden * off_the_path


def flops_of_variant(name: str, length: int, hidden: int, heads: int) -> float:
    """Of a variant of OTHERS."""
    config = attention.AttentionConfig(name=name, **OTHERS[name])
    return attention.get(name).attention.flops(config, heads, hidden, length)


def profiled_flops(kind: str, length: int, hidden: int, heads: int) -> float:
    """What TensorFlow's profiler counts in `attend`; it does not know sums over segments.

    Only for static shapes: not for `tree_fine`, whose blocks depend on the leaves.
    """
    options = {"tree_height": HEIGHT} if kind.startswith("tree") else {}
    config = attention.AttentionConfig(name=kind, **options)
    layer = attention.get(kind).attention(config, heads, hidden_size=hidden)
    layer.build([None, None, hidden])
    ones = tf.ones([1, length], tf.int32)
    context = attention.TableContext(0 * ones, 0 * ones, 0 * ones, ones)
    pattern = attention.get(kind).pattern(config, heads)(context)
    part = tf.TensorSpec([1, length, heads, hidden // heads])
    attend = tf.function(functools.partial(layer.attend, pattern=pattern), autograph=False)
    concrete = attend.get_concrete_function(part, part, part)
    return formulas.count_graph(concrete.graph).everything


def measure_flops() -> list[dict]:
    """FLOPs relative to full attention, of each task of Table 11."""
    results = []
    for task, (length, hidden, heads) in LRA.items():
        full = flops("full", length, hidden)
        profiled = profiled_flops("full", length, hidden, heads)
        row = {"task": task, "length": length, "profiler_over_formula_full": profiled / full}
        for kind in ("tree_fine", "tree_coarse"):
            row[kind] = flops(kind, length, hidden) / full
            row[f"{kind}_as_done"] = flops(kind, length, hidden, at_once=True) / full
        row["tree_coarse_all_nodes"] = flops_of_all_nodes(length, hidden) / full
        for name in OTHERS:
            row[name] = flops_of_variant(name, length, hidden, heads) / full
        sums = length * hidden  # which the profiler does not know
        coarse = profiled_flops("tree_coarse", length, hidden, heads) + sums
        row["tree_coarse_profiler"] = coarse / profiled
        results.append(row)
    mean = {
        key: statistics.mean(row[key] for row in results) for key in results[0] if key != "task"
    }
    results.append(mean | {"task": "mean"})
    print(
        "\nFLOPs of the attention relative to full (paper: TF-A 34.18 %, TC-A 3.05 % on the mean)"
    )
    columns = [key for key in results[0] if key.startswith("tree") or key in OTHERS]
    print("  " + " " * 10 + "".join(f"{column:>24}" for column in columns))
    for row in results:
        print(f"  {row['task']:10}" + "".join(f"{row[column]:24.3%}" for column in columns))
    return results


def main() -> None:
    args = arguments()

    common.limit_threads(args.threads, args.threads)
    if args.parts:
        measure_parts(args)
        return
    results = {"flops": measure_flops(), "speed": measure_speed(args)}
    figure = profile_report.plot(results["speed"], "speedup", "times faster")
    common.write(args, "treeformer_speed", results, figure)


if __name__ == "__main__":
    main()
