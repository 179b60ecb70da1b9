"""Questions a second on real tables of all lengths: padded, in buckets of length, and packed.

    python benchmarks/packing.py --examples sqa/tf_examples/dev.tfrecord \
        wtq/tf_examples/dev.tfrecord

Two layers of BERT-base below the head that chooses a column and cells, random weights. All ways
answer the same questions in turn, and the logits of every token of every question are compared.
"""

import argparse
import itertools
import json
import os
import pathlib
import statistics
import sys

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

BUCKETS = (64, 128, 192, 256, 320, 384, 448)
PADDED, BUCKETED, PACKED = "padded", "buckets", "packed"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", nargs="+", required=True, help="TFRecord files")
    parser.add_argument("--attention", nargs="+", default=("full", "mate_efficient"))
    parser.add_argument("--questions", type=int, default=256, help="of each file")
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--hidden_size", type=int, default=768)
    parser.add_argument("--num_hidden_layers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    return parser.parse_args()


def questions(path: str, number: int, length: int) -> dict[str, np.ndarray]:
    """The inputs of `number` questions drawn from a file, <int32>[number, length] each."""
    from mate_tf.data import records
    from mate_tf.data.interactions import PADDING_QUESTION_ID
    from mate_tf.training.prediction import INPUTS

    drawn = records.dataset(path, number, seq_length=length, shuffle=100_000, seed=1)
    batch = next(drawn.as_numpy_iterator())
    filling = PADDING_QUESTION_ID.encode()  # to a full batch
    real = batch["question_id"][:, 0] != filling
    return {name: batch[name][real] for name in INPUTS}


def batches(asked: dict[str, np.ndarray], batch_size: int) -> dict[str, list]:
    """The numbers of the questions in each batch, and its length, for each way."""
    lengths = asked["input_mask"].sum(axis=1)
    number, length = asked["input_mask"].shape
    in_order = [(chosen, length) for chosen in _parts(np.arange(number), batch_size)]
    bounds = [bound for bound in BUCKETS if bound < length] + [length]
    bucketed = [
        (chosen, high)
        for low, high in itertools.pairwise([0, *bounds])
        for chosen in _parts(np.flatnonzero((lengths > low) & (lengths <= high)), batch_size)
    ]
    return {PADDED: in_order, BUCKETED: bucketed, PACKED: in_order}


def _parts(numbers, size: int) -> list[np.ndarray]:
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def models(options, attention: str) -> dict:
    """Way -> the traced token logits of one model, which packs or not."""
    import tensorflow as tf

    from mate_tf.models.classifier import ClassifierConfig, TableClassifier
    from mate_tf.models.encoder import EncoderConfig
    from mate_tf.training.prediction import INPUTS

    made = {}
    for pack in (False, True):
        encoder = EncoderConfig(
            hidden_size=options.hidden_size,
            num_hidden_layers=options.num_hidden_layers,
            num_attention_heads=options.hidden_size // 64,
            intermediate_size=4 * options.hidden_size,
            initializer_range=0.05,  # so that what a token sees changes its logit
            attention={"name": attention},
            pack=pack,
        )
        model = TableClassifier(ClassifierConfig(encoder=encoder, select_one_column=True))
        if made:
            model.set_weights(made[False][0].get_weights())

        def logits(inputs, model=model):
            return model(inputs, training=False)["token_logits"]

        made[pack] = model, tf.function(logits, input_signature=[INPUTS], autograph=False)
    alone, packed = made[False][1], made[True][1]
    return {PADDED: alone, BUCKETED: alone, PACKED: packed}


def measure(options, path: str, attention: str) -> dict:
    """Medians over the repeats, in which the ways take turns."""
    import tensorflow as tf

    from mate_tf.analysis.cost import speed

    asked = questions(path, options.questions, options.length)
    number = len(asked["input_mask"])
    traced = models(options, attention)
    given, found = {}, {}
    for way, parts in batches(asked, options.batch_size).items():
        given[way] = [
            {name: tf.constant(values[chosen, :length]) for name, values in asked.items()}
            for chosen, length in parts
        ]
        found[way] = np.zeros(asked["input_mask"].shape, np.float32)
        for (chosen, length), inputs in zip(parts, given[way], strict=True):  # the first warms up
            found[way][chosen, :length] = traced[way](inputs)
    seconds = {way: [] for way in given}
    for _ in range(options.repeats):
        for way, inputs in given.items():
            seconds[way].append(sum(speed.seconds(traced[way], each)[0] for each in inputs))
    in_table = (asked["input_mask"] > 0) & (asked["column_ids"] > 0)
    rate = {way: number / statistics.median(values) for way, values in seconds.items()}
    return {
        "examples": path,
        "attention": attention,
        "questions": number,
        "mean_length": float(asked["input_mask"].sum() / number),
        "questions_per_second": rate,
        "ratio_to_padded": {way: value / rate[PADDED] for way, value in rate.items()},
        "largest_logit": float(np.abs(found[PADDED][in_table]).max()),
        "largest_difference": {
            way: float(np.abs(values - found[PADDED])[in_table].max())
            for way, values in found.items()
        },
    }


def plot(results: list[dict]):
    """Questions a second, as bars."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(2 + 2 * len(results), 4), layout="constrained")
    for place, way in enumerate((PADDED, BUCKETED, PACKED)):
        rates = [result["questions_per_second"][way] for result in results]
        bars = axes.bar(np.arange(len(results)) + 0.27 * (place - 1), rates, 0.25, label=way)
        ratios = [f"{result['ratio_to_padded'][way]:.2f}x" for result in results]
        axes.bar_label(bars, ratios)
    names = [f"{pathlib.Path(r['examples']).parts[-3]}\n{r['attention']}" for r in results]
    axes.set_xticks(range(len(results)), names)
    axes.set_ylabel("questions a second")
    axes.legend()
    return figure


def main() -> None:
    options = arguments()
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    results = []
    for path in options.examples:
        for attention in options.attention:
            results.append(measure(options, path, attention))
            print(json.dumps(results[-1]), flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "packing.json").write_text(json.dumps(results, indent=2))
    plot(results).savefig(options.output / "packing.png", dpi=120)
    print(f"\n{'examples':30} {'attention':16} {'tokens':>6} {'questions a second':>19}")
    for result in results:
        rate, ratio = result["questions_per_second"], result["ratio_to_padded"]
        ways = ", ".join(f"{way} {rate[way]:.1f} ({ratio[way]:.2f}x)" for way in rate)
        print(
            f"{result['examples'][-30:]:30} {result['attention']:16} {result['mean_length']:6.0f}"
            f" {ways}; logits up to {result['largest_logit']:.1f} differ by"
            f" {max(result['largest_difference'].values()):.1e}"
        )


if __name__ == "__main__":
    main()
