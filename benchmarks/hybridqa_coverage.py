"""How much of HybridQA the first stage sees: tokens and answers, beside the paper's figures.

    python benchmarks/hybridqa_coverage.py --input_dir data/hybridqa --bert_vocab_file vocab.txt

Prints, for the dev questions whose tables are there: how many tokens question and table have with
the best k sentences (MATE paper, section 4.1), which share of them fits, with everything expanded
how many tokens hold 90 % of the questions, whether the answer is in any cell, and how long the
conversion takes. Writes JSON and a plot.
"""

import argparse
import collections
import itertools
import resource
import tempfile
import time

import common
import numpy as np

from mate_tf.answers.hybridqa import answer_type
from mate_tf.data.converters import expansion
from mate_tf.data.converters.example_features import cell_texts
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.datasets import hybridqa
from mate_tf.data.interactions import question_text
from mate_tf.data.records import create_data
from mate_tf.tables.passages import Passages

BUDGET = 2048
PAPER = {"fits": 0.97, "tokens_for_90_percent": 11_000}
EVERYTHING = "all"
_TOGETHER = 32  # interactions tokenized at once
_PARENTHESES = 2


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--input_dir", required=True)
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--limits", type=int, nargs="+", default=[0, 1, 2, 3, 5, 8, 12, 20, 40])
    parser.add_argument("--processes", type=int, default=2, help="that convert; 0: no conversion")
    return parser.parse_args()


def count_tokens(interactions, tokenizer, limits) -> dict:
    """How many tokens questions and tables have that are expanded by the best k sentences.

    Returns:
        k of `limits`, or EVERYTHING -> <int>[questions].
    """
    lengths = {limit: [] for limit in (*limits, EVERYTHING)}
    interactions = iter(interactions)
    while chunk := list(itertools.islice(interactions, _TOGETHER)):
        for limit, found in _count_chunk(chunk, tokenizer, limits).items():
            lengths[limit] += found
    return {limit: np.array(found) for limit, found in lengths.items()}


def _count_chunk(chunk, tokenizer, limits):
    passages = [Passages(expansion.passages(interaction)) for interaction in chunk]
    sentences = [list(itertools.chain(*each.sentences.values())) for each in passages]
    questions = [question_text(interaction.questions[0]) for interaction in chunk]
    texts = [
        [question, *cell_texts(interaction.table), *own]
        for question, interaction, own in zip(questions, chunk, sentences, strict=True)
    ]
    result = collections.defaultdict(list)
    for interaction, found, own, question, encoding in zip(
        chunk, passages, sentences, questions, tokenizer.encode_groups(texts), strict=True
    ):
        sizes = np.diff(encoding.row_splits)
        plain = int(sizes[: len(sizes) - len(own)].sum()) + 2  # [CLS] and [SEP]
        size = dict(zip(own, sizes[len(sizes) - len(own) :].tolist(), strict=True))
        links = collections.Counter(
            link
            for row in interaction.table.rows
            for cell in row.cells
            for link in expansion.links(cell)
        )
        ranked = [sentence for sentence, _ in found.top(question, len(own))]
        for limit in (*limits, EVERYTHING):
            best = size.keys() if limit == EVERYTHING else set(ranked[:limit])
            extra = 0
            for link, count in links.items():
                kept = [size[each] for each in found.sentences.get(link, ()) if each in best]
                extra += count * (sum(kept) + _PARENTHESES) if kept else 0
            result[limit].append(plain + extra)
    return result


def measure(input_dir, split, vocab_file, limits) -> dict:
    """The figures on the questions of a split; see the top of this module."""
    types = collections.Counter()
    questions = hybridqa.read(input_dir, split)

    def counted():
        for interaction in questions:
            types[answer_type(interaction.questions[0])] += 1
            yield interaction

    lengths = count_tokens(counted(), Tokenizer(vocab_file), limits)
    total = types.total()
    return {
        "questions": total,
        "defects": {kind: len(messages) for kind, messages in questions.defects.items()},
        "answer_types": dict(types),
        "answer_in_a_cell": (total - types["no_answer"]) / total,
        "fits": {str(k): float((found <= BUDGET).mean()) for k, found in lengths.items()},
        "mean_tokens": {str(k): float(found.mean()) for k, found in lengths.items()},
        "quantiles": {
            str(k): {str(q): int(np.quantile(found, q)) for q in (0.5, 0.9, 0.97, 1.0)}
            for k, found in lengths.items()
        },
    }


