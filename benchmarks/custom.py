"""Trains `configs/custom.yaml` on 30 generated tables, as a user trains on tables of their own.

    python benchmarks/custom.py

Two data sets in the format of the task CUSTOM are written: questions with cells and numbers, and
statements with classes. Counts and sums are given as numbers only, so the model has to find out
which operation over which cells gives them. The command line trains a model on each data set, with
24 tables. The scores are those of the 6 other tables, beside the baseline that always gives the
commonest training answer of its kind.

`--questions` asks so many questions of each table instead, as a user has a few of each kind; also
for the highest and lowest values, and in words that are not the table's. From the preset that comes
with the package:

    python benchmarks/custom.py --config_file configs/custom_mini.yaml --init_checkpoint mini \
        --questions 9 --tables 12 30 --data out/few_questions

What is done already is not done again: killed, the same command goes on. `--params_override` goes
to both trainings; others need another `--data`.
"""

import argparse
import csv
import dataclasses
import itertools
import json
import pathlib
import random
import resource
import time
from collections.abc import Callable, Iterator

import common

from mate_tf.data import records
from mate_tf.data.interactions import parse_question_id
from mate_tf.data.records.create_data import interactions_path
from mate_tf.evaluation import given_answers, metrics, predictions
from mate_tf.files.atomic import write_json

CONFIG = common.CONFIGS / "custom.yaml"
SPLITS = ("train", "dev")
ROWS = (5, 8)
VALUES_IN_TABLE = 3
"""Different values of a column of texts in one table."""

MODES = ("create_data", "train", "predict_and_evaluate")
JUDGE = given_answers.is_right
MODEL, COMMONEST, QUESTIONS = "model", "commonest answer", "questions"


@dataclasses.dataclass(frozen=True)
class Domain:
    """A kind of table: names and values of its columns.

    Attributes:
        key: header of the first column.
        names: values of the first column.
        many: word for several rows.
        texts: columns of texts, which conditions are about.
        numbers: columns of numbers, with the smallest and the largest one.
        phrases: column -> question for it in other words than the table's.
    """

    key: str
    names: tuple[str, ...]
    many: str
    texts: dict[str, tuple[str, ...]]
    numbers: dict[str, tuple[int, int]]
    phrases: dict[str, str]


