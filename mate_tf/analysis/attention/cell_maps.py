"""Attention and masks between the cells of a table, for pictures of the table.

Tokens are grouped into sources: each shown cell is one, and the whole question is one. Numbers are
means over the tokens of a source and over heads of one type. Sources are numbered: the cells of the
header, the data cells row by row, then the question.
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
"""Views: attention probabilities, and the attention mask."""

OTHER_HEADS = "other heads"
"""Heads without a type, in a model that also has heads with a type."""

MAX_CELLS = 160
"""Largest number of shown cells, header included. A page has a number for each pair of cells."""


class HeadMap(NamedTuple):
    """Attention or mask of the heads of one type in one layer.

    Attributes:
        layer: number of the layer, from 1.
        heads: type of the heads: a name of `attention_flow.head_groups`, or OTHER_HEADS.
        count: number of these heads.
        shares: <float32>[sources, targets]. Attention: share of a source's attention to each
            target; the sum is 1, or less if tokens attend to no key. Mask: share of the pairs of
            tokens that are allowed. Targets are the sources and, last, all cells that are not
            shown.
    """

    layer: int
    heads: str
    count: int
    shares: np.ndarray


@dataclasses.dataclass(frozen=True)
class CellMaps:
    """Attention and masks between the sources of one example.

    Attributes:
        table: the table, decoded from the model's input.
        question: the question and other text before the table, decoded from the model's input.
        rows: number of shown data rows, from the first.
        columns: number of shown columns, from the first.
        views: view -> maps, layer by layer. The views are MASK and, if the model has probabilities
            for pairs of tokens, ATTENTION.
    """

    table: Table
    question: str
    rows: int
    columns: int
    views: dict[str, list[HeadMap]]

    @property
    def question_index(self) -> int:
        """Index of the question among the sources: the number of shown cells."""
        return (self.rows + 1) * self.columns

    @property
    def best_view(self) -> str:
        """ATTENTION if the model has it, else MASK."""
        return ATTENTION if ATTENTION in self.views else MASK

    @property
    def heads(self) -> list[str]:
        """Names of the types of heads."""
        return list(dict.fromkeys(part.heads for part in self.views[MASK]))

    @property
    def layers(self) -> int:
        """Number of layers."""
        return self.views[MASK][-1].layer

    def shares(self, view: str, source: int, layer: int | None = None, heads: str | None = None):
        """Returns the shares from one source to each target, as a mean over heads.

        Args:
            view: ATTENTION or MASK.
            source: index of the source.
            layer: number of the layer, from 1; None: all layers.
            heads: type of the heads; None: all types.

        Returns:
            <float32>[targets]; zeros if the layer has no such heads.
        """
        total, count = np.zeros(self.question_index + 2, np.float32), 0
        for part in self.views[view]:
            if layer in (None, part.layer) and heads in (None, part.heads):
                total += part.count * part.shares[source]
                count += part.count
        return total / max(count, 1)

    def in_cells(self, shares: np.ndarray) -> np.ndarray:
        """Returns the shares of the shown cells, <float>[rows + 1, columns].

        Args:
            shares: <float>[targets].
        """
        # [targets] -> [rows + 1, columns]
        return shares[: self.question_index].reshape(self.rows + 1, self.columns)

    def data_cell(self, rows: int, columns: int) -> int | None:
        """Returns the index of the data cell that the question attends to most.

        Args:
            rows: number of data rows to search, from the first.

        Returns:
            index of the source, or None if there is no data cell.
        """
        cells = self.in_cells(self.shares(self.best_view, self.question_index))
        cells = cells[1 : rows + 1, :columns]
        if not cells.size:
            return None
        row, column = np.unravel_index(cells.argmax(), cells.shape)
        return int((row + 1) * self.columns + column)


def measure(encoder, features: dict, pieces: Sequence[str]) -> CellMaps:
    """Computes the maps of one example.

    If a variant has no probabilities for pairs of tokens (`attention_flow.probabilities`), it
    prints a line and returns the mask only.

    Args:
        features: inputs of the encoder without padding: name -> <int32>[1, seq]. Some tokens must
            be in cells.

    Raises:
        InputError: if the encoder cannot process the example.
    """
    table, question = words(features, pieces)
    columns = min(table.num_columns, html.MAX_COLUMNS)
    rows = min(table.num_rows, html.MAX_ROWS, MAX_CELLS // columns - 1)
    num_cells = (rows + 1) * columns
    row, column = features["row_ids"][0], features["column_ids"][0] - 1
    shown = np.where((row <= rows) & (column < columns), row * columns + column, num_cells + 1)
    target = np.where(attention_flow.table_tokens(features), shown, num_cells)
    # [seq, targets], one-hot
    targets = np.eye(num_cells + 2, dtype=np.float32)[target]
    means = targets / np.maximum(targets.sum(0), 1)
    groups = _head_types(encoder)

    def maps(layers: Iterable, targets: np.ndarray) -> list[HeadMap]:
        result = []
        for number, layer in enumerate(layers):
            for name, used in groups.items():
                if used[number].any():
                    mean = np.asarray(layer)[used[number]].mean(0, dtype=np.float32)
                    # [sources, seq], [seq, seq], [seq, targets] -> [sources, targets]
                    shares = means[:, : num_cells + 1].T @ mean @ targets
                    result.append(HeadMap(number + 1, name, int(used[number].sum()), shares))
        return result

    views = {MASK: maps(attention_flow.masks(encoder, features), means)}
    try:
        probabilities = (layer[0] for layer in attention_flow.probabilities(encoder, features))
        views = {ATTENTION: maps(probabilities, targets)} | views
    except InputError as error:
        print(f"table | {on_one_line(error)}: only its mask is drawn")
    return CellMaps(table, question, rows, columns, views)


def words(features: dict, pieces: Sequence[str]) -> tuple[Table, str]:
    """Decodes the table and the text before it from the model's inputs.

    Args:
        features: inputs without padding: name -> <int32>[1, seq]. Some tokens must be in cells.

    Returns:
        the table, and the question.
    """
    in_table = attention_flow.table_tokens(features)
    ids, row, column = (features[name][0] for name in ("input_ids", "row_ids", "column_ids"))
    cells = [[[] for _ in range(column[in_table].max())] for _ in range(row[in_table].max() + 1)]
    question = []
    for position, number in enumerate(ids):
        text = cells[row[position]][column[position] - 1] if in_table[position] else question
        text.append(pieces[number] if number < len(pieces) else UNK)
    header, *rows = [[_join(of_cell) for of_cell in of_row] for of_row in cells]
    return Table.from_rows(header, rows), _join(question)


def _join(pieces: Sequence[str]) -> str:
    """Joins word pieces to a text, without special and unused pieces."""
    text = ""
    for piece in pieces:
        if piece.startswith(CONTINUATION):
            text += piece.removeprefix(CONTINUATION)
        elif piece not in (CLS, SEP, EMPTY) and not piece.startswith("[unused"):
            text += f" {piece}"
    return text.strip()


def _head_types(encoder) -> dict[str, np.ndarray]:
    """Returns name of a type -> its heads, <bool>[layers, heads]. Each head has one type."""
    groups = attention_flow.head_groups(encoder)
    if len(groups) == 1:
        return groups
    others = groups.pop(attention_flow.ALL_HEADS) & ~np.any(list(groups.values()), axis=0)
    return groups | ({OTHER_HEADS: others} if others.any() else {})
