"""Files of texts that a model has written: JSON lines with question_id, text and score."""

import json
import os
from collections.abc import Iterable

from mate_tf.errors import InputError
from mate_tf.evaluation.predictions import Prediction
from mate_tf.files.atomic import write_text
from mate_tf.files.json_files import read_json_lines

_KEYS = ("question_id", "text", "score")


def write(predictions: Iterable[Prediction], path: str | os.PathLike) -> None:
    """Writes predictions with one text each, one on a line."""
    rows = ((each.question_id, " ".join(each.texts), each.score) for each in predictions)
    lines = (json.dumps(dict(zip(_KEYS, row, strict=True)), ensure_ascii=False) for row in rows)
    write_text(path, "".join(f"{line}\n" for line in lines))


def read(path: str | os.PathLike) -> list[Prediction]:
    """Reads predictions from a file of `write`.

    Raises:
        InputError: if the file cannot be read; the message names the line and the key.
    """
    texts = []
    for number, line in read_json_lines(path):
        missing = [key for key in _KEYS if key not in line]
        if missing:
            raise InputError(f"{path} line {number}: has no {missing[0]!r}")
        name, text, score = (line[key] for key in _KEYS)
        texts.append(Prediction(name, (), texts=(text,), score=score))
    return texts
