"""Finds the rows of a table that are totals of the others.

They are left out of sums, counts and orders, which would count everything twice.
"""

import math
import re
from collections.abc import Sequence

from mate_tf.tables import amounts
from mate_tf.tables.columns import Column, Kind

_NAME = re.compile(
    r"(?:(?:grand|sub|overall)[ -]?)?(?:totals?|sum|summe|gesamt|insgesamt|somme|suma|totale|∑|Σ)"
    r"(?: \(.*\)| of .*|:)?|(?:all|overall|combined)(?: totals?)?",
    re.IGNORECASE,
)
_LEAST_ROWS = 3
"""Rows above a row without a name that is the sum of them; fewer may be so by chance."""


def rows(texts: Sequence[Sequence[str]], columns: Sequence[Column]) -> frozenset[int]:
    """Returns the rows that are totals: by their name, or the last one by its numbers.

    A row is one by its name if its first cell that is not empty is "Total", "Sum", "Summe" and the
    like. The last row is one if its numbers are the sums of all rows above in each column with
    numbers, and either there are two such columns or no cell names the row.

    Args:
        texts: texts of the cells, row by row.
        columns: the columns.
    """
    if len(texts) < 2:
        return frozenset()
    totals = {
        row
        for row, cells in enumerate(texts)
        if _NAME.fullmatch(next((name for text in cells if (name := text.strip())), ""))
        and any(column.values[row] is not None for column in columns)
    }
    if len(texts) > _LEAST_ROWS and not totals and _is_sum(texts[-1], columns):
        totals.add(len(texts) - 1)
    # A table of totals only has none.
    return frozenset(totals) if len(totals) * 2 <= len(texts) else frozenset()


def _is_sum(last: Sequence[str], columns: Sequence[Column]) -> bool:
    summed = 0
    for column in columns:
        *above, value = column.values
        if column.kind is not Kind.NUMBER or not isinstance(value, float):
            continue
        addends = [each for each in above if isinstance(each, float)]
        if len(addends) < len(above) or not any(addends):
            return False
        if not math.isclose(math.fsum(addends), value, rel_tol=1e-9, abs_tol=1e-9):
            return False
        summed += 1
    is_named = any(
        column.kind is Kind.TEXT and amounts.normalize(text)
        for text, column in zip(last, columns, strict=True)
    )
    return summed > 1 or (summed == 1 and not is_named)
