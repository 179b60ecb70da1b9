"""Reads JSON."""

import json
from typing import Any

from mate_tf.errors import InputError


def parse_json(text: str, where: str) -> Any:
    """Parses JSON.

    Args:
        text: the text.
        where: name of its source, for messages.

    Raises:
        InputError: if it is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON: {error}") from None
