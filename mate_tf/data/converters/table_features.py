"""What examples need of a table, worked out once for all its questions."""

import functools
from collections.abc import Iterator

import numpy as np

from mate_tf.data import interactions
from mate_tf.data.converters.tokenizer import Encoding
from mate_tf.protos import interaction_pb2
from mate_tf.tables import linearize, numbers, pruning

ROW_LENGTH = "Row of another length than the header"


def cell_texts(proto: interaction_pb2.Table, strip_names: bool = False) -> list[str]:
    """The texts of a table, header first, then row by row.

    Args:
        proto: the table.
        strip_names: take all column names for empty.

    Raises:
        ConversionError: a row has more or fewer cells than the header.
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
        proto: the table; numbers and dates are looked for if none of its cells has one.
        texts: its `cell_texts`; a row more than the table has is a part of the header.
        encoding: of these texts.

    Attributes:
        tokens: `TokenizedTable`.
        shape: (rows + 1, columns + 1), of the arrays below; row and column 0 are not cells.
        ranks, inverse_ranks: <int32>[shape]; 0 where there are none.
        numeric_values: <float32>[shape]; NaN where a cell has no number.
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
                value if isinstance(value, float) and value != float("inf") else np.nan
                for value in values
            ]

    @functools.cached_property
    def words(self) -> pruning.TableWords:
        """By which columns and rows are compared with questions."""
        return pruning.TableWords(self._texts, self.shape[1] - 1)

    def relations(self, question_values: list[numbers.Value]) -> np.ndarray:
        """<int32>[shape]: how the numbers in a question compare with each cell's."""
        result = np.zeros(self.shape, np.int32)
        if question_values:
            for column, values in enumerate(self._values, start=1):
                result[1:, column] = numbers.relations(question_values, values)
        return result

    def find(self, ids: np.ndarray) -> Iterator[int]:
        """The first place of a token sequence in each data cell that has it, row by row."""
        tokens = self.tokens
        num_places = len(tokens.ids) - len(ids) + 1
        if num_places <= 0:
            return
        rows = tokens.rows[:num_places]
        matches = (rows > 0) & (rows < self.shape[0])
        last = slice(len(ids) - 1, len(ids) - 1 + num_places)
        # A match must not run over into the next cell.
        matches &= tokens.positions[last] == tokens.positions[:num_places] + len(ids) - 1
        for offset, piece in enumerate(ids):
            matches &= tokens.ids[offset : offset + num_places] == piece
        found = np.flatnonzero(matches)
        cells = np.stack([tokens.rows[found], tokens.columns[found]])
        _, first = np.unique(cells, axis=1, return_index=True)
        yield from found[np.sort(first)]
