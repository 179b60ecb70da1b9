"""What the bound LEAST_MASS of TF-Attention's gradients changes: gradients, and what is learned.

    python benchmarks/least_mass.py

The gradient of a tree by the paper's formula divides by a leaf's share of a query's attention. The
bound limits that to 1 / LEAST_MASS (`mate_tf.attention.tree_fine`); the paper has none. Trees in
all layers from the first step on, without bootstrapping, on recall of a value in 31 symbols, at
least 8 away. Prints, for each bound, norms of the gradient of one layer's trees on a fixed batch,
every ten steps, and the accuracy on the dev split. What is done already is not done again: killed,
the same command goes on. Other steps need another `--data`.
"""

import argparse
import pathlib
import statistics
from unittest import mock

import common

from mate_tf.attention import tree_fine
from mate_tf.cli.work import create_data, train
from mate_tf.training import layer_log

NONE = 1e-9
"""No bound: below it a share has no meaning in float32."""
BOUNDS = (NONE, 0.1)
METRIC = "class_accuracy"
LOOP = 10
"""Steps between two lines of the log of gradients."""


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--bounds", nargs="+", type=float, default=list(BOUNDS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--tree_height", type=int, default=4)
    parser.add_argument("--config", default=str(common.CONFIGS / "associative_recall.yaml"))
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("out/least_mass"))
    return parser.parse_args()


def job(options, model_dir: pathlib.Path, seed: int):
    """The command line's job of one training."""
    loop = min(LOOP, options.steps)
    return common.job(
        *(f"--config_file={options.config}", f"--output_dir={options.data}"),
        *(f"--model_dir={model_dir}", f"--num_train_steps={options.steps}"),
        *("--attention=tree_fine", f"--tf_random_seed={seed}"),
        f"--params_override=task.model.encoder.attention.tree_height={options.tree_height}",
        "--params_override=task.generation.length=31,task.generation.min_distance=8,"
        "task.conversion.max_seq_length=32",
        f"--params_override=task.train_data.seed={seed},trainer.layer_log_interval={loop},"
        f"trainer.steps_per_loop={loop},trainer.summary_interval={loop},"
        f"trainer.validation_interval={options.steps}",
    )


def measure(options, bound: float, seed: int) -> dict:
    """Trains with one bound, if that is not done; returns the largest norm and the accuracy."""
    model_dir = options.data / "runs" / f"{bound:g}_{seed}"
    of_run = job(options, model_dir, seed)
    if not (options.data / "tf_examples" / "dev.tfrecord").exists():
        create_data(of_run)
    with mock.patch.object(tree_fine, "LEAST_MASS", bound):
        train(of_run)
    lines = layer_log.read(str(model_dir))
    norms = [
        layer["tree_gradient_norm"]
        for line in lines
        for layer in line.get("layers", [])
        if layer.get("tree_gradient_norm") is not None
    ]
    accuracies = [line["validation"][METRIC] for line in lines if "validation" in line]
    return {"largest": max(norms), "median": statistics.median(norms), METRIC: accuracies[-1]}


def table(results: dict[float, list[dict]]) -> str:
    """A line for each bound: the norms of all seeds together, the accuracy of each seed."""
    lines = [f"{'LEAST_MASS':12}{'median norm':>12}{'largest':>10}{'accuracy, %':>13}   each"]
    for bound, runs in results.items():
        accuracies = [100 * run[METRIC] for run in runs]
        lines.append(
            f"{'none' if bound == NONE else f'{bound:g}':12}"
            f"{statistics.median(run['median'] for run in runs):12.3g}"
            f"{max(run['largest'] for run in runs):10.3g}{statistics.mean(accuracies):13.1f}   "
            + "  ".join(f"{value:.1f}" for value in accuracies)
        )
    return "\n".join(lines)


def main() -> None:
    options = arguments()
    results = {}
    for bound in options.bounds:
        results[bound] = [measure(options, bound, seed) for seed in options.seeds]
        print(f"\n{table(results)}\n", flush=True)
    common.write(options, "least_mass", {f"{bound:g}": runs for bound, runs in results.items()})


if __name__ == "__main__":
    main()
