"""Hugging Face's TAPAS models by `Predictor.from_pretrained` and by their own code, side by side.

    python benchmarks/pretrained_parity.py --input_dir data/wikitq --bert_vocab_file vocab.txt \\
        --peers_python peers/bin/python

Models of BERT-base's size with random weights are written by their code, for cells with and
without aggregation and for classes. Both answer questions of WikiTableQuestions' dev split. Where
both read the same tokens, cells, operation and probabilities are compared; where they do not, the
reasons are counted.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile
import time

import common
import numpy as np

from mate_tf import Predictor, Table
from mate_tf.data import features as feature_names
from mate_tf.data import interactions
from mate_tf.data.datasets import wikitq

SCRIPT = common.ROOT / "tests" / "peers" / "answer_huggingface.py"
AGGREGATION = {
    "num_aggregation_labels": 4,
    "aggregation_labels": {0: "NONE", 1: "SUM", 2: "AVERAGE", 3: "COUNT"},
    "no_aggregation_label_index": 0,
}
MODELS = {
    "wtq": ("TapasForQuestionAnswering", AGGREGATION | {"temperature": 0.0352513}),
    "sqa": ("TapasForQuestionAnswering", {}),
    "tabfact": ("TapasForSequenceClassification", {}),
}
TOLERANCE = 1e-3
SAME = "same tokens"


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--input_dir", required=True, help="WikiTableQuestions' release")
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--peers_python", required=True, help="with torch and transformers")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--layers", type=int, default=12)
    return parser.parse_args()


def run_peers(python: str, *arguments) -> None:
    """Runs their code."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    command = [python, str(SCRIPT), *map(str, arguments)]
    subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)


def tapas_vocabulary(bert_vocab_file, path: pathlib.Path) -> pathlib.Path:
    """Writes BERT's vocabulary as TAPAS ships it: with [EMPTY] in place of [unused0]."""
    text = pathlib.Path(bert_vocab_file).read_text("utf-8")
    path.write_text(text.replace("[unused0]\n", "[EMPTY]\n", 1), "utf-8")
    return path


