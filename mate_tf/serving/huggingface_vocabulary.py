"""Vocabularies of Hugging Face's fast tokenizers as text files."""

import functools
import os
import tempfile

from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_object


def text_file(path: str) -> str:
    """Returns the path of a vocabulary with one piece a line.

    Args:
        path: such a file, or a tokenizer.json, of which one is written to a temporary folder that
            is there until the program ends.

    Raises:
        InputError: it is a tokenizer.json without a WordPiece vocabulary.
    """
    if not path.endswith(".json"):
        return path
    return os.path.join(_written(path, os.stat(path).st_mtime_ns).name, "vocab.txt")


@functools.cache
def _written(path: str, modified: int) -> tempfile.TemporaryDirectory:
    del modified  # a file that has changed is read again
    content = read_json_object(path)
    try:
        content = content["model"]
        ids = content["vocab"]
        pieces = sorted(ids, key=ids.get)
        usable = content["type"] == "WordPiece" and sorted(ids.values()) == [*range(len(ids))]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: has no vocabulary that can be read ({error!r})") from error
    if not usable:
        raise InputError(f"{path}: its vocabulary is not a WordPiece vocabulary with ids from 0 on")
    folder = tempfile.TemporaryDirectory(prefix="mate_tf_")
    with open(os.path.join(folder.name, "vocab.txt"), "w", encoding="utf-8") as file:
        file.writelines(f"{piece}\n" for piece in pieces)
    return folder
