"""ListOps (Nangia and Bowman, 2018) in the form and length of Long Range Arena (Tay et al., 2021).

An expression such as `[MAX 2 [SM 7 8 X X` has a value from 0 to 9, here 5. MIN and MAX are the
minimum and maximum. MED is the median; for an even number of arguments, the mean of the middle two,
rounded down. SM is the sum modulo 10. `X` closes a bracket. The files of Long Range Arena have
binary trees, `( ( ( [MAX 2 ) ( ( ( [SM 7 ) 8 ) ] ) ) ] )`. Its input pipeline drops the parentheses
and replaces `]` by `X`, which gives the form above.
"""

import dataclasses
import hashlib
import itertools
import os
import pathlib
import random
import statistics
from collections.abc import Iterable, Iterator, Sequence

from mate_tf.data.converters.sequences import interaction
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
"""Split -> its name in the official files."""

_OPERATOR_PROBABILITY = 0.25
_OPERATOR_SYMBOLS = tuple(OPERATORS)
_FILE = "basic_{}.tsv"
_COLUMNS = ("Source", "Target")
_MAX_FAILURES = 100_000  # consecutive draws without a new expression


@dataclasses.dataclass(frozen=True)
class Rules:
    """Rules of the generated expressions; the defaults are those of Long Range Arena.

    Attributes:
        max_depth: depth at which there are only values. The root has depth 1.
        max_args: largest number of arguments of an operator; all numbers from 2 on are equally
            likely.
        min_length, max_length: an expression has more than `min_length` and fewer than
            `max_length` symbols.
    """

    max_depth: int = 10
    max_args: int = 10
    min_length: int = 500
    max_length: int = 2000

    def __post_init__(self):
        if self.max_args < 2 or self.max_depth < 1 or self.max_length <= self.min_length + 1:
            raise InputError(f"no ListOps expression follows these rules: {self}")


OFFICIAL = Rules()


def generate(seed: int, rules: Rules = OFFICIAL) -> Iterator[tuple[str, ...]]:
    """Generates distinct expressions, the same ones for the same seed.

    A node is a value with probability 3/4, otherwise an operator. Expressions that are too short or
    too long are drawn again.

    Returns:
        endless iterator over tuples of symbols.

    Raises:
        InputError: if no new expression is found.
    """
    generator, seen, failures = random.Random(seed), set(), 0
    while failures < _MAX_FAILURES:
        symbols: list[str] = []
        failures += 1
        if not _draw(generator, rules, 1, symbols) or len(symbols) <= rules.min_length:
            continue
        key = hashlib.blake2b(" ".join(symbols).encode(), digest_size=16).digest()
        if key not in seen:
            seen.add(key)
            failures = 0
            yield tuple(symbols)
    raise InputError(f"found only {len(seen)} ListOps expressions by {rules}")


def _draw(generator: random.Random, rules: Rules, depth: int, symbols: list[str]) -> bool:
    """Appends an expression to `symbols`; returns False as soon as it is too long."""
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
    """Computes the value of an expression.

    Raises:
        InputError: if the symbols are not an expression.
    """
    symbols = tuple(symbols)
    stack = [("", [])]  # open operators with the values of their arguments
    for symbol in symbols:
        if symbol in OPERATORS:
            stack.append((symbol, []))
        elif symbol == CLOSE and len(stack) > 1 and stack[-1][1]:
            operator, values = stack.pop()
            stack[-1][1].append(OPERATORS[operator](values))
        elif symbol in VALUES:
            stack[-1][1].append(int(symbol))
        else:
            raise InputError(f"{symbol!r} is not allowed here: {_shown(symbols)}")
    (_, values), *unclosed = stack
    if unclosed or len(values) != 1:
        raise InputError(f"not one expression: {_shown(symbols)}")
    return values[0]


def to_source(symbols: Sequence[str]) -> str:
    """Returns an expression as a binary tree with parentheses, as in the official files."""
    parts, open_operators = [], []  # [index in parts, number of arguments] of each open operator
    for symbol in symbols:
        if symbol in OPERATORS:
            open_operators.append([len(parts), 0])
            parts.append(symbol)
            continue
        if symbol == CLOSE:
            index, count = open_operators.pop()
            parts[index] = "( " * (count + 1) + parts[index]
            parts.append("] )")
        else:
            parts.append(symbol)
        if open_operators:
            open_operators[-1][1] += 1
            parts[-1] += " )"
    return " ".join(parts)


def from_source(source: str) -> tuple[str, ...]:
    """Returns the symbols of a binary tree with parentheses."""
    symbols = source.replace("(", " ").replace(")", " ").split()
    return tuple(CLOSE if symbol == "]" else symbol for symbol in symbols)


def write_dir(
    folder: str | os.PathLike, seed: int, sizes: dict[str, int], rules: Rules = OFFICIAL
) -> None:
    """Writes basic_train.tsv, basic_val.tsv and basic_test.tsv, like Long Range Arena's generator.

    The files have no expression in common. The same arguments give the same bytes.

    Args:
        sizes: split -> number of expressions.
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
    """Reads interactions of one expression each from Long Range Arena's files.

    The class is the value.

    Args:
        input_dir: folder with basic_train.tsv, basic_val.tsv and basic_test.tsv.
        split: "train", "dev" or "test".

    Raises:
        InputError: if the split is unknown, or a file is missing or malformed; the message names
            file and line.
    """
    if split not in SPLITS:
        raise InputError(f"ListOps has no split {split!r}, only {', '.join(SPLITS)}")
    path = pathlib.Path(input_dir) / _FILE.format(SPLITS[split])
    known = set(SYMBOLS)
    for number, (where, row) in enumerate(tsv.read(path, _COLUMNS)):
        symbols = from_source(row["Source"])
        if not symbols or not known.issuperset(symbols):
            strange = next((symbol for symbol in symbols if symbol not in known), "")
            raise InputError(f"{where}: {strange!r} is not a symbol of ListOps")
        target = tsv.choice(where, "Target", row["Target"], VALUES)
        yield interaction(f"listops_{split}_{number}", [" ".join(symbols)], class_index=target)


def _shown(symbols: Sequence[str]) -> str:
    """Returns symbols as text for error messages, shortened."""
    text = " ".join(symbols)
    return text if len(text) <= 80 else f"{text[:77]}..."
