"""Which attention variants and heads lower to TPU programs, forward and as a whole training step.

    python -m venv tpu && tpu/bin/pip install …      # see tests/tpu/requirements.txt
    tpu/bin/python benchmarks/tpu_lowering.py                   # every variant, every head, once
    tpu/bin/python benchmarks/tpu_lowering.py --matrix          # every variant with every head
    tpu/bin/python benchmarks/tpu_lowering.py --bfloat16 --variants tree_fine --heads cells

No TPU is needed: TensorFlow's bridge to XLA makes the HLO of a program with TPU kernels only, as it
does when a TPU worker compiles a step; variables are arguments there (`variables_as_arguments`).
Here that is `task.validation_step` with its metrics, and `task.train_step`: loss, gradients, the
optimizer's update and metrics. What has no TPU kernel fails there. HLO with sizes that are known
only when it runs, or that talks to the host, is refused too: a TPU pads the one to its bound and
stops for the other. What libtpu makes of the HLO, and how fast it is, only a TPU tells.
"""

import argparse
import collections
import os
import re
import sys
import time
from typing import NamedTuple

import common

os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")  # libtpu would look for its TPU for minutes

BATCH, LENGTH, TARGET, VOCABULARY, MASKED = 2, 256, 8, 512, 8
ENCODER = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": LENGTH,
    "type_vocab_sizes": [3, 64, 64, 2, 64, 64, 10],
}
SMALL = {"global_length": 16, "radius": 8, "tree_height": 3, "length": LENGTH}
"""Options of those variants that have them: small enough for buckets and blocks at LENGTH / 4."""

FORMS = {
    "mate_exact, windowed": ("mate_exact", {"windowed": True}),
    "mate_efficient, two radii": ("mate_efficient", {"row_radius": 4, "diagonal": False}),
    "tree_fine, untrained trees": ("tree_fine", {"train_trees": False}),
    "tree_fine, balanced forest": ("tree_fine", {"num_trees": 2, "balancing_loss": 0.1}),
    "tree_fine, k-ary": ("tree_fine", {"branching": [4, 4]}),
    "tree_coarse, untrained trees": ("tree_coarse", {"train_trees": False}),
    "tree_coarse, k-ary": ("tree_coarse", {"branching": [4, 4]}),
    "learned_mask, DAM": ("learned_mask", {"objective": "dam"}),
    "learned_mask, structured DAM": ("learned_mask", {"objective": "dam", "structured": True}),
    "static_mask, blocks": ("static_mask", {"mask": "longformer", "form": "blocks"}),
    "static_mask, bigbird": ("static_mask", {"mask": "bigbird", "form": "masked"}),
}
"""Options of registered variants that make another program of them."""


class Head(NamedTuple):
    """A task, whose heads and losses are lowered, with changes to its experiment."""

    task: str
    model: dict | None = None
    optimizer: dict | None = None


_AVERAGE = "average_approximation_function"
HEADS = {
    "cells": Head("SQA", {"select_one_column": False}),
    "cells, averaged logits": Head(
        "SQA", {"select_one_column": False, "average_logits_per_cell": True}
    ),
    "column and cells": Head("SQA"),
    "column, may be empty": Head("SQA", {"allow_empty_column_selection": True}),
    "cell softmax": Head("HYBRIDQA"),
    "cell softmax, or no cell": Head("HYBRIDQA", {"allow_empty_column_selection": True}),
    "cell softmax, hard EM": Head("HYBRIDQA", {"cell_cross_entropy_target": "hard_em"}),
    "cell softmax, uniform": Head("HYBRIDQA", {"cell_cross_entropy_target": "uniform"}),
    "aggregation": Head("WIKISQL_SUPERVISED"),
    "aggregation by answer": Head("WTQ"),
    "aggregation by answer, first order": Head("WTQ", {_AVERAGE: "first_order"}),
    "aggregation by answer, second order, Gumbel": Head(
        "WTQ",
        {_AVERAGE: "second_order", "use_gumbel_for_cells": True, "use_gumbel_for_agg": True},
    ),
    "class of a table": Head("TABFACT"),
    "class, hidden layers, max pooling": Head(
        "TABFACT", {"classification_hidden_sizes": [32], "encoder": {"pooling": "max"}}
    ),
    "class of a sequence": Head("RTE"),
    "number": Head("STS-B"),
    "multiple choice": Head("SWAG"),
    "two towers": Head("LRA_RETRIEVAL"),
    "span": Head("HYBRIDQA_RC", {"span_prediction": "span"}),
    "span by boundaries": Head("HYBRIDQA_RC", {"span_prediction": "boundary"}),
    "reader": Head("HYBRIDQA_RC"),
    "reader, or no answer": Head("SQUAD"),
    "pre-training": Head("PRETRAIN"),
    "pre-training on text": Head("TEXT_PRETRAIN"),
    "masked words only": Head("TEXT_PRETRAIN", {"next_sentence": False}),
    "text from text": Head("SUMMARIZE", {"num_decoder_layers": 1}),
    "cells, accumulated gradients": Head("SQA", optimizer={"gradient_accumulation_steps": 2}),
    "cells, positions in cells": Head("SQA", {"encoder": {"reset_position_index_per_cell": True}}),
}
PARTS = ("forward", "training")
A_VARIANT, A_HEAD = "mate_efficient", "column and cells"
"""What all others are lowered with, unless it is with all."""

