"""Asks questions of office work about ordinary files (tests/office); counts what is shown wrong.

    python benchmarks/office.py                  # `mini`
    python benchmarks/office.py --model FOLDER --wrong

The files and questions were written by others than the rules that answer them, and pandas computed
the answers. Those of `first` were read while rules were mended, those of the others only after the
figures "unseen" of results/tables.md. A question whose answer is null cannot be answered from its
table.
"""

import argparse
import json
import math
import pathlib
import re
from collections import Counter

import common

from mate_tf.evaluation.metrics import confidence_interval
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.text import percent

DATA = common.ROOT / "tests" / "office"
SETS = sorted(path.name for path in DATA.iterdir() if path.is_dir())
RIGHT, WRONG, REFUSED, SAID = "right", "shown wrong", "not answered", "rightly not answered"
"""What becomes of a question; the last one of those that have no answer."""

_DECIMAL_COMMA = re.compile(r",\d{1,2}$")


def questions(folder: pathlib.Path) -> list[dict]:
    """Reads the questions of a set."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def number(text: str) -> float | None:
    """Reads an answer's text as a number, whatever its unit."""
    digits = re.sub(r"[^\d.,-]", "", text)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", digits):
        digits = digits.replace(".", "")
    elif thousands := re.fullmatch(r"\D*([\d.]+) ?k", text):
        return 1000 * float(thousands[1])
    if _DECIMAL_COMMA.search(digits):
        digits = digits.replace(".", "").replace(",", ".")
    try:
        return float(digits.replace(",", ""))
    except ValueError:
        return None


def is_right(answer, expected) -> bool:
    """Returns whether an `Answer` is the expected number, text, texts in any order, yes or no."""
    if isinstance(expected, int | float):
        value = answer.value if answer.value is not None else number(answer.text)
        return value is not None and math.isclose(value, expected, rel_tol=1e-3, abs_tol=6e-3)
    shown = (" ".join(cell.text.lower().split()) for cell in answer.cells)
    given = [*filter(None, dict.fromkeys(shown))]  # an answer shows each text once
    texts = expected if isinstance(expected, list) else [expected]
    wanted = [" ".join(text.lower().split()) for text in texts]
    if wanted in (["yes"], ["no"]):
        return answer.text.lower() == wanted[0] or given in (
            wanted,
            [wanted[0][0]],
            [{"yes": "true", "no": "false"}[wanted[0]]],
        )
    return sorted(given) == sorted(wanted) and answer.aggregation == "NONE"


def outcome(answer, expected) -> str:
    """Returns what became of a question."""
    if not answer.answerable:
        return SAID if expected is None else REFUSED
    return RIGHT if expected is not None and is_right(answer, expected) else WRONG


def ask(predictor: Predictor, folder: pathlib.Path) -> list[tuple[dict, object, str]]:
    """Asks the questions of a set; returns each with its answer and what became of it."""
    given = questions(folder)
    names = dict.fromkeys(each["table"] for each in given)
    tables = {name: predictor.prepare(str(folder / name)) for name in names}
    answers = predictor.ask_batch([(tables[each["table"]], each["question"]) for each in given])
    return [
        (each, answer, outcome(answer, each["answer"]))
        for each, answer in zip(given, answers, strict=True)
    ]


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--model", help="folder of a trained model; by default the preset mini")
    parser.add_argument("--sets", nargs="+", default=SETS, help="folders of tests/office")
    parser.add_argument("--wrong", action="store_true", help="print what is shown wrong")
    return parser.parse_args()


def main() -> None:
    """Prints a table of the sets, and writes it as JSON."""
    options = arguments()
    load = Predictor.from_pretrained if options.model else Predictor.from_preset
    predictor = load(*filter(None, [options.model]))
    found = {}
    for name in options.sets:
        asked = ask(predictor, DATA / name)
        counts = Counter(became for *_, became in asked)
        found[name] = counts
        total, shown = len(asked), counts[RIGHT] + counts[WRONG]
        low, high = confidence_interval(counts[RIGHT], max(shown, 1))
        print(f"\n{name}: {total} questions, {shown} answers shown")
        for became in (RIGHT, WRONG, REFUSED, SAID):
            print(f"{became:<22} {counts[became]:>4}  {percent(counts[became] / total)}")
        print(f"of the shown ones right {percent(counts[RIGHT] / max(shown, 1))}", end=" ")
        print(f"({percent(low)} to {percent(high)})")
        for each, answer, became in asked if options.wrong else ():
            if became == WRONG:
                print(f"  {each['table']}: {each['question']} | {answer.text} | {answer.notes}")
    common.write(options, "office", found)


if __name__ == "__main__":
    main()
