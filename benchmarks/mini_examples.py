"""Chooses the training examples of `mini` after its first training on QUESTIONS.

    python benchmarks/mini_examples.py --wtq out/wtq --sqa out/sqa --questions out/questions
    python benchmarks/mini_examples.py ... --wtq out/wtq_1024 --long 3600

The folders are output folders of create_data with the same `mark_matches`. Two files are written:

questions.tfrecord: generated questions, with all of the kinds that are learned last and a part of
    each other kind. Tables that share most of their cells with a table in the dev and test
    questions of WikiTableQuestions are left out.
train.tfrecord: all of WikiTableQuestions; of SQA the questions that do not refer to another answer,
    and only about tables that are not in the dev and test questions of WikiTableQuestions; a part
    of questions.tfrecord. Shorter examples are padded to the length of those of
    WikiTableQuestions.

The order is random, and the same in every run.
"""

import argparse
import contextlib
import pathlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import common
import long_tables
import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.generation.questions import questions as generated
from mate_tf.data.interactions import Question, given, interaction_from_table, table_of
from mate_tf.data.records.create_data import examples_path, interactions_path
from mate_tf.tables.linearize import ConversionError
from mate_tf.training import experiments

EVALUATED = ("dev", "test")
KEPT = {
    "lookup": 0.3,
    "other lookup": 0.2,
    "filter": 0.35,
    "count all": 0.3,
    "count equal": 0.35,
    "sum": 0.6,
    "average": 0.4,
    "end": 0.4,
}
"""Kind of generated question -> share that is kept; of the others, which are learned last, all."""
SHARE = 3
"""One in so many of the kept generated questions is trained on together with the other data."""
_PIECES, _MOST_ROWS = 1.4, 250  # of a word, about; of a table
_SAME = 0.8  # share of the cells of a table that are in another one, which is then the same
_LONG = 6  # texts up to this length are in many tables
_FEWEST_CELLS = 10  # of smaller tables nobody can tell


def text(example: tf.train.Example, name: str) -> str:
    """Returns a text feature."""
    return example.features.feature[name].bytes_list.value[0].decode()


def table_name(table_id: str) -> str:
    """Returns the same name for a table in SQA and in WikiTableQuestions."""
    return table_id.replace("-", "_")


def held_out(wtq: str) -> set[str]:
    """Returns the names of the tables in the questions for evaluation."""
    return {
        table_name(each.table.table_id)
        for split in EVALUATED
        for each in records.read_interactions(interactions_path(wtq, split))
    }


def first_questions(examples, held: set[str]) -> Iterator[tf.train.Example]:
    """Yields the examples of first questions about tables that are not held out."""
    for example in examples:
        is_first = text(example, "question_id").endswith("_0")
        if is_first and table_name(text(example, "table_id")) not in held:
            yield example


def cells(interaction) -> frozenset[str]:
    """Returns the texts in a table."""
    return frozenset(cell.text.lower() for row in interaction.table.rows for cell in row.cells)


class HeldOutTables:
    """Finds tables that share most of their cells with one of the tables for evaluation."""

    def __init__(self, wtq: str):
        self._tables = {}
        self._with_text = defaultdict(set)
        for split in EVALUATED:
            for each in records.read_interactions(interactions_path(wtq, split)):
                self._tables[each.table.table_id] = cells(each)
        for name, texts in self._tables.items():
            for each in texts:
                if len(each) > _LONG:
                    self._with_text[each].add(name)

    def have(self, interaction) -> bool:
        """Returns whether one of the tables has most of the cells of this one."""
        texts = cells(interaction)
        if len(texts) <= _FEWEST_CELLS:
            return False
        shared = Counter(name for text in texts for name in self._with_text.get(text, ()))
        return any(
            len(self._tables[name] & texts) >= _SAME * len(texts)
            for name, _ in shared.most_common(2)
        )


