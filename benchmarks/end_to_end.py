"""Whole questions, tables in and answers out: mate-tf beside Hugging Face's pipeline.

    python benchmarks/end_to_end.py --input_dir data/wikitq --bert_vocab_file vocab.txt \\
        --peers_python peers/bin/python
    python benchmarks/end_to_end.py ... --max_seq_length 2048 --min_words 1500
    python benchmarks/end_to_end.py ... --layers 4 --hidden_size 384 --questions 3000 --chunk 200
    python benchmarks/end_to_end.py ... --input_dir data/hybridqa --hybridqa --max_seq_length 2048

A TAPAS model of BERT-base's size with random weights is written by Hugging Face's code. Each side
loads it in a process of its own and answers the same questions, one chunk of them in each turn:
those of WikiTableQuestions' dev split, or of HybridQA's with expanded cells. The ratio of a chunk
is that of the seconds of Hugging Face's best precision and batch size to those of the side. Then
the commands `--mode=create_data` and `--mode=predict` answer all questions; their seconds include
the start of the programs. The time of mate-tf has four parts: reading of tables, conversion to
features, model, and decoding of the answers. Prints tables, writes JSON and a plot.
"""

import argparse
import collections
import csv
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import common
import pretrained_parity as parity

from mate_tf.analysis.cost import hardware
from mate_tf.analysis.cost.measuring_process import Worker
from mate_tf.data import interactions
from mate_tf.data.converters.expansion import CellTexts
from mate_tf.data.datasets import hybridqa
from mate_tf.tables.conversion import ConversionConfig

THEIRS = "Hugging Face"
INT8 = "int8"
WARM_UP = 34
"""Times that each process answers a question about a short table before: `serving.served_model`
traces a graph after 32 calls. Then it answers the first chunk."""


@dataclasses.dataclass(frozen=True)
class Side:
    """One way to answer.

    Attributes:
        attention: variant of mate-tf; THEIRS for the pipeline.
        precision: dtype that mate-tf computes with, or INT8.
        batch_size: examples at a time.
    """

    attention: str
    precision: str
    batch_size: int

    @property
    def process(self) -> tuple[str, str]:
        """What sides in the same process have in common."""
        return self.attention, self.precision

    def __str__(self) -> str:
        how = "one at a time" if self.batch_size == 1 else f"batches of {self.batch_size}"
        return f"{self.attention}, {self.precision}, {how}"


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--input_dir", required=True, help="WikiTableQuestions' release")
    parser.add_argument(
        "--hybridqa", action="store_true", help="--input_dir is HybridQA's; cells are expanded"
    )
    parser.add_argument("--sentences", type=int, default=40, help="k of HybridQA's tables")
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--peers_python", required=True, help="with torch and transformers")
    parser.add_argument("--attention", nargs="+", default=("full", "mate_efficient"))
    parser.add_argument("--precisions", nargs="+", default=("float32", "bfloat16", INT8))
    parser.add_argument("--batch_sizes", type=int, nargs="+", default=(1, 4, 16))
    parser.add_argument("--questions", type=int, default=48)
    parser.add_argument("--min_words", type=int, default=0, help="only tables with as many words")
    parser.add_argument("--chunk", type=int, default=16, help="questions in a turn")
    parser.add_argument("--max_seq_length", type=int, default=512)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--hidden_size", type=int, default=768)
    parser.add_argument(
        "--without_jobs", dest="jobs", action="store_false", help="leave out the commands"
    )
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def sides(options) -> list[Side]:
    """All sides, Hugging Face's first."""
    theirs = [each for each in options.precisions if each != INT8]
    ways = [(THEIRS, each) for each in theirs]
    ways += [(variant, each) for variant in options.attention for each in options.precisions]
    return [Side(*way, size) for way in ways for size in options.batch_sizes]


