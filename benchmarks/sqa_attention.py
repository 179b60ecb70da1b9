"""SQA after the same steps from nothing with MATE, MATE with trees, and learned relations.

    python benchmarks/sqa_attention.py --input_dir data/sqa --bert_vocab_file vocab.txt

The configurations are sqa_small, sqa_mate_tree (row heads, and decision trees in place of column
heads) and sqa_relation_mask (heads learn which relations of a table they attend to). What their
schedules have in 4,000 steps is scaled to --steps. Prints the accuracies on dev and test beside the
baselines with 95 % intervals, writes JSON and a plot. What is done already is not done again:
killed, the same command goes on.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from mate_tf.evaluation.metrics import confidence_interval  # noqa: E402
from mate_tf.files.atomic import write_json  # noqa: E402

FULL_STEPS = 4000  # of the configurations
VARIANTS = {
    "mate_efficient": ("sqa_small", {}),
    "mate_tree": ("sqa_mate_tree", {"bootstrap.steps_before": 1000}),
    "relation_mask": (
        "sqa_relation_mask",
        {"task.model.encoder.attention.temperature_steps": 3000},
    ),
}
TRAINED = ("model", "given gold answers")
"""Columns of metrics.json that are no baselines."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--input_dir", required=True, help="folder of the official SQA files")
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("out/sqa_small"))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    return parser.parse_args()


def run(options, config: str, mode: str, *flags) -> None:
    """One mode of the command line; trainings resume by themselves."""
    command = [
        *(sys.executable, str(ROOT / "run_task_main.py"), f"--mode={mode}"),
        *(f"--config_file={ROOT / 'configs' / config}.yaml", f"--output_dir={options.data}"),
        *(f"--input_dir={options.input_dir}", f"--bert_vocab_file={options.bert_vocab_file}"),
        *flags,
    ]
    print("run |", " ".join(command[1:]), flush=True)
    subprocess.run(command, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}, check=True)


def settings(options, scaled: dict[str, int]) -> str:
    """The overrides of a training of --steps; `scaled` is in steps of FULL_STEPS."""
    values = {
        key: steps * options.steps // FULL_STEPS
        for key, steps in (scaled | {"task.train_data.curriculum_steps": 1000}).items()
    }
    interval = max(options.steps // 12, 1)
    values |= {
        "trainer.validation_interval": options.steps,
        "trainer.steps_per_loop": interval,
        "trainer.summary_interval": interval,
        "trainer.checkpoint_interval": interval * 2,
        "task.train_data.seed": options.seed,
    }
    return ",".join(f"{key}={value}" for key, value in values.items())


def measure(options, name: str) -> dict:
    """Scores by split, title and system; trains the variant first if that is not done."""
    config, scaled = VARIANTS[name]
    model_dir = options.data / "attention" / f"{name}_{options.steps}_{options.seed}"
    result = model_dir / "metrics.json"
    if not (options.data / "tf_examples" / "train.tfrecord").exists():
        run(options, config, "create_data")
    if not result.exists():
        flags = (
            *(f"--model_dir={model_dir}", f"--num_train_steps={options.steps}"),
            *(f"--tf_random_seed={options.seed}", f"--params_override={settings(options, scaled)}"),
        )
        run(options, config, "train", *flags)
        run(options, config, "predict_and_evaluate", *flags)
    return json.loads(result.read_text())


def table(results: dict) -> list[dict]:
    """Rows of split and system: ALL with its interval, SEQ, the number of questions; in %."""
    rows = []
    first = next(iter(results.values()))
    for split in first:
        systems = {name: found[split]["SQA"]["model"] for name, found in results.items()}
        systems |= {name: v for name, v in first[split]["SQA"].items() if name not in TRAINED}
        for system, values in systems.items():
            count = values["questions"]
            low, high = confidence_interval(round(values["ALL"] * count), count)
            row = {"split": split, "system": system, "questions": count}
            shares = {"ALL": values["ALL"], "low": low, "high": high, "SEQ": values["SEQ"]}
            rows.append(row | {name: 100 * share for name, share in shares.items()})
    return rows


def print_table(rows: list[dict]) -> None:
    split = None
    for row in rows:
        if row["split"] != split:
            split = row["split"]
            print(f"\nSQA {split}, {row['questions']} questions; right answers (ALL), with 95 %")
            print("interval, and sequences with right answers only (SEQ), in %")
        interval = f"[{row['low']:.1f}, {row['high']:.1f}]"
        print(f"{row['system']:22}ALL {row['ALL']:5.1f} {interval:14}SEQ {row['SEQ']:5.1f}")


def plot(rows: list[dict], path: pathlib.Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    split = rows[-1]["split"]
    shown = [row for row in rows if row["split"] == split]
    shown.reverse()  # bars are drawn from below
    values = [row["ALL"] for row in shown]
    errors = [[abs(row["ALL"] - row[end]) for row in shown] for end in ("low", "high")]
    figure, axes = pyplot.subplots(figsize=(6.4, 3.2))
    axes.barh([row["system"] for row in shown], values, xerr=errors, color="lightsteelblue")
    axes.set_xlabel(f"SQA {split}, right answers, % of questions")
    axes.set_xlim(left=0)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    options = arguments()
    results = {name: measure(options, name) for name in options.variants}
    rows = table(results)
    print_table(rows)
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "sqa_attention"
    content = {"steps": options.steps, "seed": options.seed, "rows": rows}
    write_json(str(path.with_suffix(".json")), content)
    plot(rows, path.with_suffix(".png"))
    print(f"\nwritten | {path}.json, .png")


if __name__ == "__main__":
    main()
