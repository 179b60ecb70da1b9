"""Classes of the user's own data, by declared names or by the labels in the training file."""

import json
import pathlib
from collections.abc import Mapping

from mate_tf.data.datasets.custom.lines import Line, shown
from mate_tf.errors import InputError
from mate_tf.tables.files import read_text

LABELS_FILE = "labels.json"


def declared(input_dir: pathlib.Path) -> tuple[str, ...]:
    """Reads the names in `labels.json`; returns () if there is no such file.

    Raises:
        InputError: if the file is not a list of at least two distinct names.
    """
    path = input_dir / LABELS_FILE
    if not path.exists():
        return ()
    text = read_text(path)
    try:
        names = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {error}") from None
    if not isinstance(names, list) or not all(
        isinstance(name, str) and name.strip() for name in names
    ):
        raise InputError(f"{path}: expected a list of names")
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"{path}: expected two names or more, all different")
    return tuple(names)


def found(first_seen: Mapping[int | str, str], path: pathlib.Path) -> tuple[str, ...]:
    """Returns the names of the labels in a file; a number is its own name.

    Args:
        first_seen: label -> file and line of its first occurrence. All are numbers or all are
            names.
        path: the file.

    Raises:
        InputError: if all questions have the same label, or there are gaps between the numbers.
    """
    labels = sorted(first_seen)
    if len(labels) < 2:
        raise InputError(f"{path}: class: all are {shown(labels[0])}; there is nothing to learn")
    if isinstance(labels[0], int):
        for index, label in enumerate(labels):
            if label != index:
                raise InputError(
                    f"{first_seen[label]}: class: {label} is there but {index} is not; classes"
                    f" count from 0 without gaps, unless {LABELS_FILE} names them"
                )
    return tuple(map(str, labels))


def class_index(line: Line, labels: tuple[str, ...]) -> int:
    """Returns the class of a line, from 0.

    Raises:
        InputError: if the label is unknown.
    """
    if isinstance(line.answer, str) and line.answer in labels:
        return labels.index(line.answer)
    if isinstance(line.answer, int) and line.answer < len(labels):
        return line.answer
    raise InputError(
        f"{line.where}: class: {shown(line.answer)} is none of the {len(labels)} labels"
        f" {', '.join(labels[:10])}{', …' if len(labels) > 10 else ''}"
    )
