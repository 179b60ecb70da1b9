"""Reads a table from JSON, a long file row by row, in memory that does not grow with it."""

import itertools
import os
from collections.abc import Iterable, Iterator
from typing import IO, Any

from mate_tf.errors import InputError
from mate_tf.tables import opening
from mate_tf.tables.json_stream import JsonStream, decoder
from mate_tf.tables.limits import LimitedRows, Limits

_ABOUT = ("title", "table_id", "heading", "caption", "url")
_HEADERS, _ROWS = ("columns", "header"), ("rows", "data")
_FORMS = (
    'expected an object with the lists "columns" and "rows", a list of objects with one key per '
    "column, or one such object on each line"
)


def read(
    path: str | os.PathLike, limits: Limits
) -> tuple[list[Any], list[list[Any]], dict[str, str], str]:
    """Reads header, rows and further fields up to the limits, and describes what is not read.

    The file has an object with "columns" (or "header") and "rows" (or "data"), a list of objects
    with the column names as keys, in "data" or alone, one such object on each line, or an object
    from each column's name to its values, in a list or by the rows' labels. A missing key gives
    None. Numbers are returned as text, in the spelling of the file.

    Args:
        path: the file.
        limits: limits of the table.

    Returns:
        header, rows, further fields, and the description; "" if everything was read. In a table
        that is not read to its end, fields after the rows are missing.

    Raises:
        InputError: if the file cannot be read, is empty, has no rows, is not UTF-8, is not JSON,
            has another form, or is beyond a limit.
    """
    kept = LimitedRows(path, limits)
    with opening.opened(path, limits) as file, opening.invalid_named(path):
        if _is_lines(file, limits):
            header = _keep_objects(_lines(file, path), kept, path)
            rows = [[row.get(name) for name in header] for row in kept.rows]
            return header, rows, {}, kept.unread(opening.share_read(file))
        text = file.read(min(limits.max_table_characters, opening.size(file)))
        longer = file.read(1)
        if not (text + longer).strip():
            raise InputError(f"{path}: the file is empty")
        try:
            if longer:
                file.seek(0)
                source = JsonStream(file, limits.max_table_characters)
                parsed = _keep_stream(source, kept, path)
            else:
                parsed = _keep_content(decoder.decode(text), kept, path)
        except InputError:
            raise
        except (ValueError, RecursionError) as error:
            if isinstance(error, UnicodeDecodeError):
                raise
            raise InputError(f"{path}: not valid JSON: {error}") from None
        unread = kept.unread(opening.share_read(file))
    header, about = parsed
    return header, _rows_of(header, kept, path), about, unread


def parse_table(
    content: Any, name: str, limits: Limits
) -> tuple[list[Any], list[list[Any]], dict[str, str], str]:
    """Returns what `read` returns, of JSON that is parsed already, by `json_stream.decoder`.

    Besides the forms of `read` it may be a list of rows, the header first.

    Args:
        content: the JSON value.
        name: what the table is called in errors.
        limits: limits of the table.

    Raises:
        InputError: it has another form, no rows, or is beyond a limit.
    """
    if isinstance(content, list) and content and isinstance(content[0], list):
        content = {"columns": content[0], "rows": content[1:]}
    kept = LimitedRows(name, limits)
    header, about = _keep_content(content, kept, name)
    rows = _rows_of(header, kept, name)
    return header, rows, about, kept.unread()


def _rows_of(header: list[Any], kept: LimitedRows, path: Any) -> list[list[Any]]:
    """Returns the rows that are kept as lists, one value per column."""
    if not kept.rows:
        raise InputError(f"{path}: there is a header but no rows")
    if isinstance(kept.rows[0], dict):
        return [[row.get(name) for name in header] for row in kept.rows]
    for number, row in enumerate(kept.rows, start=1):
        _check_length(row, len(header), f"{path}: row {number}")
    return kept.rows


def _is_lines(file: IO[str], limits: Limits) -> bool:
    """Returns whether a file has one object on each line, by its first one; then reads it anew."""
    line = file.readline(limits.max_table_characters)
    while line and not line.strip():
        line = file.readline(limits.max_table_characters)
    file.seek(0)
    try:
        content = decoder.decode(line)
    except (ValueError, RecursionError):
        return False
    is_table = isinstance(content, dict) and any(name in content for name in (*_HEADERS, *_ROWS))
    if not isinstance(content, dict) or not content or is_table:
        return False
    return not all(isinstance(value, (dict, list)) for value in content.values())


def _lines(file: IO[str], path: Any) -> Iterator[Any]:
    """Yields the values of the lines that are not blank."""
    for number, line in enumerate(file, start=1):
        if line.strip():
            try:
                yield decoder.decode(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path} line {number}: not valid JSON: {error}") from None


