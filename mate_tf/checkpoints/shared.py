"""Weights that a file has in common with that of another preset, and leaves to it.

Presets that were trained with frozen word embeddings have the same table of them, which is more
than half of a small model. The header of such a file names the other preset, whose folder is next
to that of the file or one level above, and the tensors that are there.

Does not import TensorFlow.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from mate_tf.errors import InputError

PRESET, NAMES = "shares_with", "shared"
"""Entries of the header's __metadata__: name of the other preset; names of the tensors that are in
its file, separated by spaces."""

_NAME = re.compile(r"[\w-]+")
_LEVELS = 2

Tensor = TypeVar("Tensor")


def add(
    path: str,
    metadata: Mapping[str, str],
    tensors: dict[str, Tensor],
    read: Callable[[str], tuple[dict[str, Tensor], Any]],
) -> dict[str, Tensor]:
    """Returns the tensors of a file with those that it shares.

    Args:
        path: the file.
        metadata: the __metadata__ of its header.
        tensors: name -> tensor in it.
        read: function that returns the tensors of another file, and something else.

    Raises:
        InputError: the other file is not there, or lacks a tensor.
    """
    if PRESET not in metadata:
        return tensors
    other = other_file(path, metadata[PRESET])
    there, _ = read(other)
    names = metadata.get(NAMES, "").split()
    for name in names:
        if name not in there:
            raise InputError(f"{other}: lacks {name}, which {path} shares with it")
    return {name: there[name] for name in names} | tensors


def other_file(path: str, name: str) -> str:
    """Returns the path of the file of a preset with which a file shares weights.

    Args:
        path: the file.
        name: name of the preset.

    Raises:
        InputError: there is no such file.
    """
    folder = os.path.dirname(os.path.abspath(path.removeprefix("file://")))
    for _ in range(_LEVELS if _NAME.fullmatch(name) else 0):
        folder = os.path.dirname(folder)
        other = os.path.join(folder, name, os.path.basename(path))
        if os.path.isfile(other):
            return other
    raise InputError(
        f"{path}: shares weights with the preset {name!r}, whose folder is not next to its own; "
        "Predictor.save_preset writes a folder with all weights"
    )


def metadata(content: bytes) -> dict[str, str]:
    """Returns the __metadata__ of a safetensors file that is known to be whole."""
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]).get("__metadata__") or {}
