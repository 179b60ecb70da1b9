"""Files with one JSON object on each line."""

import json
import os
from collections.abc import Iterator
from typing import Any

from mate_tf.errors import InputError


def read_json_lines(path: str | os.PathLike) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a UTF-8 file in its order, one line in memory at a time.

    A byte order mark, Windows' line ends and blank lines do no harm.

    Returns:
        iterator over pairs: the number of the line, from 1, and its object.

    Raises:
        InputError: the file cannot be read, or a line is not UTF-8, not JSON (NaN and Infinity
            are not) or not an object.
    """
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                where = f"{path} line {number}"
                text = _decode(line, where)
                if text.strip():
                    yield number, _parse(text, where)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error


def _decode(line: bytes, where: str) -> str:
    try:
        # Files that were put together have byte order marks in the middle as well.
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not valid UTF-8 ({error.reason})") from None


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        content = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not one JSON object on one line: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{where}: expected a JSON object, not {text.strip()[:40]!r}")
    return content


def _refuse(constant: str):
    raise ValueError(f"{constant} is not JSON")
