"""Time and memory to make an example of a very long table, whose rows are pruned by the question.

    python benchmarks/long_tables.py --bert_vocab_file vocab.txt
    python benchmarks/long_tables.py --bert_vocab_file vocab.txt --rows 1000 300000

A table of people, by their numbers, with six columns is written as CSV, read with its numbers and
dates, and converted for two questions about one in the middle. Each length has a process of its
own. Memory is what the process needs more at its peak than before it read the file. Prints a table,
writes JSON and a plot.
"""

import argparse
import multiprocessing
import os
import random
import resource
import tempfile
import time

import common

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.tables.table import Table

COLUMNS = ("Number", "City", "Job", "Salary", "Born", "Start")
CITIES = ("Oslo", "Bern", "Porto", "Leeds", "Turin", "Ghent")
JOBS = ("chemist", "pilot", "teacher", "nurse", "cook", "clerk")
MEBIBYTE = 2**20


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=(1000, 10_000, 100_000))
    parser.add_argument("--max_seq_length", type=int, default=512)
    return parser.parse_args()


def write_table(path, num_rows: int) -> None:
    """Writes a table with a different number in each row."""
    draw = random.Random(0)
    with open(path, "w", encoding="utf-8") as file:
        print(*COLUMNS, sep=",", file=file)
        for row in range(num_rows):
            start = f"{draw.randint(1990, 2020)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
            values = draw.choice(CITIES), draw.choice(JOBS), draw.randint(20, 90) * 1000
            print(number_of(row), *values, draw.randint(1950, 2000), start, sep=",", file=file)


def number_of(row: int) -> str:
    return f"R{row:06}"


def measure(path: str, num_rows: int, vocab_file: str, max_seq_length: int) -> dict:
    """Reads and converts a table in this process; seconds, bytes, whether the row was kept."""
    fit = ("prune_rows", "drop_rows_to_fit", "drop_columns_to_fit", "renumber_to_fit")
    converter = ExampleConverter(vocab_file, max_seq_length, **dict.fromkeys(fit, True))
    before = peak()
    start = time.perf_counter()
    table = Table.from_csv(path)
    # The gold answers tell whether the examples have the row.
    row = num_rows // 2
    asked = [
        Question(
            f"long-0_{number}", f"what is the {name} of {number_of(row)}?", [(row, number + 1)]
        )
        for number, name in enumerate(("city", "job"))
    ]
    interaction = interaction_from_table(table, "long-0", asked)
    seconds = {"read": time.perf_counter() - start}
    kept = True
    for number, name in enumerate(("first question", "second question")):
        start = time.perf_counter()
        example = converter.convert(interaction, number)
        seconds[name] = time.perf_counter() - start
        kept &= any(example.features.feature["label_ids"].int64_list.value)
    return {"rows": num_rows, "seconds": seconds, "bytes": peak() - before, "row_kept": kept}


def peak() -> int:
    """Returns the largest memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def print_results(results: list[dict]) -> None:
    steps = list(results[0]["seconds"])
    header = " ".join(f"{step}, s".rjust(18) for step in steps)
    print(f"\n{'rows':>8} {header} {'MiB':>8}  row kept")
    for each in results:
        times = " ".join(f"{each['seconds'][step]:18.2f}" for step in steps)
        memory = each["bytes"] / MEBIBYTE
        kept = "yes" if each["row_kept"] else "no"
        print(f"{each['rows']:8,} {times} {memory:8.0f}  {kept}")


def plot(results: list[dict]):
    """Draws seconds and memory over the number of rows."""
    figure, (times, memory) = common.new_axes(10, 4, 2)
    rows = [each["rows"] for each in results]
    for step in results[0]["seconds"]:
        times.loglog(rows, [each["seconds"][step] for each in results], "o-", label=step)
    memory.loglog(rows, [each["bytes"] / MEBIBYTE for each in results], "o-")
    times.set(xlabel="rows", ylabel="seconds", title="time")
    memory.set(xlabel="rows", ylabel="MiB", title="peak memory above that of the empty process")
    times.legend()
    return figure


def main() -> None:
    options = arguments()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for num_rows in options.rows:
            path = os.path.join(folder, f"{num_rows}.csv")
            write_table(path, num_rows)
            given = (path, num_rows, options.bert_vocab_file, options.max_seq_length)
            with multiprocessing.get_context("spawn").Pool(1) as process:
                results.append(process.apply(measure, given))
    print_results(results)
    common.write(options, "long_tables", results, plot(results))


if __name__ == "__main__":
    main()