def read_questions(input_dir, count: int) -> list[dict]:
    """Questions of the dev split at equal distances, with their tables, as JSON values."""
    found = list(wikitq.read(str(input_dir), "dev"))
    asked = []
    for interaction in found[:: max(1, len(found) // count)][:count]:
        table = interactions.table_of(interaction)
        question = interaction.questions[0].original_text
        asked.append({"columns": table.columns, "rows": table.rows, "question": question})
    return asked


class Comparison:
    """Answers of a `mate_tf.Predictor` of their model beside theirs."""

    def __init__(self, predictor):
        self._predictor = predictor
        self.counts = collections.Counter()
        self.largest = collections.Counter()
        self.seconds = 0.0

    def add(self, asked: dict, theirs: dict) -> None:
        """Compares the answers to one question."""
        table = Table.from_rows(asked["columns"], asked["rows"])
        start = time.monotonic()
        answer = self._predictor.ask(table, asked["question"])
        self.seconds += time.monotonic() - start
        self.counts["questions"] += 1
        if "error" in theirs:
            self.counts[f"theirs fails: {theirs['error'][:60]}"] += 1
            return
        example = self._predictor.example(table, asked["question"])
        values = {name: each.int64_list.value for name, each in example.features.feature.items()}
        length = sum(values["input_mask"])
        ids = list(values["input_ids"][:length])
        types = np.array([values[name][:length] for name in feature_names.TOKEN_TYPES]).T
        reason = self._reason(ids, types, theirs, answer)
        self.counts[reason] += 1
        if reason == SAME:
            (outputs,) = self._predictor._model(example)
            self._compare(answer, outputs, theirs)

    def _reason(self, ids, types, theirs, answer) -> str:
        """Why both read something else; SAME if they do not."""
        their_types = np.array(theirs["token_types"])
        if ids == theirs["input_ids"]:
            if (types == their_types).all():
                return SAME
            return "same words, other ranks or relations of numbers"
        tokenizer = self._predictor._model.converter.tokenizer
        if types[:, 2].max() != their_types[:, 2].max() or answer.cuts:
            return "they drop rows where cells are shortened here"
        # Where the reference reads a missing value, tables have the text "nan".
        blank = {tokenizer.empty_id, *tokenizer.ids(["nan"])}
        ours, expected = (
            [each for each in read if each not in blank] for read in (ids, theirs["input_ids"])
        )
        if ours == expected:
            return 'they write [EMPTY] for the text "nan", or nothing for empty cells'
        return "other tokens"

    def _compare(self, answer, outputs, theirs) -> None:
        def difference(name, ours, expected):
            most = float(np.abs(np.asarray(ours) - np.asarray(expected)).max())
            self.largest[name] = max(self.largest[name], most)
            return most <= TOLERANCE

        if "classes" in theirs:
            ours = outputs["class_probabilities"]
            self.counts["same class"] += int(np.argmax(ours)) == int(np.argmax(theirs["classes"]))
            near = difference("class probabilities", ours, theirs["classes"])
            self.counts["probabilities within 1e-3"] += near
            return
        rows, columns, expected = np.array(theirs["cells"]).T
        ours = outputs["cell_probabilities"][rows.astype(int), columns.astype(int)]
        near = difference("cell probabilities", ours, expected)
        if "aggregation" in theirs:
            ours = outputs["aggregation_probabilities"]
            near &= difference("operation probabilities", ours, theirs["aggregation"])
        self.counts["probabilities within 1e-3"] += near
        same_cells = sorted(answer.coordinates) == sorted(map(tuple, theirs["coordinates"]))
        self.counts["same cells"] += same_cells
        self.counts["same operation"] += answer.aggregation == (theirs["aggregator"] or "NONE")
        self.counts["answers with cells"] += bool(theirs["coordinates"])
        unsure = bool(min(abs(expected - 0.5)) < TOLERANCE)
        self.counts["other cells, one within 1e-3 of the threshold"] += unsure and not same_cells

    def report(self) -> dict:
        """Counts and largest differences, as JSON values."""
        return {
            **self.counts,
            "largest differences": dict(self.largest),
            "seconds a question": self.seconds / max(1, self.counts["questions"]),
        }


def main() -> None:
    options = arguments()
    asked = read_questions(options.input_dir, options.questions)
    reports = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        vocabulary = tapas_vocabulary(options.bert_vocab_file, folder / "vocab.txt")
        sizes = {"num_hidden_layers": options.layers}
        for model in options.models:
            reports[model] = compare(options.peers_python, folder, model, sizes, vocabulary, asked)
    common.write(options, "pretrained_parity", reports)


def compare(python: str, folder, model: str, sizes: dict, vocabulary, asked: list[dict]) -> dict:
    """Writes one of MODELS, of BERT-base's `sizes` by default, asks both, and prints the report."""
    kind, fields = MODELS[model]
    config = {"initializer_range": 0.03} | fields | sizes
    settings = {"class": kind, "config": config, "vocab_file": str(vocabulary)}
    (folder / "settings.json").write_text(json.dumps(settings))
    (folder / "questions.json").write_text(json.dumps(asked))
    run_peers(python, "write", folder / model, folder / "settings.json")
    start = time.monotonic()
    # Their pipeline reads what fits and drops the rest of a table.
    predictor = Predictor.from_pretrained(folder / model, reading={})
    first = asked[0]
    predictor.ask([first["columns"], *first["rows"]], first["question"])
    print(f"{model} | {predictor} | first answer after {time.monotonic() - start:.1f} s")
    answers = folder / f"{model}.json"
    run_peers(python, "answer", folder / model, folder / "questions.json", answers)
    comparison = Comparison(predictor)
    for question, theirs in zip(asked, json.loads(answers.read_text()), strict=True):
        comparison.add(question, theirs)
    report = comparison.report()
    for name, value in report.items():
        print(f"{model} | {name} | {value}", flush=True)
    return report


if __name__ == "__main__":
    main()
