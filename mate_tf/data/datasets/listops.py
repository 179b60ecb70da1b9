"""ListOps (Nangia and Bowman, 2018) in the form and length of Long Range Arena (Tay et al., 2021).

An expression such as `[MAX 2 [SM 7 8 X X` has a value from 0 to 9, here 5: of MIN and MAX the usual
one, of MED the median, of an even number of arguments the mean of the middle two without its
fraction, of SM the sum modulo 10. `X` closes a bracket. Long Range Arena's files write it as a
binary tree, `( ( ( [MAX 2 ) ( ( ( [SM 7 ) 8 ) ] ) ) ] )`; its input pipeline drops the parentheses
and reads `]` as `X`, which gives the form above.
"""

import dataclasses
import hashlib
import itertools
import os
import pathlib
import random
import statistics
from collections.abc import Iterable, Iterator, Sequence

from mate_tf.data.converters.sequences.sequence import interaction
from mate_tf.data.datasets import tsv
from mate_tf.errors import InputError
from mate_tf.files.atomic import atomic_path
from mate_tf.protos import interaction_pb2

OPERATORS = {
    "[MIN": min,
    "[MAX": max,
    "[MED": lambda values: int(statistics.median(values)),
    "[SM": lambda values: sum(values) % 10,
}
VALUES = tuple(map(str, range(10)))
CLOSE = "X"
SYMBOLS = (*OPERATORS, CLOSE, *VALUES)
"""The vocabulary: 15 symbols."""

SPLITS = {"train": "train", "dev": "val", "test": "test"}
"""Split -> what the official files call it."""

_OPERATOR_PROBABILITY = 0.25
_OPERATOR_SYMBOLS = tuple(OPERATORS)
_FILE = "basic_{}.tsv"
_COLUMNS = ("Source", "Target")
_FRUITLESS = 100_000  # draws in a row without a new expression


@dataclasses.dataclass(frozen=True)
class Rules:
    """Which expressions are drawn; the defaults are Long Range Arena's.

    Attributes:
        max_depth: of nested operators; at this depth there are only values. The root has depth 1.
        max_args: an operator has from 2 to so many arguments, each number as likely.
        min_length, max_length: an expression has more symbols than the one and fewer than the
            other.
    """

    max_depth: int = 10
    max_args: int = 10
    min_length: int = 500
    max_length: int = 2000

    def __post_init__(self):
        if self.max_args < 2 or self.max_depth < 1 or self.max_length <= self.min_length + 1:
            raise InputError(f"there are no ListOps expressions by these rules: {self}")


OFFICIAL = Rules()


def generate(seed: int, rules: Rules = OFFICIAL) -> Iterator[tuple[str, ...]]:
    """Expressions, none of them twice, always the same ones for a seed.

    What is not a value with probability 3/4 is an operator; expressions of another length than the
    rules allow are drawn again.

    Returns:
        iterator without end over tuples of symbols.

    Raises:
        InputError: it finds no new one any more.
    """
    generator, seen, fruitless = random.Random(seed), set(), 0
    while fruitless < _FRUITLESS:
        symbols: list[str] = []
        fruitless += 1
        if not _draw(generator, rules, 1, symbols) or len(symbols) <= rules.min_length:
            continue
        key = hashlib.blake2b(" ".join(symbols).encode(), digest_size=16).digest()
        if key not in seen:
            seen.add(key)
            fruitless = 0
            yield tuple(symbols)
    raise InputError(f"there are hardly more than {len(seen)} ListOps expressions by {rules}")


def _draw(generator: random.Random, rules: Rules, depth: int, symbols: list[str]) -> bool:
    """Appends an expression; False if it becomes too long, whatever follows."""
    if depth == rules.max_depth or generator.random() > _OPERATOR_PROBABILITY:
        symbols.append(generator.choice(VALUES))
        return len(symbols) < rules.max_length
    symbols.append(generator.choice(_OPERATOR_SYMBOLS))
    for _ in range(generator.randint(2, rules.max_args)):
        if not _draw(generator, rules, depth + 1, symbols):
            return False
    symbols.append(CLOSE)
    return len(symbols) < rules.max_length