def start(side: Side, folder: str, options) -> tuple:
    """Starts the process of a side.

    Returns:
        the `measuring_process.Worker`, and the seconds to load the model, without the imports.
    """
    settings = json.dumps({"threads": options.threads})
    length = {"max_seq_length": options.max_seq_length}
    if side.attention == THEIRS:
        script = common.ROOT / "benchmarks" / "peers" / "table_questions.py"
        quiet = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
        worker = Worker([options.peers_python, str(script), settings], quiet)
        given = {"precision": side.precision, **length}
        return worker, worker.ask("load", folder=folder, **given)["seconds"]
    script = common.ROOT / "benchmarks" / "table_questions_worker.py"
    worker = Worker([sys.executable, str(script), settings])
    given = {"attention": side.attention, "precision": side.precision, **length}
    return worker, worker.ask("load", folder=folder, **given)["seconds"]


def measure(found: list[Side], folder: str, asked: list[dict], options) -> dict[Side, dict]:
    """Lets all sides answer, one chunk in each turn.

    Returns:
        by side: load and first, seconds to load the model and for the first question after it;
            seconds, a list with those of each chunk; answers of all questions; parts, seconds by
            part; peak, memory of its process in bytes.
    """
    workers, results, begun = {}, {}, {}
    try:
        for side in found:
            if side.process not in workers:
                workers[side.process], load = start(side, folder, options)
                first = workers[side.process].ask("ask", asked=asked[:1], batch_size=1)["seconds"]
                short = asked[0] | {"rows": asked[0]["rows"][:1]}
                for warm_up in ([short] * WARM_UP, asked[: options.chunk]):
                    workers[side.process].ask("ask", asked=warm_up, batch_size=1)
                begun[side.process] = {"load": load, "first": first}
            results[side] = begun[side.process] | {
                "seconds": [],
                "answers": [],
                "parts": collections.Counter(),
            }
        for number, begin in enumerate(range(0, len(asked), options.chunk)):
            chunk = asked[begin : begin + options.chunk]
            for place in range(len(found)):
                side = found[(number + place) % len(found)]
                said = workers[side.process].ask("ask", asked=chunk, batch_size=side.batch_size)
                results[side]["seconds"].append(said["seconds"])
                results[side]["answers"] += said["answers"]
                results[side]["parts"].update(said.get("parts", {}))  # a Counter adds
                results[side]["peak"] = said["peak"]
            print(f"\r{begin + len(chunk)}/{len(asked)} questions", end="", flush=True)
    finally:
        print()
        for worker in workers.values():
            worker.close()
    return results


def best_of_theirs(results: dict[Side, dict]) -> Side:
    """Hugging Face's fastest precision and batch size."""
    theirs = [side for side in results if side.attention == THEIRS]
    return min(theirs, key=lambda side: sum(results[side]["seconds"]))


def rows(results: dict[Side, dict], count: int) -> list[dict]:
    """Figures of each side as JSON values; see the heading of `show`."""
    best, first = best_of_theirs(results), next(iter(results))
    table = []
    for side, found in results.items():
        ratios = [
            other / own
            for other, own in zip(results[best]["seconds"], found["seconds"], strict=True)
        ]
        exact = Side(side.attention, "float32", side.batch_size)
        table.append(
            {
                "side": str(side),
                **dataclasses.asdict(side),
                "milliseconds a question": 1000 * sum(found["seconds"]) / count,
                "times as fast": statistics.median(ratios),
                "least": min(ratios),
                "most": max(ratios),
                "load": found["load"],
                "first": found["first"],
                "shares": {
                    part: seconds / sum(found["seconds"])
                    for part, seconds in found["parts"].items()
                },
                "peak MiB": found["peak"] / 2**20,
                "same as theirs": _same(found, results[first]),
                "same as float32": _same(found, results.get(exact, found)),
            }
        )
    return table


def _same(found: dict, other: dict) -> float:
    """Share of the questions with equal cells and operation."""
    pairs = list(zip(found["answers"], other["answers"], strict=True))
    return sum(own == theirs for own, theirs in pairs) / len(pairs)


