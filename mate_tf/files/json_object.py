"""Reads files with one JSON object, such as configurations."""

import json
from typing import Any

from mate_tf.errors import InputError


def read_json_object(path: str, name: str | None = None, hint: str = "") -> dict[str, Any]:
    """Reads the object of a UTF-8 file.

    Args:
        path: the file.
        name: name of the file in errors, for example with its flag; by default the path.
        hint: end of the message for a file that cannot be read.

    Raises:
        InputError: if the file cannot be read, or is not JSON, or not an object.
    """
    name = name or path
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: cannot be read: {error}{hint}") from error
    if not isinstance(content, dict):
        raise InputError(f"{name}: expected a JSON object{hint}")
    return content
