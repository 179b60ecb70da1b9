"""The row that SAT adds at the bottom of a table: what its columns hold, and how often.

(Zhang et al., 2020; section 2 of the MATE paper, which says no more of it.) Attention can hardly
count; reading a number is easier.
"""

import collections
from collections.abc import Sequence

MAX_VALUES = 3
"""Different values of a column that are told."""


def histogram_row(texts: Sequence[str], num_columns: int) -> list[str]:
    """For each column its most frequent values with their numbers: "Italy 3, France 2".

    Values that stand there once are left out, as are empty ones; so the cell of a column whose
    values all differ is empty. Equally frequent values keep their order.

    Args:
        texts: of the data cells, row by row.
        num_columns: how many columns they are in.
    """
    cells = []
    for column in range(num_columns):
        values = [text.strip() for text in texts[column::num_columns]]
        counts = collections.Counter(filter(None, values)).most_common(MAX_VALUES)
        cells.append(", ".join(f"{value} {count}" for value, count in counts if count > 1))
    return cells
