"""Whether a SavedModel reads strings as the converter does, on all tables of WikiTableQuestions.

    python benchmarks/serving_features.py --input_dir data/wikitq --bert_vocab_file vocab.txt

Each table is read once with a question about it, by the converter and by the part of the graph
that makes features of strings. Tokens and coordinates are compared token by token, ranks column
by column over the whole table, and columns that differ are counted by kind, with an example.
"""

import argparse
import collections
import pathlib
from collections.abc import Iterator

import common
import numpy as np
import tensorflow as tf

from mate_tf.data import interactions
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.datasets import wikitq
from mate_tf.serving.in_graph.table_reader import TableReader
from mate_tf.tables import numbers
from mate_tf.tables.conversion import ConversionConfig

OPTIONS = {"drop_rows_to_fit": True, "drop_columns_to_fit": True, "trim_question_to_fit": True}
TOKENS = ("input_ids", "segment_ids", "column_ids", "row_ids", "input_mask")


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--input_dir", required=True)
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--max_seq_length", type=int, default=512)
    parser.add_argument("--original_cells", action="store_true", help="as they are in the files")
    parser.add_argument("--first", type=int, default=None, help="only so many tables")
    return parser.parse_args()


class Comparison:
    """The converter beside the graph."""

    def __init__(self, vocab_file: str, max_seq_length: int):
        self._converter = ExampleConverter(vocab_file, max_seq_length, **OPTIONS)
        reader = TableReader(vocab_file, ConversionConfig(max_seq_length=max_seq_length, **OPTIONS))

        @tf.function(
            input_signature=[tf.TensorSpec([None] * rank, tf.string) for rank in (1, 2, 3)],
            autograph=False,
        )
        def read(question, header, cells):
            features, values, _ = reader(question, header, cells)
            return features, values.ranks()

        self._read = read
        self.counts = collections.Counter()
        self.kinds = collections.Counter()
        self.examples: dict[str, str] = {}

    def add(self, table, question: str) -> None:
        """Compares what both make of a table and a question."""
        asked = [interactions.Question("ask-0_0", question)]
        proto = interactions.interaction_from_table(table, "ask-0", asked)
        expected = self._converter.convert(proto, 0).features.feature
        cells = np.array(table.rows, object).reshape(1, table.num_rows, table.num_columns)
        features, ranks = self._read([question.encode()], [list(table.columns)], cells)
        features = {name: values.numpy()[0] for name, values in features.items()}
        length = len(features["input_ids"])

        def same(name):
            values = np.array(expected[name].int64_list.value)
            return bool((values[:length] == features[name]).all() and not values[length:].any())

        self.counts["tables"] += 1
        self.counts["tokens and coordinates equal"] += all(map(same, TOKENS))
        self.counts["relations to the question equal"] += same("numeric_relations")
        if not all(map(same, TOKENS)):
            self.examples.setdefault("tokens", f"{table.table_id}: {question}")
        self._add_ranks(table, interactions.cell_values(proto.table), [r.numpy()[0] for r in ranks])

    def _add_ranks(self, table, columns, ranks) -> None:
        for index, values in enumerate(columns):
            pairs = zip(numbers.column_ranks(values), ranks, strict=True)
            equal = all(list(found[:, index]) == expected for expected, found in pairs)
            found_kind = "values" if ranks[0][:, index].any() else "nothing"
            kind = next((type(v).__name__ for v in values if v is not None), "nothing")
            if kind == found_kind == "nothing":
                continue
            self.counts["numeric columns"] += 1
            self.counts["ranks equal"] += equal
            if not equal:
                name = f"{kind} for the converter, {found_kind} in the graph"
                self.kinds[name] += 1
                cells = ", ".join(map(repr, table.column(index)[:8]))
                self.examples.setdefault(name, f"{table.table_id}: {cells}")

    def report(self) -> dict:
        """Counts, shares, kinds and examples, as JSON values."""
        columns = self.counts["numeric columns"]
        return {
            **self.counts,
            "share of ranks equal": self.counts["ranks equal"] / columns if columns else None,
            "differing columns by kind": dict(self.kinds),
            "examples": self.examples,
        }


def tables_and_questions(input_dir: str, original_cells: bool) -> Iterator[tuple]:
    """Each table of the release with the first question about it that there is."""
    folder = pathlib.Path(input_dir)
    questions = {}
    for split in ("training", "pristine-unseen-tables"):
        for row in wikitq.read_rows(folder / "data" / f"{split}.tsv"):
            questions.setdefault(row.table_file, row.text)
    for path in sorted(folder.glob("csv/*-csv/*.csv")):
        name = str(path.relative_to(folder))
        table = wikitq.read_table(path, name, original_cells=original_cells)
        yield table, questions.get(name, "how many are there?")


def main() -> None:
    options = arguments()
    comparison = Comparison(options.bert_vocab_file, options.max_seq_length)
    found = tables_and_questions(options.input_dir, options.original_cells)
    for number, (table, question) in enumerate(found):
        if number == options.first:
            break
        comparison.add(table, question)
        if number % 200 == 199:
            print(f"{number + 1} tables | {dict(comparison.counts)}", flush=True)
    report = comparison.report()
    for name, value in report.items():
        print(f"{name} | {value}")
    form = "original" if options.original_cells else "normalized"
    common.write(options, f"serving_features_{form}", report)


if __name__ == "__main__":
    main()
