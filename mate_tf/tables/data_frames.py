"""Columns of frames: pandas, polars, Arrow, DuckDB, and all others that narwhals supports."""

from collections.abc import Sequence
from typing import Any

from mate_tf.errors import InputError
from mate_tf.tables.text import is_gap

# Integers up to this number are exact as floats. pandas stores integers with gaps as floats.
_LARGEST_EXACT_FLOAT = 2.0**53


def read(frame: Any) -> tuple[list[Any], list[list[Any]]]:
    """Returns the names of the columns, and the values of each.

    Args:
        frame: an eager or lazy frame.

    Raises:
        InputError: if it is not a frame.
    """
    if hasattr(frame, "iloc") and hasattr(frame, "columns"):
        return _read_pandas(frame)
    import narwhals

    try:
        eager = narwhals.from_native(frame)
        if isinstance(eager, narwhals.LazyFrame):
            eager = eager.collect()
    except (TypeError, AttributeError, ImportError):
        raise InputError(
            f"table: {type(frame).__name__} is not a table; give the path of a file, a Table, a "
            "frame, a dict of columns or a list of rows"
        ) from None
    columns = [eager[name] for name in eager.columns]
    return eager.columns, [
        _written(each.to_list(), each.dtype == narwhals.Float32) for each in columns
    ]


def _read_pandas(frame) -> tuple[list[Any], list[list[Any]]]:
    """Reads a pandas frame. Its names need not be texts, nor differ."""
    names = [name for name in frame.index.names if name is not None]
    if names and not set(names) <= set(frame.columns):
        frame = frame.reset_index()
    header = [" ".join(map(str, c)).strip() if isinstance(c, tuple) else c for c in frame.columns]
    series = [frame.iloc[:, index] for index in range(len(header))]
    return header, [
        _written(each.tolist(), str(each.dtype).lower() == "float32") for each in series
    ]


def _written(values: Sequence[Any], is_float32: bool) -> list[Any]:
    """Returns the values of a column as they would be written."""
    if is_float32:  # 18.3 and not 18.299999237060547
        import numpy as np

        return [None if is_gap(each) else str(np.float32(each)) for each in values]
    present = [value for value in values if not is_gap(value)]
    if len(present) < len(values) and all(
        isinstance(value, float) and value.is_integer() and abs(value) <= _LARGEST_EXACT_FLOAT
        for value in present
    ):
        return [None if is_gap(value) else int(value) for value in values]
    return list(values)