DEVICE = "XLA_TPU_JIT"
"""What TensorFlow's kernels for TPU programs are registered for."""

_OF_DYNAMIC_SHAPE = re.compile(r"\w+\[[\d,]*<=")
_OF_HOST = re.compile(r" (infeed|outfeed|send|recv|custom-call)\(.*")


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--variants", nargs="+", help="registered names or FORMS; default: all")
    parser.add_argument("--heads", nargs="+", choices=HEADS, metavar="HEAD", default=list(HEADS))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--matrix", action="store_true", help="all variants with all heads")
    parser.add_argument(
        "--layers", type=int, default=ENCODER["num_hidden_layers"], help="layers of each encoder"
    )
    parser.add_argument("--bfloat16", action="store_true", help="in mixed precision")
    return parser.parse_args()


def variants() -> list[str]:
    """All registered variants, and other forms of them."""
    from mate_tf import attention

    return [*attention.names(), *FORMS]


def pairs(of_variants, of_heads, matrix: bool) -> list[tuple[str, str]]:
    """(variant, head) to lower; without `matrix` each variant and each head once or twice."""
    if matrix or len(of_variants) == 1 or len(of_heads) == 1:
        return [(variant, head) for variant in of_variants for head in of_heads]
    variant = A_VARIANT if A_VARIANT in of_variants else of_variants[0]
    head = A_HEAD if A_HEAD in of_heads else of_heads[0]
    both = [(each, head) for each in of_variants] + [(variant, each) for each in of_heads]
    return list(dict.fromkeys(both))


def attention_config(variant: str):
    """The small AttentionConfig of a registered name or one of FORMS."""
    from mate_tf.attention.config import AttentionConfig, option_names

    name, options = FORMS.get(variant, (variant, {}))
    small = {key: value for key, value in SMALL.items() if key in option_names(name)}
    return AttentionConfig(name=name, **small | options)


def make_task(variant: str, head: str):
    """(task, optimizer config) of a small experiment."""
    from mate_tf import tasks
    from mate_tf.training import experiments

    task, model, optimizer = HEADS[head]
    model = model or {}
    experiment = tasks.experiment(task)
    encoder = {**ENCODER, **model.get("encoder", {}), "attention": attention_config(variant)}
    config = experiment.task
    config.conversion.max_seq_length = LENGTH
    config.model.override({**model, "encoder": encoder})
    optimization = experiments.resolve(experiment).trainer.optimizer_config
    if optimizer:
        optimization.optimizer.override({"bert_adamw": optimizer})
    return tasks.create(config), optimization


def specs(task) -> dict:
    """The batch that a task's steps take."""
    import tensorflow as tf

    from mate_tf.data import features
    from mate_tf.models.pretrainer import PretrainerConfig

    found = {}
    labels = set(task.label_names())
    for feature in features.ALL:
        if feature in features.MODEL_INPUTS or feature.name in labels:
            size = LENGTH if feature.per_token else feature.size
            dtype = tf.int32 if feature.dtype == "int64" else tf.as_dtype(feature.dtype)
            found[feature.name] = tf.TensorSpec([BATCH, size], dtype)
    if isinstance(task.task_config.model, PretrainerConfig):
        for name in ("masked_lm_positions", "masked_lm_ids"):
            found[name] = tf.TensorSpec([BATCH, MASKED], tf.int32)
        found["masked_lm_weights"] = tf.TensorSpec([BATCH, MASKED], tf.float32)
        found["next_sentence_labels"] = tf.TensorSpec([BATCH, 1], tf.int32)
    if task.capabilities.writes_text:
        found["target_ids"] = tf.TensorSpec([BATCH, TARGET], tf.int32)
    return found