DOMAINS = (
    Domain(
        "item",
        ("lamp", "chair", "table", "clock", "vase", "shelf", "mirror", "carpet", "basket", "candle",
         "pillow", "blanket", "drawer", "bench", "curtain", "stool"),
        "items",
        {
            "color": ("red", "blue", "green", "white", "black"),
            "maker": ("acme", "norda", "vulcan", "tessel"),
        },
        {"price": (11, 99), "stock": (11, 60)},
        {
            "color": "what does the {} look like?",
            "maker": "where was the {} produced?",
            "price": "how much do I pay for the {}?",
            "stock": "how many of the {} are left?",
        },
    ),
    Domain(
        "name",
        ("anna", "boris", "clara", "david", "emma", "felix", "greta", "hugo", "irene", "jonas",
         "karin", "leon", "maria", "nils", "olga", "paul"),
        "people",
        {
            "city": ("rome", "paris", "vienna", "madrid", "oslo"),
            "team": ("sales", "legal", "support", "design"),
        },
        {"age": (18, 65), "score": (11, 99)},
        {
            "city": "where does {} live?",
            "team": "whom does {} work with?",
            "age": "how old is {}?",
            "score": "how well did {} do?",
        },
    ),
    Domain(
        "town",
        ("ashford", "bexley", "corby", "dover", "epsom", "fleet", "gosport", "hove", "ilford",
         "kendal", "luton", "malvern", "newark", "oakham", "poole", "redcar"),
        "towns",
        {
            "region": ("north", "south", "east", "west"),
            "industry": ("wool", "steel", "glass", "paper", "tourism"),
        },
        {"schools": (11, 60), "shops": (20, 99)},
        {
            "region": "in which part of the country is {}?",
            "industry": "what do they live on in {}?",
            "schools": "how many places to learn does {} have?",
            "shops": "how many stores are in {}?",
        },
    ),
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Sheet:
    """A generated table with its domain."""

    domain: Domain
    columns: list[str]
    rows: list[list[str]]


Asked = tuple[str, str, dict]
"""Kind, question and the keys of the answer."""


def make_sheet(generator: random.Random, domain: Domain) -> Sheet:
    """Draws a table. Its columns are in any order but for the first."""
    others = [*domain.texts, *domain.numbers]
    generator.shuffle(others)
    values = {name: generator.sample(domain.texts[name], VALUES_IN_TABLE) for name in domain.texts}
    rows = [
        [name]
        + [
            generator.choice(values[other])
            if other in domain.texts
            else str(generator.randint(*domain.numbers[other]))
            for other in others
        ]
        for name in generator.sample(domain.names, generator.randint(*ROWS))
    ]
    return Sheet(domain, [domain.key, *others], rows)


def questions(generator: random.Random, sheet: Sheet) -> Iterator[Asked]:
    """Yields all questions with cells and numbers."""
    del generator
    domain, columns, rows = sheet.domain, sheet.columns, sheet.rows
    for row, column in itertools.product(range(len(rows)), range(1, len(columns))):
        question = f"what is the {columns[column]} of {rows[row][0]}?"
        yield "cells", question, {"cells": [[row, column]]}
    for text, value, found in _conditions(sheet):
        which = f"{domain.many} with {text} {value}"
        yield "cells", f"which are the {which}?", {"cells": [[row, 0] for row in found]}
        for question in (f"how many {which} are there?", f"what is the number of {which}?"):
            yield "counts", question, {"number": len(found)}
        for number in domain.numbers:
            column = columns.index(number)
            cells = [[row, column] for row in found]
            yield "cells", f"what is the {number} of {which}?", {"cells": cells}
            total = sum(int(rows[row][column]) for row in found)
            yield "sums", f"what is the total {number} of {which}?", {"number": total}


def extremes(sheet: Sheet) -> Iterator[Asked]:
    """Yields questions for the row with the highest or lowest number, if there is one such row."""
    for number, (word, pick) in itertools.product(
        sheet.domain.numbers, (("highest", max), ("lowest", min))
    ):
        column = sheet.columns.index(number)
        values = [int(row[column]) for row in sheet.rows]
        if values.count(pick(values)) == 1:
            cell = [values.index(pick(values)), 0]
            question = f"which {sheet.domain.key} has the {word} {number}?"
            yield "extremes", question, {"cells": [cell]}


def in_other_words(sheet: Sheet) -> Iterator[Asked]:
    """Yields questions for one cell that do not name its column."""
    for row, column in itertools.product(range(len(sheet.rows)), range(1, len(sheet.columns))):
        question = sheet.domain.phrases[sheet.columns[column]].format(sheet.rows[row][0])
        yield "other words", question, {"cells": [[row, column]]}


def mixed(generator: random.Random, sheet: Sheet) -> Iterator[Asked]:
    """Yields all questions: one of each kind, and again."""
    kinds = {}
    asked = (*questions(generator, sheet), *extremes(sheet), *in_other_words(sheet))
    for kind, question, answer in asked:
        kind = "look-ups" if kind == "cells" and " with " not in question else kind
        kinds.setdefault(kind, []).append((kind, question, answer))
    for of_kind in kinds.values():
        generator.shuffle(of_kind)
    for each in itertools.zip_longest(*kinds.values()):
        yield from filter(None, each)


def statements(generator: random.Random, sheet: Sheet) -> Iterator[Asked]:
    """Yields as many true as false statements about rows and about the table.

    What a false one says of a row is true of another row or of none.
    """
    domain, columns, rows = sheet.domain, sheet.columns, sheet.rows
    for text in domain.texts:
        column, values = columns.index(text), set(domain.texts[text])
        for row in rows:
            about = f"the {text} of {row[0]} is"
            other = generator.choice(sorted(values - {row[column]}))
            yield "classes", f"{about} {row[column]}", {"class": "entailed"}
            yield "classes", f"{about} {other}", {"class": "refuted"}
    for name in (*domain.texts, *domain.numbers):
        there = {row[columns.index(name)] for row in rows}
        values = domain.texts.get(name) or map(str, range(*domain.numbers[name]))
        absent = sorted(set(values) - there)
        number = min(len(there), len(absent))
        for label, some in (("entailed", sorted(there)), ("refuted", absent)):
            for value in generator.sample(some, number):
                statement = f"there are {domain.many} with {name} {value}"
                yield "classes", statement, {"class": label}


def _conditions(sheet):
    """Yields (column of texts, value, rows with it) for all values in the sheet."""
    for text in sheet.domain.texts:
        column = sheet.columns.index(text)
        for value in sorted({row[column] for row in sheet.rows}):
            found = [row for row, each in enumerate(sheet.rows) if each[column] == value]
            yield text, value, found


DATA: dict[str, Callable[[random.Random, Sheet], Iterator[Asked]]] = {
    "answers": questions,
    "classes": statements,
}
"""Data set -> function that makes its questions. Classes need a data set of their own."""


def write(folder: pathlib.Path, make, seed: int, tables, most: int | None = None) -> None:
    """Writes a data set in the format of CUSTOM; equal seeds write equal files.

    `most` is the number of questions about a table; None: all.
    """
    generator = random.Random(seed)
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    domains = itertools.cycle(DOMAINS)
    for split, number_of_tables in zip(SPLITS, tables, strict=True):
        lines = []
        for index in range(number_of_tables):
            sheet = make_sheet(generator, next(domains))
            path = f"tables/{split}_{index:02}.csv"
            with open(folder / path, "w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([sheet.columns, *sheet.rows])
            for kind, question, answer in itertools.islice(make(generator, sheet), most):
                name = f"{kind}-{len(lines)}"
                lines.append({"id": name, "table": path, "question": question, **answer})
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")


def train(data: pathlib.Path, output: pathlib.Path, *flags: str) -> dict[str, list[float]]:
    """Creates data, trains and evaluates by the command line, as far as this is not done yet.

    Returns:
        mode -> seconds on the clock and of all processors; of its last start, if it was killed.
    """
    output.mkdir(parents=True, exist_ok=True)
    path = output / "spent.json"
    spent = json.loads(path.read_text()) if path.exists() else {}
    given = (f"--input_dir={data}", f"--output_dir={output}")
    for mode in MODES:
        if mode not in spent:
            start, before = time.monotonic(), cpu_seconds()
            common.run(mode, *given, "--num_processes=1", *flags)
            spent[mode] = [time.monotonic() - start, cpu_seconds() - before]
            write_json(str(path), spent)
    return spent


def cpu_seconds() -> float:
    """Returns the processor time of the child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def scores(output: pathlib.Path) -> dict[str, dict]:
    """Returns kind -> number of questions and of right answers, over tables not trained on."""
    asked = {}
    for split in SPLITS:
        asked[split] = list(records.read_interactions(interactions_path(str(output), split)))
    predicted = metrics.by_question(predictions.read_json(output / "model" / "dev.json"))
    found = {}
    for kind in sorted({kind_of(each) for each in asked["dev"]}):
        of_kind = {name: [i for i in each if kind_of(i) == kind] for name, each in asked.items()}
        commonest = given_answers.commonest_answer(of_kind["train"])(of_kind["dev"])
        right = {
            name: sum(each.right for each in metrics.grade(of_kind["dev"], answers, JUDGE))
            for name, answers in ((MODEL, predicted), (COMMONEST, commonest))
        }
        found[kind] = {QUESTIONS: len(of_kind["dev"]), **right}
    return found


def kind_of(interaction) -> str:
    """Returns the kind that `write` put into the question's id."""
    return parse_question_id(interaction.questions[0].id).example.rpartition("-")[0]


def together(of_seeds: list[dict[str, dict]]) -> dict[str, dict]:
    """Adds up the numbers of several seeds, which have different tables."""
    return {
        kind: {name: sum(found[kind][name] for found in of_seeds) for name in row}
        for kind, row in of_seeds[0].items()
    }


def table(found: dict[str, dict]) -> str:
    """Formats the shares of right answers, with 95 % intervals."""
    columns = {name: {} for name in (MODEL, "95 % of it", COMMONEST, "95 % of that", QUESTIONS)}
    for kind, row in found.items():
        of_kind = []
        for name in (MODEL, COMMONEST):
            low, high = metrics.confidence_interval(row[name], row[QUESTIONS])
            of_kind += [row[name] / row[QUESTIONS], f"{100 * low:.1f} to {100 * high:.1f}"]
        for name, value in zip(columns, (*of_kind, row[QUESTIONS]), strict=True):
            columns[name][kind] = value
    return metrics.comparison(columns, "kind")


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=(1,), help="of tables, questions and weights"
    )
    parser.add_argument(
        "--tables", type=int, nargs=2, default=[24, 6], help="to train on, and for evaluation"
    )
    parser.add_argument("--questions", type=int, help="about each table; by default all")
    parser.add_argument("--config_file", default=CONFIG)
    parser.add_argument("--init_checkpoint", help="weights to start from")
    parser.add_argument("--params_override", action="append", default=[])
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("out/custom_tables"))
    return parser.parse_args()


def main() -> None:
    options = arguments()
    of_seeds, times = [], {}
    for seed in options.seeds:
        of_seeds.append({})
        for name, make in ({"mixed": mixed} if options.questions else DATA).items():
            data = options.data / f"{name}_{seed}"
            write(data, make, seed, options.tables, options.questions)
            flags = [f"--config_file={options.config_file}", f"--tf_random_seed={seed}"]
            flags += common.overrides([f"task.train_data.seed={seed}"])
            flags += common.overrides(options.params_override)
            if options.init_checkpoint:
                flags.append(f"--init_checkpoint={options.init_checkpoint}")
            times[f"{name}, seed {seed}"] = train(data, data / "out", *flags)
            of_seeds[-1] |= scores(data / "out")
    found = together(of_seeds)
    print(f"\nseeds {', '.join(map(str, options.seeds))}\n{table(found)}")
    for name, of_modes in times.items():
        for mode, (clock, worked) in of_modes.items():
            print(f"{name}, {mode}: {clock:.0f} s, {worked:.0f} s of processor time")
    of_seeds = dict(zip(map(str, options.seeds), of_seeds, strict=True))
    common.write(options, "custom", {"all seeds": found, "seeds": of_seeds, "times": times})


if __name__ == "__main__":
    main()
