"""Questions about long tables: how many answers are right, how many wrong ones are shown, how long.

    python benchmarks/long_tables.py
    python benchmarks/long_tables.py --interactions out/tables/wtq/interactions/dev.tfrecord
    python benchmarks/long_tables.py --rows 1000 10000 100000

Without options it asks the 50 questions of benchmarks/long_files.py, about files of 400 to 5,000
rows. With `--interactions`, whose tables create_data wrote, it lengthens these tables to each of
`--lengths` rows, generates a question about each one, which the generator answers by executing it,
and prints the right answers by kind of question. New rows are mixed from the cells of the others
and have names of their own. With `--rows` it measures the time and memory of one question about a
file of that many rows and six columns, each in a process of its own. Beside the whole reading
stands the part of the table that fits the model, and lexical baselines.
"""

import argparse
import collections
import multiprocessing
import random
import resource
import time

import common
import long_files
import numpy as np

from mate_tf.data import records
from mate_tf.data.generation.mentionable_columns import is_name
from mate_tf.data.generation.questions import questions
from mate_tf.data.interactions import Question, interaction_from_table, table_of
from mate_tf.evaluation import baselines, calibration, metrics
from mate_tf.evaluation.predictions import Prediction
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.table import Table

BASELINES = ("lexical match, counted", "row and column match, counted")
READINGS = {"whole": "whole", "a part": {}}
MEBIBYTE = 2**20
SHORT = 0
"""Length that stands for tables as they are."""


def ask_files(predictors: dict[str, Predictor]) -> list[dict]:
    """Asks the questions of the files; returns a row for each."""
    found = []
    for make in long_files.FILES:
        file = make()
        prepared = Predictor.prepare(file.table)
        for each in file.questions:
            row = {"file": file.name, "rows": len(file.table), "kind": each.kind}
            row |= {"question": each.question, "expected": str(each.answer)}
            for name, predictor in predictors.items():
                begin = time.perf_counter()
                answer = predictor.ask(prepared, each.question)
                row[name] = {
                    "right": long_files.is_right(each, answer, prepared),
                    "shown": answer.answerable,
                    "confidence": answer.confidence,
                    "text": answer.text[:80],
                    "seconds": time.perf_counter() - begin,
                }
            found.append(row)
    return found


def print_files(found: list[dict]) -> None:
    """Prints the answers to the files' questions by kind, and those that are wrong."""
    by_kind = collections.defaultdict(list)
    for row in found:
        by_kind[row["kind"]].append(row)
    print(
        "| kind | questions |", " | ".join(f"{name}: right, wrong and shown" for name in READINGS)
    )
    print("|---|---|" + "---|" * len(READINGS))
    for kind, rows in [*by_kind.items(), ("all", found)]:
        counts = [
            f"{sum(row[name]['right'] for row in rows)}, "
            f"{sum(row[name]['shown'] and not row[name]['right'] for row in rows)}"
            for name in READINGS
        ]
        print(f"| {kind} | {len(rows)} | {' | '.join(counts)} |")
    for row in found:
        if not row["whole"]["right"]:
            print(f"wrong | {row['question']} | {row['whole']['text']} | not {row['expected']}")
    seconds = [row["whole"]["seconds"] for row in found]
    print(f"median {np.median(seconds):.2f} s a question, at most {max(seconds):.2f} s")


def lengthened(table: Table, rows: int, draw: random.Random) -> Table:
    """Returns a table with rows that are mixed from the cells of the others, up to a number.

    The first column of names, all of them different, gets names that are mixed from its words.
    """
    columns = [table.column(index) for index in range(table.num_columns)]
    names = {
        index
        for index, cells in enumerate(columns)
        if len(set(cells)) == len(cells) and any(map(is_name, cells))
    }
    found = [list(row) for row in table.rows]
    seen = {index: set(columns[index]) for index in names}
    while len(found) < rows:
        row = [draw.choice(cells) for cells in columns]
        for index in names:
            first, second = draw.choice(columns[index]), draw.choice(columns[index])
            name = " ".join([*first.split()[:2], *second.split()[-1:], str(len(found))])
            row[index] = name
            seen[index].add(name)
        found.append(row)
    draw.shuffle(found)
    return Table.from_rows(table.columns, found, table_id=table.table_id)


def asked_of(tables: list[Table], rows: int, seed: int = 0):
    """Generates a question about each table, lengthened to `rows` rows or as it is.

    Returns interactions of one question each, and question id -> kind.
    """
    draw, found, kinds = random.Random(seed), [], {}
    for number, table in enumerate(tables):
        if rows != SHORT:
            table = lengthened(table, rows, draw)
        for made in questions(table, draw, 1):
            name = f"long-{number}/{rows}-0"
            texts = [table.rows[row][column] for row, column in made.coordinates]
            question = Question(f"{name}_0", made.text, made.coordinates, texts, made.aggregation)
            found.append(interaction_from_table(table, name, [question]))
            kinds[question.id] = made.kind
    return found, kinds


def is_right(interaction, prediction: Prediction) -> bool:
    """Returns whether an answer is the generated one: its operation and the texts of its cells."""
    answer, table = interaction.questions[0].answer, interaction.table
    gold = [(each.row_index, each.column_index) for each in answer.answer_coordinates]
    operation = answer.AggregationFunction.Name(answer.aggregation_function)
    if prediction.aggregation != operation:
        return False
    if operation == "COUNT":
        return len(prediction.coordinates) == len(gold)
    texts = [
        sorted(table.rows[row].cells[column].text for row, column in cells)
        for cells in (prediction.coordinates, gold)
    ]
    return texts[0] == texts[1]


