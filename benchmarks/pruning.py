"""Share of questions with their answer still in the example, with and without pruning.

    python benchmarks/pruning.py --sqa_dir data/sqa --wikitq_dir data/wikitq \\
        --bert_vocab_file vocab.txt

Converts every 17th conversation of SQA's training questions and every 24th training question of
WikiTableQuestions (random split 1 of both) with the last rows dropped where the table is too long,
alone and after `prune_columns` and `prune_rows`. A question counts as kept if it gives an example.
"""

import argparse
import itertools

import common

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.datasets import sqa, wikitq
from mate_tf.tables.linearize import ConversionError

SPLIT = "random-split-1-train"
SQA_STRIDE, WIKITQ_STRIDE = 17, 24
PRUNING = {
    "without": {},
    "columns": {"prune_columns": True},
    "rows": {"prune_rows": True},
    "both": {"prune_columns": True, "prune_rows": True},
}


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--sqa_dir", required=True)
    parser.add_argument("--wikitq_dir", required=True)
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--lengths", type=int, nargs="+", default=(128, 256))
    return parser.parse_args()


def measure(interactions, vocab_file, length: int) -> dict:
    """The number of questions, and by key of PRUNING the share that gives an example."""
    total = sum(len(interaction.questions) for interaction in interactions)
    kept = {}
    for name, options in PRUNING.items():
        converter = ExampleConverter(vocab_file, length, drop_rows_to_fit=True, **options)
        found = converter.convert_all(*interactions)
        kept[name] = sum(not isinstance(each, ConversionError) for each in found) / total
    return {"length": length, "questions": total, "kept": kept}


def main() -> None:
    options = arguments()
    samples = {
        "SQA": itertools.islice(sqa.read(options.sqa_dir, SPLIT), 0, None, SQA_STRIDE),
        "WikiTableQuestions": itertools.islice(
            wikitq.read(options.wikitq_dir, SPLIT), 0, None, WIKITQ_STRIDE
        ),
    }
    results = []
    for name, sample in samples.items():
        interactions = list(sample)
        for length in options.lengths:
            row = {"data": name, **measure(interactions, options.bert_vocab_file, length)}
            shares = "  ".join(f"{way} {100 * share:.1f}" for way, share in row["kept"].items())
            print(f"{name} | {row['questions']} questions | {length} tokens | {shares}", flush=True)
            results.append(row)
    common.write(options, "pruning", results)


if __name__ == "__main__":
    main()