def kept_questions(questions: str, held: HeldOutTables) -> list[tf.train.Example]:
    """Returns the generated questions that are kept, in random order."""
    rng, kinds = random.Random(0), {}
    for each in records.read_interactions(interactions_path(questions, "train")):
        if not held.have(each):
            kinds |= {question.id: given(question) for question in each.questions}
    found = []
    for example in records.read_examples(examples_path(questions, "train")):
        kind = kinds.get(text(example, "question_id"))
        if kind is not None and rng.random() < KEPT.get(kind, 1.0):
            found.append(example)
    rng.shuffle(found)
    return found


def length_of(example: tf.train.Example) -> int:
    """Returns the number of tokens that an example has room for."""
    return len(example.features.feature["input_ids"].int64_list.value)


def padded(example: tf.train.Example, length: int) -> tf.train.Example:
    """Lengthens all features per token, in place."""
    for feature in feature_names.ALL:
        if feature.per_token and feature.name in example.features.feature:
            stored = example.features.feature[feature.name]
            values = getattr(stored, stored.WhichOneof("kind")).value
            values.extend([feature.padding] * (length - len(values)))
    return example


def mixed(
    wtq: str,
    sqa: str,
    questions: Iterable[tf.train.Example],
    share: int = SHARE,
    long: Iterable[tf.train.Example] = (),
) -> list[tf.train.Example]:
    """Returns all examples in random order. Those of `questions` are lengthened in place."""
    found = list(records.read_examples(examples_path(wtq, "train")))
    length = length_of(found[0])
    for each in first_questions(records.read_examples(examples_path(sqa, "train")), held_out(wtq)):
        found.append(padded(each, length))
    for number, example in enumerate(questions):
        if number % share == 0:
            found.append(padded(example, length))
    found += long
    random.Random(0).shuffle(found)
    return found


def long_examples(
    questions: str, converter: ExampleConverter, held: HeldOutTables, number: int
) -> Iterator[tf.train.Example]:
    """Yields examples of generated questions about lengthened tables, all rows of which fit."""
    draw = random.Random(1)
    interactions = list(records.read_interactions(interactions_path(questions, "train")))
    draw.shuffle(interactions)
    for index, each in enumerate(interactions[:number]):
        table = table_of(each)
        if held.have(each) or table.num_rows < 3 or table.num_columns < 2:
            continue
        words = sum(len(text.split()) for row in table.rows for text in row) / table.num_rows
        tokens = draw.uniform(0.3, 1.0) * converter.max_seq_length
        rows = int(tokens / max(_PIECES * words, 4))
        table = long_tables.lengthened(table, min(max(rows, table.num_rows), _MOST_ROWS), draw)
        for made in generated(table, draw, 1):
            texts = [table.rows[row][column] for row, column in made.coordinates]
            name = f"long-{index}-0"
            question = Question(f"{name}_0", made.text, made.coordinates, texts, made.aggregation)
            interaction = interaction_from_table(table, name, [question])
            with contextlib.suppress(ConversionError):
                conversion = converter.conversion(interaction, 0)
                if len(conversion.rows) == table.num_rows:
                    yield conversion.example


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--wtq", required=True, help="output folder of create_data")
    parser.add_argument("--sqa", required=True, help="output folder of create_data")
    parser.add_argument("--questions", required=True, help="output folder of create_data")
    parser.add_argument("--long", type=int, default=0, help="so many lengthened tables")
    parser.add_argument("--config_file", help="has the conversion of their examples")
    parser.add_argument("--bert_vocab_file", help="for them")
    parser.set_defaults(output=pathlib.Path("out/mini"))
    return parser.parse_args()


def main() -> None:
    """Writes both files."""
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    held, long = HeldOutTables(options.wtq), ()
    kept = kept_questions(options.questions, held)
    if options.long:
        conversion = experiments.load(options.config_file).task.conversion.frozen()
        converter = ExampleConverter.from_config(options.bert_vocab_file, conversion)
        long = long_examples(options.questions, converter, held, options.long)
    for name, found in (
        ("questions", kept),
        ("train", mixed(options.wtq, options.sqa, kept, long=long)),
    ):
        path = str(options.output / f"{name}.tfrecord")
        print(path, records.write_examples(found, path), "examples")


if __name__ == "__main__":
    main()
