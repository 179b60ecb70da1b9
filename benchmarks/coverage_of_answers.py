"""Share of questions whose gold cells a model reads, with rows dropped at the end or ranked.

    python benchmarks/coverage_of_answers.py --wikitq_dir data/wikitq \\
        --hybridqa_dir data/hybridqa --bert_vocab_file vocab.txt

Converts the dev questions of WikiTableQuestions and HybridQA (without passages) as `Predictor`
does, for a model with 64 rows and 32 columns, and counts the questions whose gold cells are all in
the example: with at least one word, and with all their words. Questions without a gold cell are
left out. Prints a table and writes JSON and a plot.
"""

import argparse
import collections
import itertools

import common

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.datasets import hybridqa, wikitq
from mate_tf.serving.read_part import ReadPart
from mate_tf.tables.conversion import ConversionConfig

WAYS = {
    "last dropped": {"prune_rows": False, "prune_columns": False, "fill_cells": False},
    "ranked": {"fill_cells": False},
    "ranked and filled": {},
}
"""Name -> options of `ConversionConfig.reading`. The last one is the default of `Predictor`."""

MEASURES = {"read": "all gold cells are read", "whole": "with all their words"}
MODEL = 64, 32  # TAPAS's max_num_rows and max_num_columns
_TOGETHER = 32  # interactions that are converted at once


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--wikitq_dir", required=True)
    parser.add_argument("--hybridqa_dir", required=True)
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--lengths", type=int, nargs="+", default=[128, 256, 512])
    return parser.parse_args()


class Coverage:
    """Counts of one data set, at some numbers of tokens."""

    def __init__(self, vocab_file: str, lengths):
        self.questions = 0
        self.too_long = dict.fromkeys(lengths, 0)
        self.counts = {
            (length, way): dict.fromkeys(MEASURES, 0) for length in lengths for way in WAYS
        }
        self._converters = {
            (length, way): ExampleConverter.from_config(
                vocab_file,
                ConversionConfig(max_seq_length=length).fitting(*MODEL).reading(WAYS[way]),
            )
            for length, way in self.counts
        }
        self._tokenizer = next(iter(self._converters.values())).tokenizer

    def add(self, interactions) -> None:
        """Counts the questions of some interactions."""
        asked = [
            (interaction, _gold_cells(question))
            for interaction in interactions
            for question in interaction.questions
        ]
        for interaction in interactions:
            for question in interaction.questions:
                question.ClearField("answer")
        sizes = [self._sizes(interaction, gold) for interaction, gold in asked]
        self.questions += sum(bool(gold) for _, gold in asked)
        for (length, way), converter in self._converters.items():
            found = converter.convert_all(*interactions)
            counts, is_last = self.counts[length, way], way == list(WAYS)[-1]
            for (interaction, gold), size, conversion in zip(asked, sizes, found, strict=True):
                if not gold:
                    continue
                if isinstance(conversion, Exception):
                    raise conversion
                read = _tokens(conversion, interaction.table)
                counts["read"] += all(cell in read for cell in gold)
                counts["whole"] += all(read.get(cell) == size[cell] for cell in gold)
                self.too_long[length] += is_last and bool(conversion.cuts)

    def _sizes(self, interaction, gold) -> dict:
        """Returns the number of tokens of each gold cell."""
        texts = [interaction.table.rows[row].cells[column].text for row, column in gold]
        splits = self._tokenizer.encode(texts).row_splits.tolist()
        return dict(zip(gold, (b - a for a, b in itertools.pairwise(splits)), strict=True))

    def report(self) -> dict:
        """Returns the number of questions and all shares, as JSON values."""
        return {
            "questions": self.questions,
            "too_long": {
                str(length): count / self.questions for length, count in self.too_long.items()
            },
            "shares": [
                {"length": length, "way": way}
                | {name: count / self.questions for name, count in found.items()}
                for (length, way), found in self.counts.items()
            ],
        }


def _gold_cells(question) -> list[tuple[int, int]]:
    if not question.answer.is_valid:
        return []
    cells = ((each.row_index, each.column_index) for each in question.answer.answer_coordinates)
    return sorted({cell for cell in cells if min(cell) >= 0})


def _tokens(conversion, table) -> dict[tuple[int, int], int]:
    """Returns the number of tokens of each cell that is read."""
    part = ReadPart(conversion, (len(table.rows), len(table.columns)))
    features = part.example.features.feature
    ids = (features[name].int64_list.value for name in ("row_ids", "column_ids"))
    rows, columns = (cells.tolist() for cells in part.cells(*ids))
    return collections.Counter(zip(rows, columns, strict=True))


def show(name: str, report: dict) -> str:
    """Returns the shares of a data set as a table of text, in %."""
    lines = [f"{name}, {report['questions']:,} questions with a gold cell"]
    lines.append(f"{'tokens':>8}{'too long':>10}  {'way':20}{'read':>8}{'whole':>8}")
    for row in report["shares"]:
        too_long = report["too_long"][str(row["length"])]
        lines.append(
            f"{row['length']:>8}{100 * too_long:>10.1f}  {row['way']:20}"
            f"{100 * row['read']:>8.1f}{100 * row['whole']:>8.1f}"
        )
    return "\n".join(lines)


def plot(reports: dict):
    """Draws the shares by data set and length as bars."""
    figure, axes = common.new_axes(5 * len(reports), 4.3, len(reports), sharey=True)
    for axis, (name, report) in zip(axes, reports.items(), strict=True):
        lengths = list(dict.fromkeys(row["length"] for row in report["shares"]))
        for number, way in enumerate(WAYS):
            found = [row for row in report["shares"] if row["way"] == way]
            places = [position + 0.27 * (number - 1) for position in range(len(lengths))]
            read, whole = ([100 * row[measure] for row in found] for measure in MEASURES)
            bars = axis.bar(places, read, 0.25, alpha=0.35, color=f"C{number}")
            axis.bar(places, whole, 0.25, color=f"C{number}", label=way)
            axis.bar_label(bars, [f"{share:.1f}" for share in read], fontsize=7)
        axis.set(title=f"{name} dev, {report['questions']:,} questions", xlabel="tokens")
        axis.set_xticks(range(len(lengths)), lengths)
    axes[0].set(ylabel="% of questions: gold cells read (pale), and whole", ylim=(0, 108))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(WAYS))
    return figure


def measure(interactions, vocab_file: str, lengths) -> dict:
    """Returns the report of a data set."""
    coverage, interactions = Coverage(vocab_file, lengths), iter(interactions)
    while chunk := list(itertools.islice(interactions, _TOGETHER)):
        coverage.add(chunk)
    return coverage.report()


def main() -> None:
    options = arguments()
    readers = {
        "WikiTableQuestions": (wikitq.read, options.wikitq_dir),
        "HybridQA": (hybridqa.read, options.hybridqa_dir),
    }
    reports = {}
    for name, (read, folder) in readers.items():
        found = read(folder, "dev")
        reports[name] = measure(found, options.bert_vocab_file, options.lengths)
        print(show(name, reports[name]), flush=True)
    common.write(options, "coverage_of_answers", reports, plot(reports))


if __name__ == "__main__":
    main()
