"""Attention and masks between the cells of a table, for drawing them over it.

A place is a cell of those shown, or all of the question at once; numbers are means over the
tokens of a place and over heads of one type.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.analysis.attention import flow as attention_flow
from mate_tf.data.converters.tokenizer import CLS, CONTINUATION, EMPTY, SEP, UNK
from mate_tf.errors import InputError, on_one_line
from mate_tf.tables import html
from mate_tf.tables.table import Table

ATTENTION, MASK = "attention", "mask"
"""What there is to see: where attention goes, and who may attend to whom."""

OTHER_HEADS = "other heads"
"""Those of no type of their own, beside others that have one."""

MAX_CELLS = 160
"""Cells shown, the header's with them: a page has a number for each pair of these."""


class HeadMap(NamedTuple):
    """What heads of one type do in one layer.

    Attributes:
        layer: its number, from 1.
        heads: which ones: a name of `attention_flow.head_groups`, or OTHER_HEADS.
        count: how many these are.
        shares: <float32>[places, targets]. Of attention: what of a place's goes to each target;
            adds up to 1, or less where tokens see none. Of a mask: which share of the pairs of
            their tokens there is. Targets are the places and, behind them, all cells not shown.
    """

    layer: int
    heads: str
    count: int
    shares: np.ndarray


@dataclasses.dataclass(frozen=True)
class CellMaps:
    """An example with what each of its places attends to.

    Attributes:
        table: the table, in the words that the model reads.
        question: what else it reads, in words.
        rows: data rows shown, the first ones.
        columns: columns shown, the first ones.
        views: MASK and, if the model has probabilities of pairs of tokens, ATTENTION, each to its
            maps, layer by layer.
    """

    table: Table
    question: str
    rows: int
    columns: int
    views: dict[str, list[HeadMap]]

    @property
    def question_place(self) -> int:
        """The number of the question; before it, the header's cells and then row after row."""
        return (self.rows + 1) * self.columns

    @property
    def best_view(self) -> str:
        """ATTENTION if it is there."""
        return ATTENTION if ATTENTION in self.views else MASK

    @property
    def heads(self) -> list[str]:
        """Types of heads."""
        return list(dict.fromkeys(part.heads for part in self.views[MASK]))

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return self.views[MASK][-1].layer

    def shares(self, view: str, place: int, layer: int | None = None, heads: str | None = None):
        """From one place to each target, the mean over heads; None: over all layers, all types.

        Returns:
            <float32>[targets]; zeros if the layer has no such heads.
        """
        total, count = np.zeros(self.question_place + 2, np.float32), 0
        for part in self.views[view]:
            if layer in (None, part.layer) and heads in (None, part.heads):
                total += part.count * part.shares[place]
                count += part.count
        return total / max(count, 1)

    def in_cells(self, shares: np.ndarray) -> np.ndarray:
        """What of these goes to cells that are shown: <float>[rows + 1, columns]."""
        return shares[: self.question_place].reshape(self.rows + 1, self.columns)

    def data_cell(self, rows: int, columns: int) -> int | None:
        """The place of the data cell that the question attends to most, of the first ones.

        Args:
            rows: how many data rows are looked at.
            columns: how many columns.

        Returns:
            None if there is no data cell.
        """
        cells = self.in_cells(self.shares(self.best_view, self.question_place))
        cells = cells[1 : rows + 1, :columns]
        if not cells.size:
            return None
        row, column = np.unravel_index(cells.argmax(), cells.shape)
        return int((row + 1) * self.columns + column)


def measure(encoder, features: dict, pieces: Sequence[str]) -> CellMaps:
    """The maps of one example.

    Where a variant has no probabilities of pairs of tokens (`attention_flow.probabilities`), there
    is the mask alone, and a line that says so.

    Args:
        encoder: a `TableEncoder`.
        features: <int32>[1, seq] each, its inputs without padding, with tokens in cells.
        pieces: the vocabulary.

    Raises:
        InputError: the encoder does not take the example.
    """
    table, question = words(features, pieces)
    columns = min(table.num_columns, html.MAX_COLUMNS)
    rows = min(table.num_rows, html.MAX_ROWS, MAX_CELLS // columns - 1)
    num_cells = (rows + 1) * columns
    row, column = features["row_ids"][0], features["column_ids"][0] - 1
    shown = np.where((row <= rows) & (column < columns), row * columns + column, num_cells + 1)
    place = np.where(attention_flow.table_tokens(features), shown, num_cells)
    targets = np.eye(num_cells + 2, dtype=np.float32)[place]
    means = targets / np.maximum(targets.sum(0), 1)
    groups = _head_types(encoder)

    def maps(layers: Iterable, targets: np.ndarray) -> list[HeadMap]:
        found = []
        for number, layer in enumerate(layers):
            for name, used in groups.items():
                if used[number].any():
                    mean = np.asarray(layer)[used[number]].mean(0, dtype=np.float32)
                    shares = means[:, : num_cells + 1].T @ mean @ targets
                    found.append(HeadMap(number + 1, name, int(used[number].sum()), shares))
        return found

    views = {MASK: maps(attention_flow.masks(encoder, features), means)}
    try:
        probabilities = (layer[0] for layer in attention_flow.probabilities(encoder, features))
        views = {ATTENTION: maps(probabilities, targets)} | views
    except InputError as error:
        print(f"table | {on_one_line(error)}: only its mask is drawn")
    return CellMaps(table, question, rows, columns, views)


def words(features: dict, pieces: Sequence[str]) -> tuple[Table, str]:
    """The table and what stands before it, as the model reads them.

    Args:
        features: <int32>[1, seq] each, without padding, with tokens in cells.
        pieces: the vocabulary.
    """
    in_table = attention_flow.table_tokens(features)
    ids, row, column = (features[name][0] for name in ("input_ids", "row_ids", "column_ids"))
    cells = [[[] for _ in range(column[in_table].max())] for _ in range(row[in_table].max() + 1)]
    question = []
    for place, number in enumerate(ids):
        of_cell = cells[row[place]][column[place] - 1] if in_table[place] else question
        of_cell.append(pieces[number] if number < len(pieces) else UNK)
    header, *rows = [[_join(of_cell) for of_cell in of_row] for of_row in cells]
    return Table.from_rows(header, rows), _join(question)


def _join(pieces: Sequence[str]) -> str:
    """Word pieces as text; BERT's vocabulary has an unused piece for an empty text."""
    text = ""
    for piece in pieces:
        if piece.startswith(CONTINUATION):
            text += piece.removeprefix(CONTINUATION)
        elif piece not in (CLS, SEP, EMPTY) and not piece.startswith("[unused"):
            text += f" {piece}"
    return text.strip()


def _head_types(encoder) -> dict[str, np.ndarray]:
    """Which heads are of which type, each of one only: name -> <bool>[layers, heads]."""
    groups = attention_flow.head_groups(encoder)
    if len(groups) == 1:
        return groups
    others = groups.pop(attention_flow.ALL_HEADS) & ~np.any(list(groups.values()), axis=0)
    return groups | ({OTHER_HEADS: others} if others.any() else {})
