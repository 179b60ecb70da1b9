"""Time of attention under static masks against full attention, by blocks and by mask.

    python benchmarks/static_masks_speed.py
    python benchmarks/static_masks_speed.py --lengths 2048 --variants banded scattered

The core of one layer alone, without its projections: 12 heads of 64, batch 1, float32. What is
computed once a batch for all layers (the pattern) is timed apart. Variants take turns within each
repetition and medians are compared, so that a busy machine slows all of them alike; processor time
tells more than the clock there.

Cases are the masks of figure 1 of the SparseBERT paper and masks such as DAM_s learns: first and
last token, and diagonals that form a band (of one width, or of another in each head) or lie
anywhere; half of the heads with a band and half with diagonals anywhere (mixed); and the band with
its positions permuted. `random` has single pairs anywhere, as pruning can leave them. `, rows` is
the form of that name (needs Numba).
"""

import argparse
import functools
import pathlib
import tempfile

import common
import numpy as np
import tensorflow as tf

from mate_tf import attention
from mate_tf.analysis.cost import profile_report, speed
from mate_tf.attention import AttentionConfig, mask_blocks, mask_files

LENGTHS = (512, 1024, 2048, 4096)
HEADS, HEAD_SIZE = 12, 64
SEEN = 0.09
"""Share of the pairs in the learned masks: a sparsity above 90 %."""

NAMED = ("star", "logsparse", "strided", "fixed", "longformer", "bigbird")
WANTED = {("banded", 2048): 1.8, ("banded", 4096): 2.5}
WANTED |= {("scattered, rows", length): 1.2 for length in (2048, 4096)}
WITH_ROWS = ("scattered", "scattered by head", "random", "mixed", "permuted band")
"""Masks that are computed in the form "rows", too."""


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--variants", nargs="+", help="only these, and full")
    parser.add_argument("--form", default="auto", choices=("auto", "masked", "blocks", "rows"))
    return parser.parse_args()


def structured_mask(on):
    """First and last token and the diagonals that are on; <bool>[heads, n, n] of [heads, n]."""
    n = on.shape[1]
    i, j = np.indices([n, n])
    return on[:, abs(i - j)] | (i % (n - 1) == 0) | (j % (n - 1) == 0)


def learned_masks(n: int) -> dict:
    """Name -> <bool>[1 or heads, n, n] with SEEN of the pairs seen, but for the ends."""
    # a band of half-width w has a share of about 2 w / n - (w / n)^2 of the pairs
    half_width = n * (1 - np.sqrt(1 - SEEN))
    distance = np.arange(n)
    widths = half_width * np.linspace(0.5, 1.5, HEADS)
    rng = np.random.default_rng(0)

    def scattered(heads):
        # one distance of each stretch: their diagonals have lengths of all kinds, so equal shares
        stretches = np.arange(int(n * SEEN))
        chosen = (stretches + rng.random([heads, len(stretches)])) / SEEN
        return (chosen.astype(int)[:, :, None] == distance).any(1)

    by_head = structured_mask(scattered(HEADS))
    banded = structured_mask((distance < half_width)[None])
    order = rng.permutation(n)
    return {
        "banded": banded,
        "banded by head": structured_mask(distance < widths[:, None]),
        "scattered": structured_mask(scattered(1)),
        "scattered by head": by_head,
        "mixed": np.concatenate([by_head[: HEADS // 2], np.repeat(banded, HEADS // 2, 0)]),
        "permuted band": banded[:, order][:, :, order],
        "random": rng.random([1, n, n]) < SEEN,
    }


def cases(n: int, args, folder) -> dict:
    """Name -> config."""
    found = {"full": AttentionConfig(name="full")}
    masks = dict.fromkeys(NAMED) | learned_masks(n)
    for name, mask in masks.items():
        if args.variants and name not in args.variants:
            continue
        path = name
        if mask is not None:
            path = str(pathlib.Path(folder) / f"{name} {n}.npz")
            mask_files.save(path, mask)
        found[name] = AttentionConfig(name="static_mask", mask=path, form=args.form)
        if name in WITH_ROWS:
            found[f"{name}, rows"] = found[name].replace(form="rows")
    return found


def form_of(pattern, n: int) -> str:
    """How the heads are computed."""
    forms = (part.form for part in pattern.parts(n))
    names = {type(None): "mask", mask_blocks.Plan: "blocks"}
    return "+".join(names.get(type(form), "rows") for form in forms)


def make(config, n: int):
    """(attention of projections under a pattern, its pattern, how it was computed)."""
    variant = attention.get(config.name)
    pattern = variant.pattern(config, HEADS)
    layer = variant.attention(config, HEADS, hidden_size=HEADS * HEAD_SIZE)
    ones = tf.ones([1, n], tf.int32)
    context = attention.TableContext(0 * ones, 0 * ones, 0 * ones, ones)
    prepare = tf.function(lambda: pattern(context), autograph=False)
    form = form_of(pattern, n) if config.name == "static_mask" else "mask"
    return tf.function(layer.attend, autograph=False), prepare, form


def tensors(pattern) -> list:
    """The tensors of a pattern, whose parts may be None."""
    return [part for part in tf.nest.flatten(pattern) if part is not None]


def measure(args) -> list[dict]:
    """Median seconds of each case and length."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for n in args.lengths:
            projections = [
                tf.random.stateless_normal([1, n, HEADS, HEAD_SIZE], [part, n]) for part in range(3)
            ]
            configs = cases(n, args, folder)
            made = {name: make(config, n) for name, config in configs.items()}
            patterns = {name: prepare() for name, (_, prepare, _) in made.items()}
            calls = {
                name: functools.partial(attend, *projections, patterns[name])
                for name, (attend, _, _) in made.items()
            }
            medians = common.in_turns(calls, args.repeats, warm_up=2)
            rows = []
            for name, (clock, worked) in medians.items():
                preparing = speed.seconds(lambda prepare=made[name][1]: tensors(prepare()))[1]
                rows.append(
                    {
                        "length": n,
                        "variant": name,
                        "form": made[name][2],
                        "seconds": clock,
                        "processor_seconds": worked,
                        "pattern_processor_seconds": preparing,
                    }
                )
            common.add_speedup(rows, rows[0])
            report(rows)
            results += rows
    return results


def report(rows: list[dict]) -> None:
    print(f"\n{rows[0]['length']} tokens")
    for row in rows:
        wanted = WANTED.get((row["variant"], row["length"]))
        print(
            f"  {row['variant']:23} {row['form']:11} {1e3 * row['seconds']:9.1f} ms"
            f"  {row['speedup']:5.2f}x full ({row['processor_speedup']:.2f}x by processor time)"
            f"  pattern {1e3 * row['pattern_processor_seconds']:.0f} ms"
            + (f"  wanted {wanted:.2f}x" if wanted else ""),
            flush=True,
        )


def main() -> None:
    args = arguments()

    common.limit_threads(args.threads)
    results = measure(args)
    figure = profile_report.plot(results, "speedup", "times as fast as full")
    common.write(args, "static_masks_speed", results, figure)


if __name__ == "__main__":
    main()
