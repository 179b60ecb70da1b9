"""Synthetic tables, before questions are made."""

import dataclasses
import functools
import itertools
import random

from mate_tf.data.synthetic.domains import DOMAINS, Domain, NumberColumn, TextColumn
from mate_tf.errors import InputError

_RESIDUES = {"train": (2, 3, 4), "dev": (0,), "test": (1,)}
_SHARED_NAMES = 0.25  # share of tables in which several rows have the same first word


@dataclasses.dataclass(frozen=True)
class Sheet:
    """A table with its domain and the specifications of its columns.

    Attributes:
        domain: kind of rows.
        columns: specification of each column; None for the key column.
        header: names of the columns.
        rows: cell values, int in number columns and str elsewhere.
    """

    domain: Domain
    columns: tuple[TextColumn | NumberColumn | None, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]

    @property
    def key_index(self) -> int:
        """Index of the key column, which has the names of the rows."""
        return self.columns.index(None)

    def values(self, column: int) -> list:
        """Returns all values of one column."""
        return [row[column] for row in self.rows]

    def indices_of(self, kind: type) -> list[int]:
        """Returns the indices of columns of a type, TextColumn or NumberColumn."""
        return [index for index, column in enumerate(self.columns) if isinstance(column, kind)]


def row_count(rng: random.Random, rows: tuple[int, int]) -> int:
    """Draws a number of rows between the two numbers of `rows`; more tables are short than long.

    With 5 to 200 rows, half of the tables have fewer than 13 rows and a tenth more than 100.
    """
    low, high = rows
    return min(high, max(low, round(low * (high / low) ** (rng.random() ** 2.0))))


def make_sheet(rng: random.Random, num_rows: int, columns: tuple[int, int], split: str) -> Sheet:
    """Makes a random table of a random domain.

    Args:
        rng: source of all choices.
        num_rows: data rows.
        columns: least and largest number of columns, the key column included.
        split: "train", "dev" or "test"; they share words but no names of rows.

    Raises:
        InputError: if there are fewer names than rows.
    """
    domain = rng.choice(DOMAINS)
    drawn = _choose_columns(rng, domain, rng.randint(*columns) - 1)
    cells = [_column_values(rng, column, num_rows) for column in drawn]
    position = 0 if rng.random() < 0.8 else rng.randint(0, len(drawn))
    attributes = [*drawn[:position], None, *drawn[position:]]
    cells.insert(position, _names(rng, domain, num_rows, split))
    key_header = rng.choice(domain.headers)
    header = tuple(column.header if column else key_header for column in attributes)
    return Sheet(domain, tuple(attributes), header, tuple(zip(*cells, strict=True)))


def _choose_columns(rng, domain, count):
    """Draws columns in random order, at least one of text and one of numbers."""
    chosen = [
        rng.choice([column for column in domain.columns if isinstance(column, kind)])
        for kind in (NumberColumn, TextColumn)
    ]
    rest = [column for column in domain.columns if column not in chosen]
    chosen += rng.sample(rest, min(count - 2, len(rest)))
    rng.shuffle(chosen)
    return chosen


def _column_values(rng, column, num_rows):
    """Draws the values of a column; numbers are distinct if there are enough."""
    if isinstance(column, TextColumn):
        size = max(2, num_rows // rng.choice((2, 3, 4)))
        pool = rng.sample(column.values, min(size, len(column.values)))
        return rng.choices(pool, k=num_rows)
    numbers = range(column.low, column.high + 1, column.step)
    if num_rows <= len(numbers):
        return rng.sample(numbers, num_rows)
    return rng.choices(numbers, k=num_rows)


def _names(rng, domain, num_rows, split):
    """Draws distinct names, pairs of words, of a split."""
    pairs = _pairs(domain.name, split)
    if len(pairs) < num_rows:
        raise InputError(
            f"synthetic {domain.name} tables have at most {len(pairs)} rows in the {split} split, "
            f"not {num_rows}"
        )
    if rng.random() < _SHARED_NAMES:
        few = set(rng.sample(domain.starts, min(len(domain.starts), max(2, num_rows // 3))))
        shared = [pair for pair in pairs if pair[0] in few]
        pairs = shared if len(shared) >= num_rows else pairs
    return [" ".join(pair) for pair in rng.sample(pairs, num_rows)]


@functools.cache
def _pairs(domain_name, split):
    """Returns the names of one split; the split of a pair depends on its words only."""
    domain = next(domain for domain in DOMAINS if domain.name == domain_name)
    return [
        (start, end)
        for (i, start), (j, end) in itertools.product(
            enumerate(domain.starts), enumerate(domain.ends)
        )
        if (i + j) % 5 in _RESIDUES[split]
    ]