def show(table: list[dict]) -> None:
    """Prints the figures."""
    print(
        f"{'':44} ms a     times as fast       load   first  peak   same answers as\n"
        f"{'':44} question (least to most)     s      s      MiB    theirs  float32"
    )
    for row in table:
        spread = f"({row['least']:.2f} to {row['most']:.2f})"
        print(
            f"{row['side']:44} {row['milliseconds a question']:8.0f} {row['times as fast']:5.2f} "
            f"{spread:14} {row['load']:6.1f} {row['first']:6.1f} "
            f"{row['peak MiB']:6.0f} "
            f"{100 * row['same as theirs']:6.1f} % {100 * row['same as float32']:6.1f} %"
        )
    print(f"{'share of the time':44} reading converting model decoding")
    for row in table:
        if row["shares"]:
            shares = (f"{100 * share:7.1f} %" for share in row["shares"].values())
            print(f"{row['side']:44} {' '.join(shares)}")


def run_job(attention: str, precision: str, model: str, data: pathlib.Path, options) -> dict:
    """Answers all questions of `data` with two commands, each a process of its own.

    Returns:
        create_data, predict: seconds of each, from start to end; answers of all questions.
    """
    found = {}
    with tempfile.TemporaryDirectory() as output:
        for mode in ("create_data", "predict"):
            command = [
                *(sys.executable, "run_task_main.py", f"--mode={mode}"),
                *("--task=CUSTOM", f"--input_dir={data}", f"--output_dir={output}"),
                *(f"--init_checkpoint={model}", f"--attention={attention}"),
                *(f"--precision={precision}", f"--max_seq_length={options.max_seq_length}"),
            ]
            begun = time.perf_counter()
            subprocess.run(command, check=True, text=True, cwd=common.ROOT)
            found[mode] = time.perf_counter() - begun
        predicted = json.loads((pathlib.Path(output) / "model" / "test.json").read_text())
    answers = {
        int(each["question_id"].partition("-")[0]): [each["cells"], each["aggregation"]]
        for each in predicted
    }
    count = len((data / "test.jsonl").read_text(encoding="utf-8").splitlines())
    return found | {"answers": [answers.get(number) for number in range(count)]}


def jobs(results: dict[Side, dict], model: str, asked: list[dict], options) -> list[dict]:
    """Figures of `run_job` for each variant and precision; see the heading of `show_jobs`."""
    seconds = sum(results[best_of_theirs(results)]["seconds"])
    table = []
    with tempfile.TemporaryDirectory() as name:
        data = pathlib.Path(name) / "data"
        write_data(asked, data)
        for side in results:
            if side.batch_size != 1 or side.attention == THEIRS or side.precision == INT8:
                continue
            found = run_job(side.attention, side.precision, model, data, options)
            own = found["create_data"] + found["predict"]
            table.append(
                {
                    "side": f"{side.attention}, {side.precision}",
                    "create_data": found["create_data"],
                    "predict": found["predict"],
                    "milliseconds a question": 1000 * own / len(asked),
                    "times as fast": seconds / own,
                    "same as one at a time": _same(found, results[side]),
                }
            )
    return table


def show_jobs(table: list[dict]) -> None:
    """Prints the figures of the commands."""
    print(
        f"{'':44} ms a     times create_data predict same answers\n"
        f"{'both commands, their start included':44} question as fast s       s       as one by one"
    )
    for row in table:
        print(
            f"{row['side']:44} {row['milliseconds a question']:8.0f} {row['times as fast']:5.2f} "
            f"{row['create_data']:9.1f} {row['predict']:9.1f} "
            f"{100 * row['same as one at a time']:9.1f} %"
        )


def plot(table: list[dict], title: str):
    """Draws the milliseconds a question of each side."""
    figure, axes = common.new_axes(8, 1 + 0.35 * len(table))
    names = [row["side"] for row in table]
    values = [row["milliseconds a question"] for row in table]
    colors = ["tab:gray" if row["attention"] == THEIRS else "tab:blue" for row in table]
    bars = axes.barh(names, values, color=colors)
    axes.bar_label(bars, [f" {row['times as fast']:.2f}x" for row in table])
    axes.margins(x=0.12)
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds a question")
    axes.set_title(title)
    return figure


