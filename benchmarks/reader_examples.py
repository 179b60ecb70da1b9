"""Makes questions about HybridQA's passages, from which POINTR's reader learns to find spans.

    python benchmarks/reader_examples.py --hybridqa data/hybridqa --xquad data/squad/xquad.en.json

Writes train-v1.1.json and dev-v1.1.json in SQuAD's format for `configs/squad_minilm.yaml`. A
question is a sentence of a passage in which a date, a number or a name is replaced by a question
word. Some words are left out and neighbours change places, as in the cloze questions of Lewis et
al. (2019, "Unsupervised question answering by cloze translation"), so that equal order of the words
does not give the answer away. Passages that a dev table links to are left out. The test split,
whose answers are not public, is not looked at. The questions of XQuAD come on top, but those of its
last articles, which are dev.
"""

import argparse
import json
import pathlib
import random
import re
from collections.abc import Iterator

import common

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
SPANS = (
    ("when", re.compile(rf"\b(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,2}})?(?: ,)? \d{{4}}\b")),
    ("what year", re.compile(r"\b1[5-9]\d\d\b|\b20[0-2]\d\b")),
    ("how many", re.compile(r"\b\d[\d,.]*\d\b(?: million| billion)?|\b\d\b")),
    ("what", re.compile(r"\b[A-Z][\w'-]+(?: (?:of |the |de )?[A-Z][\w'-]+){0,4}")),
)
"""Question word and the spans that it asks for, in the order in which they are searched."""

NUM_DEV_ARTICLES = 8
"""Of XQuAD's 48."""
_SENTENCE = re.compile(r"[^.?!]+(?: [.?!]|[.?!](?= |$)|$)")
_FEWEST_WORDS, _MOST_WORDS = 6, 40
_LEFT_OUT = 0.2  # share of the words
_MOVED = 2  # places that a word moves at most
_LONGEST = 1000  # characters of a passage


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--hybridqa", type=pathlib.Path, required=True, help="HybridQA's release")
    parser.add_argument("--xquad", type=pathlib.Path, required=True, help="xquad.en.json")
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--questions_per_passage", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.set_defaults(output=pathlib.Path("out/reader"))
    return parser.parse_args()


def passages_outside_dev(folder: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Yields the address and text of each passage that no dev table links to, once."""
    dev = json.loads((folder / "released_data" / "dev.json").read_text(encoding="utf-8"))
    held_out = {each["table_id"] for each in dev}
    found = {}
    for path in sorted((folder / "request_tok").glob("*.json")):
        passages = json.loads(path.read_text(encoding="utf-8"))
        for address, text in passages.items():
            if path.stem in held_out:
                found[address] = None
            else:
                found.setdefault(address, text)
    for address, text in found.items():
        if text:
            yield address, text if len(text) <= _LONGEST else text[:_LONGEST].rpartition(" ")[0]


def questions(rng: random.Random, passage: str, count: int) -> list[dict]:
    """Up to `count` questions about different sentences of a passage, as SQuAD without ids."""
    sentences = [
        match
        for match in _SENTENCE.finditer(passage)
        if _FEWEST_WORDS <= len(match.group().split()) <= _MOST_WORDS
    ]
    made = []
    for sentence in rng.sample(sentences, min(count, len(sentences))):
        spans = _spans(passage, sentence)
        if not spans:
            continue
        # Each kind is as likely as the others.
        kind = rng.choice(sorted({word for word, _ in spans}))
        word, span = rng.choice([each for each in spans if each[0] == kind])
        before = passage[sentence.start() : span.start()].split()
        after = passage[span.end() : sentence.end()].rstrip(".?! ").split()
        made.append(
            {
                "question": _scrambled(rng, before, after, word),
                "answers": [{"text": span.group(), "answer_start": span.start()}],
            }
        )
    return made


def _spans(passage: str, sentence: re.Match) -> list[tuple[str, re.Match]]:
    """Question words with spans of a sentence that they ask for; no span overlaps another one."""
    # A name that begins a sentence is mostly what the whole passage is about.
    begin, end = sentence.start() + 2, sentence.end()
    found = []
    for word, pattern in SPANS:
        for match in pattern.finditer(passage, begin, end):
            if all(match.end() <= x.start() or x.end() <= match.start() for _, x in found):
                found.append((word, match))
    return found


def _scrambled(rng, before: list[str], after: list[str], word: str) -> str:
    """A question of the words before and after the answer; some are left out or moved."""
    kept = [each for each in (*before, *after) if rng.random() >= _LEFT_OUT]
    places = [number + rng.uniform(0, _MOVED) for number in range(len(kept))]
    moved = [each for _, each in sorted(zip(places, kept, strict=True))]
    return f"{word} {' '.join(moved)} ?"


def generated(folder: pathlib.Path, passages: int, per_passage: int, seed: int) -> list[dict]:
    """Makes SQuAD articles of one passage each."""
    rng = random.Random(seed)
    found = list(passages_outside_dev(folder))
    articles = []
    for number, (address, text) in enumerate(rng.sample(found, min(passages, len(found)))):
        asked = questions(rng, text, per_passage)
        for place, each in enumerate(asked):
            each["id"] = f"cloze{number}.{place}"
        if asked:
            articles.append({"title": address, "paragraphs": [{"context": text, "qas": asked}]})
    return articles


def write(articles: list[dict], path: pathlib.Path) -> None:
    """Writes a file in SQuAD's format and prints the number of questions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": "1.1", "data": articles}), encoding="utf-8")
    count = sum(len(part["qas"]) for each in articles for part in each["paragraphs"])
    print(f"written | {path}: {count} questions")


def main() -> None:
    options = arguments()
    made = generated(
        options.hybridqa, options.passages, options.questions_per_passage, options.seed
    )
    by_people = json.loads(options.xquad.read_text(encoding="utf-8"))["data"]
    write(made + by_people[:-NUM_DEV_ARTICLES], options.output / "train-v1.1.json")
    write(by_people[-NUM_DEV_ARTICLES:], options.output / "dev-v1.1.json")


if __name__ == "__main__":
    main()
