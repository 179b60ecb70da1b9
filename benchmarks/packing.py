"""Questions a second on real tables of all lengths: padded, in buckets of length, and packed.

    python benchmarks/packing.py --examples sqa/tf_examples/dev.tfrecord \
        wtq/tf_examples/dev.tfrecord wtq/tf_examples/dev.tfrecord,hybridqa/tf_examples/dev.tfrecord

Files that are joined by a comma are mixed. Two layers of BERT-base below the head that chooses a
column and cells, random weights. All ways of all kinds of attention answer the same questions in
turn, and the logits of every token of every question are compared.
"""

import argparse
import itertools
import json
import pathlib
import statistics

import common
import numpy as np
import tensorflow as tf

from mate_tf.analysis.cost import speed
from mate_tf.data import records
from mate_tf.data.interactions import PADDING_QUESTION_ID
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig
from mate_tf.training.prediction import INPUTS

BUCKETS = (64, 128, 192, 256, 320, 384, 448, 512, 768, 1024, 1536)
CLOCKS = ("wall", "processor")  # the latter depends less on other processes
WAYS = PADDED, BUCKETED, PACKED = "padded", "buckets", "packed"


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument(
        "--examples", nargs="+", required=True, help="TFRecord files, or several,with,commas"
    )
    parser.add_argument("--attention", nargs="+", default=("full", "mate_efficient"))
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS)
    parser.add_argument("--questions", type=int, default=256, help="of each file")
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--hidden_size", type=int, default=768)
    parser.add_argument("--num_hidden_layers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def questions(paths: str, number: int, length: int) -> dict[str, np.ndarray]:
    """The inputs of `number` questions drawn from each file, <int32>[questions, length] each."""
    filling = PADDING_QUESTION_ID.encode()  # to a full batch
    parts = []
    for path in paths.split(","):
        drawn = records.dataset(path, number, seq_length=length, shuffle=100_000, seed=1)
        batch = next(drawn.as_numpy_iterator())
        real = batch["question_id"][:, 0] != filling
        parts.append({name: batch[name][real] for name in INPUTS})
    order = np.random.default_rng(1).permutation(sum(len(part["input_mask"]) for part in parts))
    return {name: np.concatenate([part[name] for part in parts])[order] for name in INPUTS}


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
    made = {}
    for pack in (False, True):
        encoder = EncoderConfig(
            hidden_size=options.hidden_size,
            num_hidden_layers=options.num_hidden_layers,
            num_attention_heads=options.hidden_size // 64,
            intermediate_size=4 * options.hidden_size,
            max_position_embeddings=max(options.length, 512),
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


def measure(options, path: str) -> list[dict]:
    """Medians over the repeats of each kind of attention; all kinds and all ways take turns."""
    asked = questions(path, options.questions, options.length)
    number = len(asked["input_mask"])
    parts = batches(asked, options.batch_size)
    given = {
        way: [
            {name: tf.constant(values[chosen, :length]) for name, values in asked.items()}
            for chosen, length in parts[way]
        ]
        for way in options.ways
    }
    traced, found = {}, {}
    for attention in options.attention:
        of_way = models(options, attention)
        for way in options.ways:
            traced[attention, way] = of_way[way]
            found[attention, way] = np.zeros(asked["input_mask"].shape, np.float32)
            for (chosen, length), inputs in zip(parts[way], given[way], strict=True):
                found[attention, way][chosen, :length] = of_way[way](inputs)  # the first warms up
    clock = CLOCKS.index(options.clock)
    seconds = {key: [] for key in traced}
    for _ in range(options.repeats):
        for (attention, way), function in traced.items():
            took = [speed.seconds(function, each)[clock] for each in given[way]]
            seconds[attention, way].append(sum(took))
    in_table = (asked["input_mask"] > 0) & (asked["column_ids"] > 0)
    results = []
    for attention in options.attention:
        rate = {way: number / statistics.median(seconds[attention, way]) for way in options.ways}
        first = found[attention, options.ways[0]]
        results.append(
            {
                "examples": path,
                "attention": attention,
                "questions": number,
                "mean_length": float(asked["input_mask"].sum() / number),
                "questions_per_second": rate,
                "ratio": {way: value / rate[options.ways[0]] for way, value in rate.items()},
                "ratio_to_first_attention": {
                    way: statistics.median(seconds[options.attention[0], way])
                    / statistics.median(seconds[attention, way])
                    for way in options.ways
                },
                "seconds": {way: seconds[attention, way] for way in options.ways},
                "largest_logit": float(np.abs(first[in_table]).max()),
                "largest_difference": {
                    way: float(np.abs(found[attention, way] - first)[in_table].max())
                    for way in options.ways
                },
            }
        )
    return results


def short(paths: str) -> str:
    """The folders of the tasks whose files are mixed."""
    return " + ".join(pathlib.Path(path).parts[-3] for path in paths.split(","))


def plot(results: list[dict]):
    """Draws questions a second as bars, with the ratio to the first way, or else to the first kind
    of attention."""
    ways = list(results[0]["ratio"])
    compared = "ratio" if len(ways) > 1 else "ratio_to_first_attention"
    return common.bars(
        {way: [result["questions_per_second"][way] for result in results] for way in ways},
        [f"{short(each['examples'])}\n{each['attention']}" for each in results],
        "questions a second",
        {way: [f"{result[compared][way]:.2f}x" for result in results] for way in ways},
    )


def main() -> None:
    options = arguments()

    common.limit_threads(options.threads)
    results = []
    for path in options.examples:
        for result in measure(options, path):
            results.append(result)
            print(json.dumps(result), flush=True)
    common.write(options, "packing", results, plot(results))
    print(f"\n{'examples':20} {'attention':16} {'tokens':>6} {'questions a second':>19}")
    for result in results:
        rate, ratio = result["questions_per_second"], result["ratio"]
        of_first = result["ratio_to_first_attention"]
        ways = ", ".join(
            f"{way} {rate[way]:.1f} ({ratio[way]:.2f}x; {of_first[way]:.2f}x the first attention's)"
            for way in rate
        )
        print(
            f"{short(result['examples']):20} {result['attention']:16} {result['mean_length']:6.0f}"
            f" {ways}; logits up to {result['largest_logit']:.1f} differ by"
            f" {max(result['largest_difference'].values()):.1e}"
        )


if __name__ == "__main__":
    main()