def steps(task, optimization, parts) -> dict:
    """Part -> function of a batch, over one model with all its variables."""
    import tensorflow as tf

    model = task.build_model()
    metrics = task.build_metrics()
    found = {}
    if "forward" in parts:
        found["forward"] = lambda batch: task.validation_step(batch, model, metrics)
    if "training" in parts:
        optimizer = task.create_optimizer(optimization)
        # A program has no place for making variables: one step makes the optimizer's.
        optimizer.apply_gradients([(tf.zeros_like(v), v) for v in model.trainable_variables])
        found["training"] = lambda batch: task.train_step(batch, model, optimizer, metrics)
    return found


def why_not(function, *of_arguments) -> str | None:
    """None if a function lowers for TPUs, else the reason, in one line.

    Args:
        function: of tensors; it may read and assign variables.
        *of_arguments: TensorSpecs, nested like its arguments.
    """
    import tensorflow as tf
    import variables_as_arguments

    try:
        step = variables_as_arguments.Step(function, *of_arguments)
        compiled = tf.function(step.call, jit_compile=True, autograph=False)
        zeros = tf.nest.map_structure(lambda spec: tf.zeros(spec.shape, spec.dtype), of_arguments)
        lowered = compiled.experimental_get_compiler_ir(zeros, step.values())
        reason = of_unsafe(lowered(stage="hlo", platform_name="TPU"))
    except Exception as error:
        # Whatever it is: tracing and the bridge to XLA raise errors of many kinds.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return f"{type(error).__name__}: {lines[0] if lines else ''}"
    missing = sorted(
        each for each in step.operations if not variables_as_arguments.has_kernel(each, DEVICE)
    )
    return reason or (f"no TPU kernel of {', '.join(missing)}" if missing else None)


def of_unsafe(hlo: str) -> str | None:
    """What in an HLO text a TPU would pad or stop for; None if there is nothing."""
    for line in hlo.splitlines():
        if _OF_DYNAMIC_SHAPE.search(line):
            return f"dynamic shape: {_shortened(line)}"
        if _OF_HOST.search(line):
            return f"left to the host or unknown: {_shortened(line)}"
    return None


def _shortened(line: str) -> str:
    operation = re.search(r'op_name="([^"]*)"', line)
    return f"{line.strip()[:120]} ({operation[1] if operation else 'no op name'})"


def measure(args) -> list[dict]:
    from mate_tf.layers.framework import keras

    ENCODER["num_hidden_layers"] = args.layers
    precision = "mixed_bfloat16" if args.bfloat16 else "float32"
    keras.mixed_precision.set_global_policy(precision)
    results = []
    for variant, head in pairs(args.variants or variants(), args.heads, args.matrix):
        keras.backend.clear_session()
        task, optimization = make_task(variant, head)
        batch = specs(task)
        for part, step in steps(task, optimization, args.parts).items():
            start = time.monotonic()
            reason = why_not(step, batch)
            row = {"variant": variant, "head": head, "part": part, "precision": precision}
            row |= {"lowers": reason is None, "reason": reason}
            results.append(row | {"seconds": round(time.monotonic() - start, 2)})
            said = "lowers" if reason is None else f"does NOT lower: {reason}"
            print(f"{variant} | {head} | {part}: {said}", flush=True)
    return results


def table(results: list[dict]) -> str:
    """Markdown: variants by heads, in each cell a letter for each part that lowers, else no."""
    found = collections.defaultdict(dict)
    for row in results:
        cell = row["part"] if row["lowers"] else f"{row['part']} NOT"
        found[row["variant"], row["head"]][row["part"]] = cell
    of_variants = list(dict.fromkeys(row["variant"] for row in results))
    of_heads = list(dict.fromkeys(row["head"] for row in results))
    lines = [["", *of_heads], ["---"] * (len(of_heads) + 1)]
    for variant in of_variants:
        cells = (", ".join(found[variant, head].values()) for head in of_heads)
        lines.append([variant, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    args = arguments()
    results = measure(args)
    common.write(args, f"tpu_lowering{'_bfloat16' if args.bfloat16 else ''}", results)
    print(f"\n{table(results)}\n")
    lowered = sum(row["lowers"] for row in results)
    print(f"{lowered} of {len(results)} programs lower")
    sys.exit(0 if lowered == len(results) else 1)


if __name__ == "__main__":
    main()
