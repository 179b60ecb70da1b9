"""The "Uniform %" column of Table 7 (MATE paper), which needs no model: WikiTableQuestions dev.

    mate-tf --config_file=configs/wtq.yaml --mode=create_data \
        --input_dir=data/wikitq --bert_vocab_file=vocab.txt --output_dir=out/wtq
    python benchmarks/attention_flow.py --examples out/wtq/tf_examples/dev.tfrecord

The other columns: `--mode=analyze` with whichever checkpoint there is.
"""

import argparse

import common
import numpy as np
from tqdm import tqdm

from mate_tf.analysis.attention.flow_by_type import TYPES, FlowByType
from mate_tf.attention import TableContext
from mate_tf.data import records

PAPER = (0.28, 3.66, 2.94, 0.51, 68.18, 4.02, 18.84, 1.57)
WANTED = 1.0
"""Points that the shares may differ."""


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--examples", required=True, help="TFRecords of create_data")
    return parser.parse_args()


def contexts(path):
    """Where the tokens of each example stand, <int>[seq] each."""
    for example in records.read_examples(path):
        stored = example.features.feature
        yield TableContext(
            *(np.array(stored[name].int64_list.value) for name in TableContext.FEATURES)
        )


def main() -> None:
    args = arguments()
    flow = FlowByType()
    for context in tqdm(contexts(args.examples), unit=" examples"):
        flow.add(context)
    rows = [
        {"type": str(kind), "uniform": 100 * float(share), "paper": paper}
        for kind, share, paper in zip(TYPES, flow.uniform, PAPER, strict=True)
    ]
    print(f"{'%, ' + str(flow.examples) + ' examples':34}{'uniform':>9}{'paper':>9}")
    for row in rows:
        print(f"{row['type']:34}{row['uniform']:9.2f}{row['paper']:9.2f}")
    worst = max(abs(row["uniform"] - row["paper"]) for row in rows)
    print(f"largest difference {worst:.2f} points (at most {WANTED:g} wanted)")
    common.write(args, "attention_flow", {"examples": flow.examples, "rows": rows})


if __name__ == "__main__":
    main()
