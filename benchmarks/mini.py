"""Asks a trained model English questions about 20 small CSV files that no training has seen.

    python benchmarks/mini.py                          # the preset that comes with mate-tf
    python benchmarks/mini.py --model out/wtq/model    # any model of Predictor.from_pretrained
    python benchmarks/mini.py --interactions out/wtq/interactions/test.tfrecord --every 8
    python benchmarks/mini.py --precisions float32 bfloat16 int8

The tables and questions are in tests/handmade, five questions a table. `--interactions` are those
that create_data wrote for another task, of which every n-th is asked too. An answer is right by the
rules of WikiTableQuestions' evaluator. The scores stand beside those of lexical baselines. Answers
in other precisions are compared with those in the first one.
"""

import argparse
import collections
import itertools
import json
import operator
import pathlib
import time

import common

from mate_tf.data import records
from mate_tf.data.interactions import Question, given, interaction_from_table, table_of
from mate_tf.evaluation import baselines, denotation, metrics
from mate_tf.serving import dataset_answers, presets
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.table import Table

DATA = common.ROOT / "tests" / "handmade"
BASELINES = ("random cell", "lexical match, counted", "row and column match, counted")
ALL = "all"


def read(folder: pathlib.Path):
    """Returns interactions of one question each, and question id -> kind of question."""
    found, kinds = [], {}
    for number, line in enumerate((folder / "test.jsonl").read_text().splitlines()):
        given = json.loads(line)
        table = Table.from_csv(folder / given["table"], table_id=given["table"])
        gold = given["number"] if "number" in given else given["text"]
        texts = [str(each) for each in (gold if isinstance(gold, list) else [gold])]
        question = Question(f"handmade/{number}-0_0", given["question"], texts=texts)
        found.append(interaction_from_table(table, f"handmade/{number}-0", [question]))
        kinds[question.id] = given["_kind"]
    return found, kinds


def sample(path: str, every: int):
    """Returns every n-th interaction of a file, and question id -> kind, or ALL if not known."""
    found = list(itertools.islice(records.read_interactions(path), 0, None, every))
    questions = [question for each in found for question in each.questions]
    return found, {question.id: given(question) or ALL for question in questions}


def ask(predictor: Predictor, interactions):
    """Returns predictions by question id, answers in order, and seconds a question."""
    start = time.perf_counter()
    pairs = [(table_of(each), each.questions[0].original_text) for each in interactions]
    answers = predictor.ask_batch(pairs)
    predicted = {}
    for interaction, answer in zip(interactions, answers, strict=True):
        name = interaction.questions[0].id
        predicted[name] = dataset_answers.prediction(name, answer, ())
    return predicted, answers, (time.perf_counter() - start) / len(interactions)


def same(answers, others) -> int:
    """Returns the number of equal answers: cells, operation, and whether there is an answer."""
    first, second = (
        [(each.coordinates, each.aggregation, each.answerable) for each in found]
        for found in (answers, others)
    )
    return sum(map(operator.eq, first, second))


def scores(interactions, kinds, predicted) -> dict[str, tuple[int, int]]:
    """Returns kind -> numbers of right answers and of questions."""
    counts = collections.defaultdict(lambda: [0, 0])
    for item in metrics.grade(interactions, predicted, denotation.is_right):
        for kind in dict.fromkeys((ALL, kinds[item.question.id])):
            counts[kind][0] += item.right
            counts[kind][1] += 1
    return {kind: tuple(each) for kind, each in counts.items()}


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--model", help="folder of a trained model; by default the preset")
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--interactions", help="more questions, written by create_data")
    parser.add_argument("--every", type=int, default=1, help="take every n-th of them")
    parser.add_argument(
        "--precisions", nargs="+", default=[None], help="by default what the model was trained in"
    )
    parser.add_argument(
        "--float32_margins", type=float, nargs="+", default=[0.0], help="each with each precision"
    )
    parser.add_argument("--wrong", action="store_true", help="print the wrong answers")
    return parser.parse_args()


def main() -> None:
    """Prints a table, and writes it as JSON."""
    options = arguments()
    model = options.model or presets.find(presets.DEFAULT)
    asked = {"handmade": read(options.data)}
    if options.interactions:
        asked[options.interactions] = sample(options.interactions, options.every)
    found, answers = {}, {}
    for precision, least in itertools.product(options.precisions, options.float32_margins):
        predictor = Predictor.from_pretrained(model, precision=precision, float32_margin=least)
        for name, (interactions, kinds) in asked.items():
            predicted, given, seconds = ask(predictor, interactions)
            title = f"{name}, {precision}" if precision else name
            title += f", margin {least}" if least else ""
            found[title] = compare(interactions, kinds, predicted)
            print_scores(title, found[title])
            print(f"{1000 * seconds:.0f} ms a question, after loading", flush=True)
            if name in answers:
                number = same(answers[name], given)
                found[title]["same answers"] = (number, len(given))
                print(f"same answers as {options.precisions[0]}: {number} of {len(given)}")
            answers.setdefault(name, given)
            if options.wrong and name == "handmade":
                print_wrong(interactions, predicted)
    common.write(options, "mini", {"model": str(model), "found": found})


def compare(interactions, kinds, predicted) -> dict:
    """Returns system -> kind -> numbers of right answers and of questions."""
    systems = {"model": scores(interactions, kinds, predicted)}
    for name in BASELINES:
        systems[name] = scores(interactions, kinds, baselines.predict(interactions, name))
    return systems


def print_scores(title: str, systems: dict) -> None:
    """Prints a row for each kind of question."""
    print(f"\n{title}\n| % right | questions | model | 95 % interval | {' | '.join(BASELINES)} |")
    print("|---" * (4 + len(BASELINES)) + "|")
    for kind in sorted(systems["model"], key=lambda kind: (kind != ALL, kind)):
        right, total = systems["model"][kind]
        low, high = metrics.confidence_interval(right, total)
        others = " | ".join(f"{100 * systems[name][kind][0] / total:.1f}" for name in BASELINES)
        shown = f"{100 * right / total:.1f} | {100 * low:.1f} to {100 * high:.1f}"
        print(f"| {kind} | {total} | {shown} | {others} |")


def print_wrong(interactions, predicted) -> None:
    """Prints the questions with wrong answers, the gold answer and the predicted one."""
    for item in metrics.grade(interactions, predicted, denotation.is_right):
        if not item.right:
            prediction = predicted[item.question.id]
            values = denotation.answer(item.interaction, prediction)
            gold = ", ".join(item.question.answer.answer_texts)
            text = item.question.original_text
            print(f"{text} | {gold} | {prediction.aggregation} of {values}")


if __name__ == "__main__":
    main()
