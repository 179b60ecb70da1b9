"""Do trees learn better when they are bootstrapped? ListOps, and recall of what stands far away.

    python benchmarks/treeformer_learning.py
    python benchmarks/treeformer_learning.py --tasks listops --seeds 0      # a part; the rest later

Tree attention (TF-A and TC-A) in all layers from the first step on, the same with Treeformer's 2-D
bootstrapping (paper, Algorithm 1), bootstrapped TF-A with balanced leaves, and full attention, all
for the same number of steps. Sequences have up to 512 tokens in ListOps and 128 in the other task.
What is done already is not done again: killed, the same command goes on. `--threads 1` twice, once
for each of the `--tasks`, uses two cores; once more with both prints all results.
`--params_override` goes to every run; others need another `--data`.
"""

import argparse
import pathlib
import statistics

import common

from mate_tf.analysis.plots import training as training_plots
from mate_tf.training import bootstrap

TASKS = {"listops": ("listops_small.yaml", 400), "recall": ("associative_recall.yaml", 1000)}
"""Configuration and steps of each run, all stages together."""
BEFORE = {"tree_fine": 0.3, "tree_coarse": 0.0}
"""Share of the steps with full attention first: TF-A chooses among what full attention compares, so
it goes on from there; TC-A compares nothing and has to learn anew (chosen with seed 9)."""
PER_STAGE = 0.06
"""Share of the steps of each stage but the last."""
TREES = ("tree_fine", "tree_coarse")
FULL = "full"
BOOTSTRAPPED = "{}, bootstrapped"
BALANCED = "tree_fine, bootstrapped, balanced"
VARIANTS = (FULL, *(name for tree in TREES for name in (tree, BOOTSTRAPPED.format(tree))), BALANCED)
BALANCING_LOSS, LAYER_WIDTH = 0.02, 2
METRIC = "class_accuracy"


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--steps", type=int, help="of each run instead of the task's")
    parser.add_argument("--tree_height", type=int, default=6)
    parser.add_argument("--params_override", action="append", default=[])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--data", type=pathlib.Path, default=pathlib.Path("out/treeformer_learning")
    )
    return parser.parse_args()


def run(options, task: str, mode: str, *flags) -> None:
    """One mode of the command line; trainings resume by themselves."""
    common.run(
        mode,
        f"--config_file={common.CONFIGS / TASKS[task][0]}",
        f"--output_dir={options.data / task}",
        *common.overrides(options.params_override),
        *flags,
        threads=options.threads,
    )


def train(options, task: str, variant: str, seed: int) -> list[dict]:
    """The lines of layers.jsonl of a run, which is trained as far as it is not yet."""
    if not (options.data / task / "tf_examples" / "dev.tfrecord").exists():
        run(options, task, "create_data")
    name, *kinds = variant.split(", ")
    model_dir = options.data / task / "runs" / f"{variant.replace(', ', '_')}_{seed}"
    lines, steps = read_lines(model_dir), steps_of(options, task)
    if accuracy(lines, steps) is None:
        height = f",task.model.encoder.attention.tree_height={options.tree_height}"
        overrides = [
            f"task.train_data.seed={seed},trainer.validation_interval={steps},"
            f"trainer.layer_log_interval={max(1, steps // 40)}",
            f"task.model.encoder.attention.name={name}{height if name in TREES else ''}",
        ]
        if "balanced" in kinds:
            key = "task.model.encoder.attention.balancing_loss"
            overrides.append(f"{key}={BALANCING_LOSS}")
        if "bootstrapped" in kinds:
            overrides.append(
                f"bootstrap.layer_width={LAYER_WIDTH},bootstrap.start_height=0,"
                f"bootstrap.steps_before={round(BEFORE[name] * steps)},"
                f"bootstrap.steps_per_stage={round(PER_STAGE * steps)}"
            )
        run(
            options,
            task,
            "train",
            f"--model_dir={model_dir}",
            f"--num_train_steps={steps}",
            f"--tf_random_seed={seed}",
            *(f"--params_override={each}" for each in overrides),
        )
        lines = read_lines(model_dir)
    return lines


def steps_of(options, task: str) -> int:
    return options.steps or TASKS[task][1]


def read_lines(model_dir: pathlib.Path) -> list[dict]:
    return bootstrap.read_log(str(model_dir))


def accuracy(lines: list[dict], steps: int) -> float | None:
    """On the dev split after the last step; None before that."""
    found = [line for line in lines if "validation" in line and line["step"] == steps]
    return found[-1]["validation"][METRIC] if found else None


def differences(results: dict[str, list[float]]) -> dict[str, list[float]]:
    """With bootstrapping minus without, and with balanced leaves, seed by seed."""
    pairs = {tree: BOOTSTRAPPED.format(tree) for tree in TREES}
    pairs[BOOTSTRAPPED.format("tree_fine")] = BALANCED
    return {
        tree: [a - b for a, b in zip(results[with_it], results[tree], strict=True)]
        for tree, with_it in pairs.items()
        if tree in results and with_it in results
    }


def row(title: str, values: list[float], sign: str = "") -> str:
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    each = "  ".join(f"{100 * value:{sign}.1f}" for value in values)
    return f"{title:36}{100 * statistics.mean(values):{sign}7.1f}{100 * deviation:7.1f}   {each}"


def table(task: str, results: dict[str, list[float]], options) -> str:
    """A line for each variant, and for what bootstrapping and balancing give."""
    seeds = ", ".join(map(str, options.seeds))
    lines = [
        f"{task}, % of the dev split after {steps_of(options, task)} steps, seeds {seeds}",
        f"{'':36}{'mean':>7}{'s.d.':>7}   each",
        *(row(variant, values) for variant, values in results.items()),
        *(
            row(f"{tree}: with minus without", values, "+")
            for tree, values in differences(results).items()
        ),
    ]
    return "\n".join(lines)


def plot(runs: dict[str, list[dict]], stem: str) -> None:
    """Loss with the jumps at each stage, gradient norms, leaves: figures 2 to 5 of the paper."""
    figures = {
        "loss": training_plots.loss_curves(runs, METRIC),
        "gradients": training_plots.gradient_norms(runs),
    }
    for title, lines in runs.items():
        last = [line["layers"] for line in lines if "layers" in line][-1]
        if any("leaf_shares" in layer for layer in last):
            figures[f"{title.replace(', ', '_')}_leaves"] = training_plots.leaf_distribution(lines)
    for name, figure in figures.items():
        figure.savefig(f"{stem}_{name}.png", dpi=120)
        print(f"written | {stem}_{name}.png")


def main() -> None:
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    content = {"seeds": list(options.seeds), "tasks": {}}
    for task in options.tasks:
        logs = {
            variant: [train(options, task, variant, seed) for seed in options.seeds]
            for variant in options.variants
        }
        results = {
            variant: [accuracy(lines, steps_of(options, task)) for lines in of_seeds]
            for variant, of_seeds in logs.items()
        }
        print(f"\n{table(task, results, options)}\n", flush=True)
        content["tasks"][task] = {
            "steps": steps_of(options, task),
            METRIC: results,
            "with minus without": differences(results),
        }
        stem = str(options.output / f"treeformer_learning_{task}")
        first = {variant: of_seeds[0] for variant, of_seeds in logs.items()}
        plot(first, stem)
    common.write(options, "treeformer_learning", content)


if __name__ == "__main__":
    main()
