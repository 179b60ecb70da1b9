"""Mixes the training examples of `mini`: WikiTableQuestions, first questions of SQA, QUESTIONS.

    python benchmarks/mini_examples.py --wtq out/wtq --sqa out/sqa --questions out/questions

The folders are output folders of create_data with the same `mark_matches`. Of SQA only questions
that do not refer to another answer are taken, and only about tables that are not in the dev and
test questions of WikiTableQuestions. Shorter examples are padded to the length of those of
WikiTableQuestions. The order is random, and the same in every run.
"""

import argparse
import pathlib
import random
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import tensorflow as tf  # noqa: E402

from mate_tf.data import features as feature_names  # noqa: E402
from mate_tf.data import records  # noqa: E402
from mate_tf.data.records.create_data import examples_path, interactions_path  # noqa: E402

EVALUATED = ("dev", "test")
SHARE = 12
"""One in so many generated questions is taken."""


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


def mixed(wtq: str, sqa: str, questions: str, share: int = SHARE) -> list[tf.train.Example]:
    """Returns all examples in random order."""
    found = list(records.read_examples(examples_path(wtq, "train")))
    length = length_of(found[0])
    found += first_questions(records.read_examples(examples_path(sqa, "train")), held_out(wtq))
    for number, example in enumerate(records.read_examples(examples_path(questions, "train"))):
        if number % share == 0:
            found.append(padded(example, length))
    random.Random(0).shuffle(found)
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wtq", required=True, help="output folder of create_data")
    parser.add_argument("--sqa", required=True, help="output folder of create_data")
    parser.add_argument("--questions", required=True, help="output folder of create_data")
    parser.add_argument("--output", default="out/mini/train.tfrecord")
    return parser.parse_args()


def main() -> None:
    """Writes the examples."""
    options = arguments()
    pathlib.Path(options.output).parent.mkdir(parents=True, exist_ok=True)
    found = mixed(options.wtq, options.sqa, options.questions)
    print(records.write_examples(found, options.output), "examples")


if __name__ == "__main__":
    main()
