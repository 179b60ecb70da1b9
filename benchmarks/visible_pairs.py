"""Pairs of tokens that masks over tables allow, on the examples of a data set.

    mate-tf --mode=create_data --config_file=configs/sqa_mini.yaml --input_dir=data/sqa \\
        --bert_vocab_file=models/mini/vocab.txt --output_dir=out/sqa_mini
    python benchmarks/visible_pairs.py --examples out/sqa_mini/tf_examples/dev.tfrecord

A way of computing that skips what a mask leaves out would take time by the number of these pairs.
The masks are those of the variants; heads with different masks count by their mean.
"""

import argparse

import common
import numpy as np
import tensorflow as tf
from tqdm import tqdm

from mate_tf import attention
from mate_tf.attention import AttentionConfig, TableContext
from mate_tf.data import records

_PARTS = {"name": "structure_mask", "same_cell": True, "same_column": False}
MASKS = {
    "full": {"name": "full"},
    "same_row_or_column": {"name": "same_row_or_column"},
    "mate_exact": {"name": "mate_exact"},
    "structure_mask, row and header": {**_PARTS, "same_row": True, "header": True},
    "structure_mask, row": {**_PARTS, "same_row": True, "header": False},
    "structure_mask, column": {**_PARTS, "same_row": False, "header": False, "same_column": True},
    "structure_mask, cell and header": {**_PARTS, "same_row": False, "header": True},
    "structure_mask, cell": {**_PARTS, "same_row": False, "header": False},
}
"""Title -> AttentionConfig."""

_HEADS = 2  # one of rows and one of columns, in MATE


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--examples", required=True, help="TFRecords of create_data")
    parser.add_argument("--every", type=int, default=1, help="take every n-th example")
    return parser.parse_args()


def contexts(options):
    """Real tokens of each example, <int32>[1, tokens] each part."""
    for number, example in enumerate(records.read_examples(options.examples)):
        stored = example.features.feature
        parts = [np.array(stored[name].int64_list.value) for name in TableContext.FEATURES]
        tokens = parts[-1].sum()
        if number % options.every == 0 and parts[2].any():  # no padding example
            yield TableContext(*(tf.constant(part[None, :tokens], tf.int32) for part in parts))


def main() -> None:
    """Prints a table, and writes it as JSON."""
    options = arguments()
    patterns = {
        title: attention.get(given["name"]).pattern(AttentionConfig(given), _HEADS)
        for title, given in MASKS.items()
    }
    pairs, lengths = {title: [] for title in MASKS}, []
    for context in tqdm(contexts(options), unit=" examples", disable=None):
        length = context.input_mask.shape[1]
        lengths.append(length)
        for title, pattern in patterns.items():
            mask = pattern.mask(context).numpy()
            pairs[title].append(np.broadcast_to(mask, [1, _HEADS, length, length]).mean(1).sum())
    every = sum(length**2 for length in lengths)
    rows = [
        {
            "mask": title,
            "share": float(sum(found) / every),
            "keys_of_a_token": float(sum(found) / sum(lengths)),
        }
        for title, found in pairs.items()
    ]
    title = f"{len(lengths)} examples, {np.mean(lengths):.0f} tokens"
    print(f"{title:34}{'% of pairs':>12}{'keys of a token':>17}")
    for row in rows:
        print(f"{row['mask']:34}{100 * row['share']:12.1f}{row['keys_of_a_token']:17.1f}")
    common.write(options, "visible_pairs", {"tokens": float(np.mean(lengths)), "rows": rows})


if __name__ == "__main__":
    main()