def ask_generated(predictors, tables: list[Table], lengths) -> list[dict]:
    """Asks generated questions about tables of each length; returns a row for each question."""
    found = []
    for length in lengths:
        interactions, kinds = asked_of(tables, length)
        predicted = {name: baselines.predict(interactions, name) for name in BASELINES}
        for number, interaction in enumerate(interactions):
            question = interaction.questions[0]
            row = {"rows": length, "kind": kinds[question.id], "question": question.original_text}
            for name, predictor in predictors.items():
                answer = predictor.ask(table_of(interaction), question.original_text)
                prediction = Prediction(
                    question.id, tuple(answer.coordinates), aggregation=answer.aggregation
                )
                row[name] = {
                    "right": is_right(interaction, prediction),
                    "shown": answer.answerable,
                    "confidence": answer.confidence,
                }
            for name, made in predicted.items():
                row[name] = {"right": is_right(interaction, made[question.id])}
            found.append(row)
            if not number % 50:
                print(f"{length} rows | {number} of {len(interactions)}", flush=True)
    return found


def print_generated(found: list[dict], lengths) -> None:
    """Prints the shares of right answers by kind and length, and the calibration error."""
    systems = [*READINGS, *BASELINES]
    columns = [(length, name) for length in lengths for name in systems]
    shown = [f"{'short' if length == SHORT else f'{length:,}'}: {name}" for length, name in columns]
    print(f"| kind | questions | {' | '.join(shown)} |\n|---|---|" + "---|" * len(columns))
    kinds = collections.Counter(row["kind"] for row in found)
    for kind in [*kinds, "all"]:
        cells = []
        for length, name in columns:
            rows = [r for r in found if r["rows"] == length and kind in (r["kind"], "all")]
            right = sum(row[name]["right"] for row in rows)
            cells.append(f"{100 * right / len(rows):.1f}" if rows else "")
        number = len(rows)
        print(f"| {kind} | {number} | {' | '.join(cells)} |")
    for length in lengths:
        rows = [row["whole"] for row in found if row["rows"] == length]
        right = np.array([row["right"] for row in rows])
        error = calibration.expected_calibration_error(
            np.array([row["confidence"] for row in rows]), right
        )
        low, high = metrics.confidence_interval(int(right.sum()), len(right))
        wrong = sum(row["shown"] and not row["right"] for row in rows)
        print(
            f"{'short' if length == SHORT else f'{length:,} rows'}: {100 * right.mean():.1f} % "
            f"({100 * low:.1f} to {100 * high:.1f}), {wrong} of {len(rows)} wrong and shown, "
            f"calibration error {100 * error:.1f} %"
        )


def times(rows: int) -> dict[str, float]:
    """Measures one question about a file of `rows` rows, from reading to the answer."""
    file = long_files.stock(count=rows)
    predictor = Predictor.from_preset()
    predictor.ask(file.table.head(300), "How many articles are by Makita?")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    prepared = Predictor.prepare(file.table)
    answer = predictor.ask(prepared, "How many articles are by Makita?")
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    predictor.ask(prepared, "What is the average price of a saw?")
    second = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    expected = (file.table.Brand == "Makita").sum()
    return {
        "rows": rows,
        "right": bool(answer.value == expected),
        "seconds": first,
        "next question, seconds": second,
        "MiB more": (after - before) * 1024 / MEBIBYTE,
    }


def print_times(found: list[dict]) -> None:
    """Prints times and memory, and the exponent of their growth."""
    print("| rows | first question, s | next question, s | memory, MiB more | right |")
    print("|---|---|---|---|---|")
    for row in found:
        print(
            f"| {row['rows']:,} | {row['seconds']:.1f} | {row['next question, seconds']:.1f} | "
            f"{row['MiB more']:.0f} | {'yes' if row['right'] else 'no'} |"
        )
    if len(found) > 1:
        rows, seconds = (np.log([row[name] for row in found]) for name in ("rows", "seconds"))
        print(f"growth: rows to the power of {np.polyfit(rows, seconds, 1)[0]:.2f}")


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--model", help="folder of a trained model; by default the preset")
    parser.add_argument("--interactions", help="lengthen the tables of this file of create_data")
    parser.add_argument("--tables", type=int, default=200, help="at most so many of them")
    parser.add_argument("--lengths", type=int, nargs="+", default=[SHORT, 100, 1000])
    parser.add_argument("--rows", type=int, nargs="+", help="measure times of so many rows")
    return parser.parse_args()


def distinct(interactions) -> list[Table]:
    """Returns the tables of interactions, each once."""
    found = {each.table.table_id: each for each in interactions}
    return [table_of(each) for each in found.values()]


def main() -> None:
    """Prints tables, and writes them as JSON."""
    options = arguments()
    if options.rows:
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            found = pool.map(times, options.rows, chunksize=1)
        print_times(found)
        common.write(options, "long_tables_times", {"found": found})
        return
    predictors = {
        name: Predictor.from_pretrained(options.model, reading=reading)
        if options.model
        else Predictor.from_preset(reading=reading)
        for name, reading in READINGS.items()
    }
    if options.interactions:
        tables = distinct(records.read_interactions(options.interactions))[: options.tables]
        found = ask_generated(predictors, tables, options.lengths)
        print_generated(found, options.lengths)
        common.write(options, "long_tables_generated", {"found": found})
    else:
        found = ask_files(predictors)
        print_files(found)
        common.write(options, "long_tables", {"found": found})


if __name__ == "__main__":
    main()
