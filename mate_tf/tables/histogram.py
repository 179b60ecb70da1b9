"""Histogram row at the bottom of a table: the most frequent values of each column, with counts.

From SAT (Zhang et al., 2020); mentioned without details in section 2 of the MATE paper. Counting is
hard for attention, and reading a count is easier.
"""

import collections
from collections.abc import Sequence

MAX_VALUES = 3
"""Largest number of distinct values given for a column."""


def histogram_row(texts: Sequence[str], num_columns: int) -> list[str]:
    """Returns the cells of the histogram row, such as "Italy 3, France 2".

    Empty values and values that occur once are left out. The cell is empty if all values of the
    column differ. Equally frequent values keep their order.

    Args:
        texts: texts of the data cells, row by row.
        num_columns: number of columns.
    """
    cells = []
    for column in range(num_columns):
        values = [text.strip() for text in texts[column::num_columns]]
        counts = collections.Counter(filter(None, values)).most_common(MAX_VALUES)
        cells.append(", ".join(f"{value} {count}" for value, count in counts if count > 1))
    return cells
