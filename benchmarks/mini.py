"""Asks a trained model English questions about 20 small CSV files that no training has seen.

    python benchmarks/mini.py                          # the preset that comes with mate-tf
    python benchmarks/mini.py --model out/wtq/model    # any model of Predictor.from_pretrained

The tables and questions are in tests/handmade, five questions a table. An answer is right by the
rules of WikiTableQuestions' evaluator. The scores stand beside those of lexical baselines.
"""

import argparse
import collections
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as the command line does

from mate_tf.data.interactions import Question, interaction_from_table  # noqa: E402
from mate_tf.evaluation import baselines, denotation, metrics  # noqa: E402
from mate_tf.evaluation.predictions import Prediction  # noqa: E402
from mate_tf.files.atomic import write_text  # noqa: E402
from mate_tf.serving import presets  # noqa: E402
from mate_tf.serving.predictor import Predictor  # noqa: E402
from mate_tf.tables.table import Table  # noqa: E402

DATA = ROOT / "tests" / "handmade"
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


def ask(predictor: Predictor, interactions, folder: pathlib.Path):
    """Returns predictions by question id, and the seconds that a question took."""
    predicted, start = {}, time.perf_counter()
    for interaction in interactions:
        question = interaction.questions[0]
        answer = predictor.ask(folder / interaction.table.table_id, question.original_text)
        predicted[question.id] = Prediction(
            question.id,
            tuple((cell.row, cell.column) for cell in answer.cells),
            aggregation=answer.aggregation or "NONE",
        )
    return predicted, (time.perf_counter() - start) / len(interactions)


def scores(interactions, kinds, predicted) -> dict[str, tuple[int, int]]:
    """Returns kind -> numbers of right answers and of questions."""
    counts = collections.defaultdict(lambda: [0, 0])
    for item in metrics.grade(interactions, predicted, denotation.is_right):
        for kind in (ALL, kinds[item.question.id]):
            counts[kind][0] += item.right
            counts[kind][1] += 1
    return {kind: tuple(each) for kind, each in counts.items()}


def main() -> None:
    """Prints a table, and writes it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", help="folder of a trained model; by default the preset")
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/mini.json"))
    parser.add_argument("--wrong", action="store_true", help="print the wrong answers")
    options = parser.parse_args()
    interactions, kinds = read(options.data)
    model = options.model or presets.find(presets.DEFAULT)
    predictor = Predictor.from_pretrained(model)
    predicted, seconds = ask(predictor, interactions, options.data)
    systems = {"model": scores(interactions, kinds, predicted)}
    for name in BASELINES:
        systems[name] = scores(interactions, kinds, baselines.predict(interactions, name))
    print(f"| % right | questions | model | 95 % interval | {' | '.join(BASELINES)} |")
    print("|---" * (4 + len(BASELINES)) + "|")
    for kind in [ALL, *sorted(set(kinds.values()))]:
        right, total = systems["model"][kind]
        low, high = metrics.confidence_interval(right, total)
        others = " | ".join(f"{100 * systems[name][kind][0] / total:.1f}" for name in BASELINES)
        shown = f"{100 * right / total:.1f} | {100 * low:.1f} to {100 * high:.1f}"
        print(f"| {kind} | {total} | {shown} | {others} |")
    print(f"{1000 * seconds:.0f} ms a question, after loading")
    if options.wrong:
        for item in metrics.grade(interactions, predicted, denotation.is_right):
            if not item.right:
                print_wrong(item.interaction, predicted[item.question.id])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    write_text(str(options.output), json.dumps({"model": str(model), "systems": systems}, indent=1))


def print_wrong(interaction, prediction: Prediction) -> None:
    """Prints a question with the gold and the predicted answer."""
    question = interaction.questions[0]
    found = denotation.answer(interaction, prediction)
    gold = ", ".join(question.answer.answer_texts)
    print(f"{question.original_text} | {gold} | {prediction.aggregation} of {found}")


if __name__ == "__main__":
    main()
