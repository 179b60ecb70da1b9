"""Reads files with one JSON object on each line."""

import json
import os
from collections.abc import Iterator
from typing import Any

from mate_tf.errors import InputError


def read_json_lines(path: str | os.PathLike) -> Iterator[tuple[int, dict[str, Any]]]:
    """Reads the objects of a UTF-8 file in order, with one line in memory at a time.

    Byte order marks, Windows line ends and blank lines are skipped.

    Returns:
        iterator over pairs (number of the line, from 1; its object).

    Raises:
        InputError: if the file cannot be read, or a line is not UTF-8, not JSON (NaN and Infinity
            are not JSON) or not an object.
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
    """Decodes a line of UTF-8."""
    try:
        # Concatenated files have byte order marks in the middle too.
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not valid UTF-8 ({error.reason})") from None


def _parse(text: str, where: str) -> dict[str, Any]:
    """Parses one JSON object."""
    try:
        content = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not one JSON object on one line: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{where}: expected a JSON object, not {text.strip()[:40]!r}")
    return content


def _reject_constant(constant: str):
    """Raises ValueError for NaN, Infinity and -Infinity."""
    raise ValueError(f"{constant} is not JSON")
