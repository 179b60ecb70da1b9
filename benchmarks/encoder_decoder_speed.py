"""Time of an encoder-decoder with tree attention in the encoder against full attention.

    python benchmarks/encoder_decoder_speed.py
    python benchmarks/encoder_decoder_speed.py --lengths 3072 --layers 12

Treeformer's section B.3: documents of up to 3,072 tokens, targets of 256, BERT-base's width, batch
1, float32. Two parts are measured: the encoder alone, and the whole model, whose decoder is the
same in all cases. A training step is the loss, its gradients and Adam; of the encoder alone, the
loss is the mean of its outputs. Variants take turns within each repetition and medians are
compared, so that a busy machine slows all of them alike; processor time tells more than the clock
there.

Trees have height 6. Their biases spread the tokens equally over the leaves of each layer
("tree_fine"), or are those of a new model ("tree_fine new"). In training, tree_fine is masked full
attention (`form: auto`): trees save time in forward passes only.
"""

import argparse
import pathlib
import statistics
import sys

import common
import tensorflow as tf
import treeformer_speed

from mate_tf.analysis.cost import profile_report
from mate_tf.attention import AttentionConfig
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.layers.framework import keras
from mate_tf.models.encoder_config import EncoderConfig
from mate_tf.models.encoder_decoder import EncoderDecoder
from mate_tf.models.encoder_decoder_config import EncoderDecoderConfig

ROOT = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT.parent), str(ROOT)]

LENGTHS = (1024, 2048, 3072)
VOCABULARY, HIDDEN, HEADS, INTERMEDIATE = 30522, 768, 12, 3072
HEIGHT = 6
FULL, SPREAD, NEW = "full", "tree_fine", "tree_fine new"
PARTS = ("encoder", "encoder-decoder")


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--target", type=int, default=256, help="tokens of the target")
    parser.add_argument("--layers", type=int, default=2, help="of the encoder and of the decoder")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--variants", nargs="+", choices=(SPREAD, NEW), default=(SPREAD, NEW))
    return parser.parse_args()


def batch(length: int, target: int) -> dict:
    """A document without padding and its target, <int32>[1, length] and [1, target + 1]."""

    def ids(number, seed):
        return tf.random.stateless_uniform([1, number], [1, seed], 1, VOCABULARY, tf.int32)

    zeros = tf.zeros([1, length], tf.int32)
    return {
        "input_ids": ids(length, 1),
        "input_mask": zeros + 1,
        **dict.fromkeys(("segment_ids", "row_ids", "column_ids"), zeros),
        "target_ids": ids(target + 1, 2),
    }


def make_model(name: str, features: dict, args):
    """The model of a case, its trees as the case wants them for the document."""
    attention = AttentionConfig(name="full")
    if name != FULL:
        attention = AttentionConfig(name="tree_fine", tree_height=HEIGHT)
    encoder = EncoderConfig(
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        num_hidden_layers=args.layers,
        num_attention_heads=HEADS,
        intermediate_size=INTERMEDIATE,
        max_position_embeddings=max(args.lengths),
        disabled_features=list(TOKEN_TYPES),
        attention=attention,
    )
    keras.utils.set_random_seed(1)
    model = EncoderDecoder(
        EncoderDecoderConfig(
            encoder=encoder,
            num_decoder_layers=args.layers,
            max_target_positions=args.target,
            start_id=1,
            end_id=2,
        )
    )
    if name == SPREAD:
        for index in range(args.layers):  # one by one: each layer changes the input of the next
            layer = model.encoder.inspect(features)[index]
            treeformer_speed.spread(layer.attention, layer.x)
    return model


def occupancy(model, features: dict) -> dict:
    """Means over the layers: pairs compared relative to all, share of keys in the fullest leaf."""
    layers = model.encoder.inspect(features)
    found = [treeformer_speed.occupancy(each.attention, each.x) for each in layers]
    return {key: statistics.mean(each[key] for each in found) for key in found[0]}


def functions(model, features: dict, parts) -> dict:
    """(part, training) -> function that returns the loss of one call."""

    def encoder_loss(training):
        return tf.reduce_mean(model.encoder(features, training=training)["sequence_output"])

    def whole_loss(training):
        return model(features, training=training)["total_loss"]

    losses = {"encoder": encoder_loss, "encoder-decoder": whole_loss}

    variables = model.trainable_variables
    optimizer = keras.optimizers.Adam(1e-5)
    optimizer.build(variables)

    def step(loss):
        def run():
            with tf.GradientTape() as tape:
                value = loss(True)
            gradients = tape.gradient(value, variables)
            pairs = zip(gradients, variables, strict=True)
            optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])
            return value

        return tf.function(run, autograph=False)

    found = {}
    for part in parts:
        loss = losses[part]
        found[part, False] = tf.function(lambda loss=loss: loss(False), autograph=False)
        found[part, True] = step(loss)
    return found


def measure(args) -> list[dict]:
    """Median seconds of each case, part, pass and length, and speed relative to full attention."""

    results = []
    for length in args.lengths:
        features = batch(length, args.target)
        cases, shares = {}, {}
        for name in (FULL, *args.variants):
            model = make_model(name, features, args)
            shares[name] = occupancy(model, features)
            for (part, training), function in functions(model, features, args.parts).items():
                cases[part, training, name] = function
        # Forward passes first: a training step changes the weights, and with them the leaves.
        medians = {}
        for training in (False, True):
            turns = {case: run for case, run in cases.items() if case[1] == training}
            medians |= common.in_turns(turns, args.repeats)
        rows = []
        for (part, training, name), (clock, worked) in medians.items():
            case = {"length": length, "part": part, "training": training, "variant": name}
            rows.append(case | {"seconds": clock, "processor_seconds": worked} | shares[name])
        full = {(row["part"], row["training"]): row for row in rows if row["variant"] == FULL}
        for row in rows:
            common.add_speedup([row], full[row["part"], row["training"]])
        print_table(rows, args)
        results += rows
    return results


def print_table(rows: list[dict], args) -> None:
    print(f"\n{rows[0]['length']} tokens, target of {args.target}, {args.layers} layers each")
    for row in sorted(rows, key=lambda row: (row["part"], row["training"])):
        kind = "training step" if row["training"] else "forward"
        print(
            f"  {row['part']:15} {kind:13} {row['variant']:13} {1e3 * row['seconds']:9.1f} ms"
            f"  {row['speedup']:5.2f}x full ({row['processor_speedup']:.2f}x by processor time)"
            f"  pairs {row['pairs']:7.2%}  largest leaf {row['largest_leaf']:6.1%}",
            flush=True,
        )


def main() -> None:
    args = arguments()
    tf.get_logger().setLevel("ERROR")  # each case has a function of its own, which is meant
    common.limit_threads(args.threads, args.threads)
    results = measure(args)
    settings = {"layers": args.layers, "target": args.target, "threads": args.threads}
    lines = [row | {"variant": f"{row['part']}, {row['variant']}"} for row in results]
    title = f"{args.layers} layers of width {HIDDEN} each, target of {args.target} tokens, batch 1"
    figure = profile_report.plot(lines, "seconds", title=title)
    found = {"settings": settings, "speed": results}
    common.write(args, "encoder_decoder_speed", found, figure)


if __name__ == "__main__":
    main()
