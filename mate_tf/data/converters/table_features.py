"""Tokens and numbers of a table, computed once for all questions about it."""

import functools
import math
from collections.abc import Iterator

import numpy as np

from mate_tf.data import interactions
from mate_tf.data.converters.tokenizer import Encoding
from mate_tf.protos import interaction_pb2
from mate_tf.tables import linearize, numbers, pruning

ROW_LENGTH = "Row of another length than the header"


def cell_texts(proto: interaction_pb2.Table, strip_names: bool = False) -> list[str]:
    """Returns the texts of a table, header first, then row by row.

    Args:
        proto: the table.
        strip_names: replace all column names by "".

    Raises:
        ConversionError: if a row has more or fewer cells than the header.
    """
    num_columns = len(proto.columns)
    for number, row in enumerate(proto.rows, start=1):
        if len(row.cells) != num_columns:
            detail = f"row {number} has {len(row.cells)} cells, the header {num_columns}"
            raise linearize.ConversionError(ROW_LENGTH, detail)
    texts = ["" if strip_names else cell.text for cell in proto.columns]
    return texts + [cell.text for row in proto.rows for cell in row.cells]


class TableFeatures:
    """Tokens and numbers of a table.

    Args:
        proto: the table. If no cell is annotated, numbers and dates are found in the texts.
        texts: `cell_texts` of the table. A further row at the end belongs to the header.
        encoding: encoding of these texts.

    Attributes:
        tokens: the `TokenizedTable`.
        shape: (rows + 1, columns + 1), shape of the arrays below. Row 0 is the header; column 0 is
            not used.
        ranks, inverse_ranks: <int32>[rows + 1, columns + 1], 0 for cells without a rank.
        numeric_values: <float32>[rows + 1, columns + 1], NaN for cells without a number and for
            numbers beyond float32.
    """

    def __init__(self, proto: interaction_pb2.Table, texts: list[str], encoding: Encoding):
        num_columns = len(proto.columns)
        self._texts = texts
        self.tokens = linearize.TokenizedTable(*encoding, num_columns)
        self.shape = (len(proto.rows) + 1, num_columns + 1)
        self._values = interactions.cell_values(proto)
        self.ranks = np.zeros(self.shape, np.int32)
        self.inverse_ranks = np.zeros(self.shape, np.int32)
        self.numeric_values = np.full(self.shape, np.nan, np.float32)
        for column, values in enumerate(self._values, start=1):
            ranks = numbers.column_ranks(values)
            self.ranks[1:, column], self.inverse_ranks[1:, column] = ranks
            self.numeric_values[1:, column] = [
                value if isinstance(value, float) and math.isfinite(value) else np.nan
                for value in values
            ]

    @functools.cached_property
    def words(self) -> pruning.TableWords:
        """Words of the table, for ranking columns and rows."""
        return pruning.TableWords(self._texts, self.shape[1] - 1)

    def relations(self, question_values: list[numbers.Value]) -> np.ndarray:
        """Compares the cells with numbers and dates of a question.

        Returns <int32>[rows + 1, columns + 1], see `numbers.relations`.
        """
        result = np.zeros(self.shape, np.int32)
        if question_values:
            for column, values in enumerate(self._values, start=1):
                result[1:, column] = numbers.relations(question_values, values)
        return result

    def find(self, ids: np.ndarray) -> Iterator[int]:
        """Finds ids <int32>[n] in the data cells.

        Yields, for each cell that contains them, the index of the first match in `tokens`, row by
        row.
        """
        tokens = self.tokens
        num_starts = len(tokens.ids) - len(ids) + 1
        if num_starts <= 0:
            return
        rows = tokens.rows[:num_starts]
        matches = (rows > 0) & (rows < self.shape[0])
        last = slice(len(ids) - 1, len(ids) - 1 + num_starts)
        # A match must not continue in the next cell.
        matches &= tokens.positions[last] == tokens.positions[:num_starts] + len(ids) - 1
        for offset, piece in enumerate(ids):
            matches &= tokens.ids[offset : offset + num_starts] == piece
        found = np.flatnonzero(matches)
        cells = np.stack([tokens.rows[found], tokens.columns[found]])
        _, first = np.unique(cells, axis=1, return_index=True)
        yield from found[np.sort(first)]
