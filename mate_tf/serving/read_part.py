"""The part of a table that a model reads, and what it leaves out."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from mate_tf.data.converters.example_features import Conversion, to_example
from mate_tf.tables.linearize import COLUMNS, ROWS, Cut

if TYPE_CHECKING:
    import tensorflow as tf

_OF_CELLS = ("selected", "cell_probabilities")
_MOST_RANGES = 5  # of numbers in one text


class ReadPart:
    """The rows and columns of a table that are in an example.

    In the example they are numbered from 1, without those that were left out.

    Args:
        conversion: a conversion with the option `renumber_to_fit`.
        shape: (data rows, columns) of the table.

    Attributes:
        values: all features of the example, name -> array; see `example_features.complete`.
        rows, columns: <int64>[n], the data rows and columns that are read, from 0.
        shape: as given.
    """

    def __init__(self, conversion: Conversion, shape: tuple[int, int]):
        self.values: dict[str, np.ndarray] = dict(conversion.values)
        self.rows, self.columns = np.array(conversion.rows, int), np.array(conversion.columns, int)
        self.shape = shape
        self._cuts = conversion.cuts

    @property
    def example(self) -> "tf.train.Example":
        """The features as an example, made anew each time."""
        return to_example(self.values)

    @property
    def num_tokens(self) -> int:
        """Number of tokens of the example, without padding."""
        return int(self.values["input_mask"].sum())

    def outputs(self, outputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns a model's outputs with those of cells in the shape of the whole table.

        Args:
            outputs: outputs of `ServingModule.serving_examples` for the example, those of cells
                <dtype>[model rows, model columns].
        """
        result = {name: self.of_table(outputs[name]) for name in _OF_CELLS}
        return outputs | result

    def of_table(self, values: np.ndarray) -> np.ndarray:
        """Returns values of the cells that are read as values of all cells.

        Args:
            values: <dtype>[..., model rows, model columns]. Row 0 is the first one that is read.

        Returns:
            <dtype>[..., rows, columns], 0 for cells that are not read.
        """
        result = np.zeros((*values.shape[:-2], *self.shape), values.dtype)
        place = np.ix_(self.rows, self.columns)
        result[(..., *place)] = values[..., : len(self.rows), : len(self.columns)]
        return result

    def with_header(self, values: np.ndarray) -> np.ndarray:
        """Returns values of header and cells that are read as values of the whole table.

        Args:
            values: <float>[1 + rows that are read, columns that are read], the header first.

        Returns:
            <float>[1 + rows, columns], NaN for what is not read.
        """
        result = np.full((self.shape[0] + 1, self.shape[1]), np.nan, values.dtype)
        result[np.ix_(np.append(0, self.rows + 1), self.columns)] = values
        return result

    def cells(self, row_ids: np.ndarray, column_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns row and column in the table, <int64>[...] from 0, of tokens with these ids.

        Tokens of the header have row -1, those of the question row and column -1.
        """
        rows, columns = np.append(-1, self.rows), np.append(-1, self.columns)
        return rows[row_ids], columns[column_ids]

    def notes(self) -> list[str]:
        """Describes what was left out, such as "3 rows dropped: 5, 8 to 9"."""
        lines = {ROWS: (self.rows, self.shape[0]), COLUMNS: (self.columns, self.shape[1])}
        return [
            described(cut, *lines[cut.kind]) if cut.kind in lines else str(cut)
            for cut in self._cuts
        ]

    def mark_previous(self, coordinates: Iterable[tuple[int, int]], marked: bool) -> list[str]:
        """Marks the tokens of the previous answer; returns descriptions of cells that are not read.

        Args:
            coordinates: row and column of its cells.
            marked: `mark_previous` of the ConversionConfig: shared words keep their marks.
        """
        rows, columns = self.cells(self.values["row_ids"], self.values["column_ids"])
        tokens = list(zip(rows.tolist(), columns.tolist(), strict=True))
        before = set(coordinates)
        selected = np.array([cell in before for cell in tokens], np.int32)
        marks = self.values["prev_label_ids"] + 2 * selected if marked else selected
        self.values["prev_label_ids"] = marks
        forgotten = len(before - set(tokens))
        return [f"{forgotten} cells of the previous answer forgotten"] if forgotten else []


def described(cut: Cut, read: np.ndarray, number: int) -> str:
    """Describes rows or columns that were left out, such as "3 rows dropped: 5, 8 to 9".

    Args:
        cut: what was left out.
        read: <int64>[n], rows or columns that were read, from 0.
        number: number of all of them.
    """
    result = list(_ranges(np.setdiff1d(np.arange(number), read) + 1))
    more = f" and {len(result) - _MOST_RANGES} more ranges" * (len(result) > _MOST_RANGES)
    # The histogram is not a row of the table, so it does not have a number.
    return f"{cut}: {', '.join(result[:_MOST_RANGES])}{more}" if result else str(cut)


def _ranges(numbers: np.ndarray) -> Iterator[str]:
    """Yields texts such as "8 to 9" for ascending numbers <int64>[n]."""
    for part in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1):
        if len(part):
            yield f"{part[0]} to {part[-1]}" if len(part) > 1 else f"{part[0]}"