def evaluate(symbols: Iterable[str]) -> int:
    """The value of an expression.

    Raises:
        InputError: it is no expression.
    """
    symbols = tuple(symbols)
    stack = [("", [])]  # operators that are open, with their arguments so far
    for symbol in symbols:
        if symbol in OPERATORS:
            stack.append((symbol, []))
        elif symbol == CLOSE and len(stack) > 1 and stack[-1][1]:
            operator, values = stack.pop()
            stack[-1][1].append(OPERATORS[operator](values))
        elif symbol in VALUES:
            stack[-1][1].append(int(symbol))
        else:
            raise InputError(f"{symbol!r} has no place in {_shown(symbols)}")
    (_, values), *unclosed = stack
    if unclosed or len(values) != 1:
        raise InputError(f"not one expression: {_shown(symbols)}")
    return values[0]


def to_source(symbols: Sequence[str]) -> str:
    """The binary tree with parentheses, as in the official files."""
    parts, open_operators = [], []  # of each open operator where it stands, and its arguments
    for symbol in symbols:
        if symbol in OPERATORS:
            open_operators.append([len(parts), 0])
            parts.append(symbol)
            continue
        if symbol == CLOSE:
            place, count = open_operators.pop()
            parts[place] = "( " * (count + 1) + parts[place]
            parts.append("] )")
        else:
            parts.append(symbol)
        if open_operators:
            open_operators[-1][1] += 1
            parts[-1] += " )"
    return " ".join(parts)


def from_source(source: str) -> tuple[str, ...]:
    """The symbols of a binary tree with parentheses."""
    symbols = source.replace("(", " ").replace(")", " ").split()
    return tuple(CLOSE if symbol == "]" else symbol for symbol in symbols)


def write_dir(
    folder: str | os.PathLike, seed: int, sizes: dict[str, int], rules: Rules = OFFICIAL
) -> None:
    """Writes basic_train.tsv, basic_val.tsv and basic_test.tsv as Long Range Arena's generator.

    No expression is in two of them. The same arguments give the same bytes.

    Args:
        folder: where to.
        seed: of the expressions.
        sizes: split -> how many.
        rules: which expressions.
    """
    expressions = generate(seed, rules)
    for split, size in sizes.items():
        path = pathlib.Path(folder) / _FILE.format(SPLITS[split])
        with (
            atomic_path(path) as temporary,
            open(temporary, "w", encoding="utf-8", newline="\r\n") as file,
        ):
            file.write("\t".join(_COLUMNS) + "\n")
            for symbols in itertools.islice(expressions, size):
                file.write(f"{to_source(symbols)}\t{evaluate(symbols)}\n")


def read(input_dir: str | os.PathLike, split: str) -> Iterator[interaction_pb2.Interaction]:
    """Interactions of one expression each, from Long Range Arena's files; the class is the value.

    Args:
        input_dir: folder with basic_train.tsv, basic_val.tsv and basic_test.tsv.
        split: "train", "dev" or "test".

    Raises:
        InputError: the split is unknown, or a file is missing or malformed; the message names file
            and line.
    """
    if split not in SPLITS:
        raise InputError(f"ListOps has no split {split!r}, only {', '.join(SPLITS)}")
    path = pathlib.Path(input_dir) / _FILE.format(SPLITS[split])
    known = set(SYMBOLS)
    for number, (where, row) in enumerate(tsv.read(path, _COLUMNS)):
        symbols = from_source(row["Source"])
        if not symbols or not known.issuperset(symbols):
            strange = next((symbol for symbol in symbols if symbol not in known), "")
            raise InputError(f"{where}: {strange!r} is no symbol of ListOps")
        target = tsv.choice(where, "Target", row["Target"], VALUES)
        yield interaction(f"listops_{split}_{number}", [" ".join(symbols)], class_index=target)


def _shown(symbols: Sequence[str]) -> str:
    text = " ".join(symbols)
    return text if len(text) <= 80 else f"{text[:77]}..."