def convert(input_dir, split, vocab_file, processes) -> dict:
    """Seconds from the official files to records of 2048 tokens with the best 5 sentences."""
    converter = ExampleConverter(vocab_file, BUDGET, expand_entity_descriptions=True)
    before, start = _processor_seconds(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        reports = create_data.create_data(
            {split: hybridqa.read(input_dir, split)}, folder, converter, processes=processes
        )
        seconds = time.perf_counter() - start
    print(f"{split} | {reports[split]}")
    return {
        "processes": processes,
        "seconds": seconds,
        "processor_seconds": _processor_seconds() - before,
        "examples": reports[split].examples,
    }


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def show(figures: dict) -> str:
    """The figures as text, each beside the paper's where it has one."""
    fits, quantiles = figures["fits"], figures["quantiles"]
    everything = quantiles[EVERYTHING]["0.9"]
    lines = [
        f"{'':44}{'here':>10}{'paper':>10}",
        f"{'questions with a table':44}{figures['questions']:>10,}",
        f"{'answer in a candidate cell':44}{figures['answer_in_a_cell']:>10.1%}",
    ]
    if "5" in fits:
        lines.append(f"{'fit 2048 tokens, k=5':44}{fits['5']:>10.1%}{PAPER['fits']:>10.0%}")
    lines.append(
        f"{'tokens for 90 % with everything expanded':44}{everything:>10,}"
        f"{'> {:,}'.format(PAPER['tokens_for_90_percent']):>10}"
    )
    lines.append(f"\n{'k':>6}{'fit 2048':>10}{'mean':>10}{'median':>10}{'90 %':>10}{'97 %':>10}")
    for k, share in fits.items():
        at = quantiles[k]
        lines.append(
            f"{k:>6}{share:>10.1%}{figures['mean_tokens'][k]:>10.0f}"
            f"{at['0.5']:>10}{at['0.9']:>10}{at['0.97']:>10}"
        )
    if conversion := figures.get("conversion"):
        lines.append(
            f"\nconverted {conversion['examples']} questions in {conversion['seconds']:.0f} s with "
            f"{conversion['processes']} processes ({conversion['processor_seconds']:.0f} s of "
            "processor time)"
        )
    return "\n".join(lines)


def plot(figures: dict):
    """Draws the share of questions that fit and the lengths, by k."""
    limits = [k for k in figures["fits"] if k != EVERYTHING]
    figure, (left, right) = common.new_axes(10, 4, 2)
    left.plot([int(k) for k in limits], [100 * figures["fits"][k] for k in limits], marker="o")
    left.axhline(100 * PAPER["fits"], linestyle="--", color="gray", label="paper, k=5")
    left.set(xlabel="sentences (k)", ylabel=f"% of questions within {BUDGET} tokens")
    left.legend()
    for name, style in (("0.5", "-"), ("0.9", "--"), ("0.97", ":")):
        values = [figures["quantiles"][k][name] for k in limits]
        right.plot([int(k) for k in limits], values, style, label=f"{100 * float(name):.0f} %")
    right.set(xlabel="sentences (k)", ylabel="tokens that hold this share of the questions")
    right.legend()
    return figure


def main() -> None:
    options = arguments()
    figures = measure(options.input_dir, options.split, options.bert_vocab_file, options.limits)
    if options.processes:
        figures["conversion"] = convert(
            options.input_dir, options.split, options.bert_vocab_file, options.processes
        )
    print(show(figures))
    common.write(options, "hybridqa_coverage", figures, plot(figures))


if __name__ == "__main__":
    main()