def _keep_content(content: Any, kept: LimitedRows, path: Any) -> tuple[list[Any], dict[str, str]]:
    """Keeps the rows of JSON that is parsed; returns header and further fields."""
    if isinstance(content, list) and content:
        return _keep_objects(content, kept, path), {}
    content = content if isinstance(content, dict) else {}
    if (rows := _rows_from_columns(content)) is not None:
        return _keep_objects(rows, kept, path), {}
    return _keep_object(content.items(), kept, path)


def _rows_from_columns(content: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Returns the rows of a frame as pandas writes it; None if it is not one.

    Columns are lists, or objects with the labels of the rows as keys. Labels that only number the
    rows are left out.
    """
    columns = list(content.values())
    if all(isinstance(values, dict) for values in columns):
        labels = list(dict.fromkeys(label for values in columns for label in values))
        is_numbered = labels == [str(number) for number in range(len(labels))]
        return [
            ({} if is_numbered else {"": label})
            | {name: values.get(label) for name, values in content.items()}
            for label in labels
        ] or None
    is_table = any(name in content for name in (*_HEADERS, *_ROWS))
    if is_table or not all(isinstance(values, list) for values in columns):
        return None
    if len({len(values) for values in columns}) != 1 or isinstance(next(iter(columns[0]), 0), dict):
        return None
    return [dict(zip(content, row, strict=True)) for row in zip(*columns, strict=True)]


def _keep_stream(
    stream: JsonStream, kept: LimitedRows, path: Any
) -> tuple[list[Any], dict[str, str]]:
    """Keeps the rows of a text that is being read; returns header and further fields."""
    if stream.next() == "[":
        parsed = _keep_objects(stream.items(), kept, path), {}
    elif stream.next() == "{":
        parsed = _keep_object(_pairs(stream), kept, path)
    else:
        raise InputError(f"{path}: {_FORMS}")
    if not kept.exceeded and (extra := stream.next()):
        raise ValueError(f"unexpected {extra!r} after the last value")
    return parsed


def _pairs(stream: JsonStream) -> Iterator[tuple[str, Any]]:
    """Yields keys and values of an object, the lists of rows as iterators."""
    for key in stream.members():
        if key in _ROWS and stream.next() == "[":
            rows = stream.items()
            yield key, rows
            for _ in rows:  # what was not read of it
                pass
        else:
            yield key, stream.value()


def _keep_objects(rows: Iterable[Any], kept: LimitedRows, path: Any) -> list[str]:
    """Keeps rows that are objects; returns their keys."""
    names: dict[str, None] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(f"{path}: {_FORMS}")
        wider = names | dict.fromkeys(row)
        columns = [row.get(name) for name in wider]
        _check_cells(columns, f"{path}: row {number}")
        kept.add_header([name for name in row if name not in names])
        if not kept.add(columns, f"row {number}", row):
            break
        names = wider
    return list(names)


def _keep_object(
    pairs: Iterable[tuple[str, Any]], kept: LimitedRows, path: Any
) -> tuple[list[Any], dict[str, str]]:
    """Keeps the rows in an object; returns header and further fields."""
    header, about, has_rows = None, {}, False
    for key, value in pairs:
        if key in _HEADERS and isinstance(value, list) and (header is None or key == _HEADERS[0]):
            header = value
            _check_cells(header, f"{path}: header")
            kept.add_header(header)
        elif key in _ROWS and not isinstance(value, (str, dict, float, bool, type(None))):
            if has_rows and key != _ROWS[0]:
                continue
            kept.rows.clear()
            has_rows = True
            rows = iter(value)
            first = next(rows, None)
            value = itertools.chain([] if first is None else [first], rows)
            if isinstance(first, dict):
                header = _keep_objects(value, kept, path)
                continue
            for number, row in enumerate(value, start=1):
                where = f"{path}: row {number}"
                if not isinstance(row, list):
                    raise InputError(f"{where} is not a list of cells")
                if header is not None:
                    _check_length(row, len(header), where)
                _check_cells(row, where)
                if not kept.add(row, f"row {number}"):
                    break
            if kept.exceeded and header is not None:
                break
        elif key in _ABOUT and value is not None:
            about[key] = str(value)
    if header is None or not has_rows:
        raise InputError(f"{path}: {_FORMS}")
    return header, about


def _check_length(row: list[Any], expected: int, where: str) -> None:
    """Raises InputError unless a row has `expected` values."""
    if len(row) != expected:
        raise InputError(f"{where} has {opening.counted(row)}, but the header has {expected}")


def _check_cells(row: list[Any], where: str) -> None:
    """Raises InputError unless all values are plain."""
    for column, value in enumerate(row, start=1):
        if isinstance(value, (dict, list)):
            kind = "an object" if isinstance(value, dict) else "a list"
            raise InputError(
                f"{where}, column {column} holds {kind}, not text, a number, true, false or null"
            )
