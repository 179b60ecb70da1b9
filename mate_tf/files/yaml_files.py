"""Reads YAML within limits of size and time. Does not import TensorFlow."""

import os
from typing import Any

import yaml

from mate_tf.errors import InputError
from mate_tf.files import paths

MAX_BYTES = 2**20
"""Largest file. PyYAML takes more than a second for it."""

MAX_VALUES = 100_000
"""Largest number of values, with those that aliases repeat."""

_INTEGER = "tag:yaml.org,2002:int"
_MAX_DIGITS = 1000  # Python does not print numbers of more than 4,300 digits


def read_yaml(path: str | os.PathLike, loader: type = yaml.SafeLoader) -> Any:
    """Reads the value of a UTF-8 file.

    Args:
        path: the file.
        loader: class of the loader.

    Raises:
        InputError: if it cannot be read, is larger than `MAX_BYTES`, or as for `parse_yaml`.
    """
    return parse_yaml(paths.read_text(path, MAX_BYTES, os.fspath(path)), os.fspath(path), loader)


def parse_yaml(text: str, source: str, loader: type = yaml.SafeLoader) -> Any:
    """Parses one YAML value.

    Args:
        text: the text.
        source: file or flag, for messages.
        loader: class of the loader.

    Raises:
        InputError: if it is not YAML, has a value that Python cannot have or an integer of more
            than 1,000 digits, contains itself by an alias, or has more than `MAX_VALUES` values.
    """
    if len(text) > MAX_BYTES:
        raise InputError(f"{source}: is longer than {MAX_BYTES:,} characters")
    try:
        reader = loader(text)
        node = reader.get_single_node()
        if node is None:
            return None
        if _size(node, {}, source) > MAX_VALUES:
            raise InputError(f"{source}: has more than {MAX_VALUES:,} values, counting aliases")
        return reader.construct_document(node)
    except InputError:
        raise
    # PyYAML lets pass what Python raises for numbers, dates and tags that only look like such.
    except (
        *(yaml.YAMLError, RecursionError, ValueError, ArithmeticError),
        *(LookupError, TypeError, AttributeError),
    ) as error:
        raise InputError(f"{source}: is not YAML: {error}") from error


def _size(node: yaml.Node, known: dict[int, int], source: str) -> int:
    """Returns the number of values of a node, each as often as aliases repeat it.

    Args:
        known: id of a node -> its number; 0 for those that this one is in.
    """
    size, line = known.get(id(node)), node.start_mark.line + 1
    if size == 0:
        raise InputError(f"{source}: line {line}: contains itself by an alias")
    if node.tag == _INTEGER and len(node.value) > _MAX_DIGITS:
        raise InputError(f"{source}: line {line}: a number of {len(node.value):,} characters")
    if size is None:
        known[id(node)] = 0
        parts = node.value if isinstance(node, yaml.CollectionNode) else ()
        if isinstance(node, yaml.MappingNode):
            parts = (each for pair in node.value for each in pair)
        size = known[id(node)] = 1 + sum(_size(part, known, source) for part in parts)
    return size
