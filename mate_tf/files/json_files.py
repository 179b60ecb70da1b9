"""Reads JSON: texts, files with one value, and files with one object on each line."""

import json
import os
from collections.abc import Iterator
from typing import Any

from mate_tf.errors import InputError
from mate_tf.files import paths


def parse_json(text: str | bytes, where: str) -> Any:
    """Parses one JSON value. NaN and Infinity are not JSON.

    Args:
        text: the text.
        where: name of its source, for messages.

    Raises:
        InputError: if it is not JSON, is nested too deeply, or has a number of too many digits.
    """
    try:
        return json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON: {error}") from None


def read_json(path: str | os.PathLike, name: str | None = None) -> Any:
    """Reads the value of a UTF-8 file.

    Args:
        path: the file.
        name: name of the file in messages, for example with its flag; by default the path.

    Raises:
        InputError: if the file cannot be read, or is not JSON.
    """
    name = name or os.fspath(path)
    try:
        with paths.open_regular(path) as file:
            content = file.read()
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from error
    return parse_json(_decode(content, name), name)


def read_json_object(path: str | os.PathLike, name: str | None = None) -> dict[str, Any]:
    """Reads the object of a UTF-8 file; arguments and errors as for `read_json`."""
    return _object(read_json(path, name), name or os.fspath(path))


def read_json_lines(path: str | os.PathLike) -> Iterator[tuple[int, dict[str, Any]]]:
    """Reads the objects of a UTF-8 file in order, with one line in memory at a time.

    Byte order marks, Windows line ends and blank lines are skipped.

    Returns:
        iterator over pairs (number of the line, from 1; its object).

    Raises:
        InputError: if the file cannot be read, or a line is not UTF-8, not JSON or not an object.
    """
    try:
        with paths.open_regular(path) as file:
            for number, line in enumerate(file, start=1):
                where = f"{path} line {number}"
                text = _decode(line, where)
                if text.strip():
                    yield number, _object(parse_json(text, where), where)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _decode(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")  # files that were joined have marks in the middle, too
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not valid UTF-8 ({error.reason})") from None


def _object(content: Any, where: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise InputError(f"{where}: expected a JSON object, not {json.dumps(content)[:40]}")
    return content


def _reject_constant(constant: str):
    raise ValueError(f"{constant} is not JSON")