def write_model(options, folder: pathlib.Path) -> str:
    """Writes the model with random weights; returns its folder."""
    vocabulary = parity.tapas_vocabulary(options.bert_vocab_file, folder / "vocab.txt")
    kind, fields = parity.MODELS["wtq"]
    sizes = {
        "num_hidden_layers": options.layers,
        "hidden_size": options.hidden_size,
        "num_attention_heads": options.hidden_size // 64,
        "intermediate_size": 4 * options.hidden_size,
        "reset_position_index_per_cell": True,
        # Long tables have more rows than the default of 256.
        "type_vocab_sizes": [3, 256, 4096, 2, 4096, 4096, 10],
        "max_num_rows": 4096,
    }
    config = {"initializer_range": 0.03} | fields | sizes
    settings = {"class": kind, "config": config, "vocab_file": str(vocabulary)}
    (folder / "settings.json").write_text(json.dumps(settings))
    parity.run_peers(options.peers_python, "write", folder / "model", folder / "settings.json")
    return str(folder / "model")


def of_hybridqa(input_dir: str, sentences: int) -> list[dict]:
    """Returns the dev questions of HybridQA whose tables are there.

    `sentences` of linked passages are appended to the cells of each table.
    """
    shown = CellTexts(
        ConversionConfig(
            expand_entity_descriptions=True, entity_descriptions_sentence_limit=sentences
        )
    )
    found = []
    for interaction in hybridqa.read(input_dir, "dev"):
        table = interactions.table_of(interaction)
        width, texts = len(table.columns), shown.texts(interaction, 0)
        rows = [texts[begin : begin + width] for begin in range(width, len(texts), width)]
        question = interaction.questions[0].original_text
        found.append({"columns": table.columns, "rows": rows, "question": question})
    return found


def chosen(asked: list[dict], count: int, min_words: int) -> list[dict]:
    """Returns `count` questions at equal distances among those with large enough tables."""
    large = [each for each in asked if _words(each) >= min_words]
    return large[:: max(1, len(large) // count)][:count]


def _words(asked: dict) -> int:
    """Returns the number of words in the table of a question."""
    return sum(len(cell.split()) for row in asked["rows"] for cell in row)


def write_data(asked: list[dict], folder: pathlib.Path) -> None:
    """Writes a data set of the task CUSTOM with the questions as its test split.

    The other splits, which the task needs, are the first question with some answer.
    """
    (folder / "tables").mkdir(parents=True)
    lines = []
    for number, each in enumerate(asked):
        name = f"tables/{number}.csv"
        with open(folder / name, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([each["columns"], *each["rows"]])
        lines.append({"id": str(number), "table": name, "question": each["question"]})
    answered = [lines[0] | {"cells": [[0, 0]]}]
    for split, given in (("train", answered), ("dev", answered), ("test", lines)):
        text = "".join(f"{json.dumps(each)}\n" for each in given)
        (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")


def read_questions(options) -> list[dict]:
    """The questions, at equal distances among those with large enough tables."""
    if options.hybridqa:
        asked = of_hybridqa(options.input_dir, options.sentences)
    else:
        asked = parity.read_questions(options.input_dir, sys.maxsize)
    return chosen(asked, options.questions, options.min_words)


def main() -> None:
    options = arguments()
    asked = read_questions(options)
    title = f"{len(asked)} questions, {options.max_seq_length} tokens, {hardware.processor()}"
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = write_model(options, pathlib.Path(name))
        results = measure(sides(options), folder, asked, options)
        table = rows(results, len(asked))
        print(title)
        show(table)
        commands = jobs(results, folder, asked, options) if options.jobs else []
    if commands:
        show_jobs(commands)
    about = {"hardware": hardware.describe(), "seconds": time.monotonic() - begun}
    content = {**about, "rows": table, "jobs": commands}
    common.write(options, f"end_to_end_{options.max_seq_length}", content, plot(table, title))


if __name__ == "__main__":
    main()
