"""Finds the last checkpoint of a training run, also if the file that names it is lost or damaged.

TensorFlow writes the name into the file `checkpoint`. Without this file it would begin at step 0,
next to good checkpoints, and later delete them.
"""

import os
import re

from absl import logging
from google.protobuf import text_encoding

from mate_tf.errors import InputError
from mate_tf.files import paths

_INDEX = re.compile(r"ckpt-\d+\.index")
_NAMED = re.compile(r'^model_checkpoint_path: "((?:[^"\\]|\\.)*)"$', re.MULTILINE)
"""A line of the file `checkpoint`, a CheckpointState as text."""


def latest(folder: str) -> str | None:
    """Returns the prefix of the last checkpoint in a folder, or None if there is none.

    If the file `checkpoint` does not name an existing one, it is the one with the largest step,
    and a warning says so.
    """
    named, stored = _named(folder), _stored(folder)
    if named or not stored:
        return named
    logging.warning(
        "%s names a checkpoint that does not exist; using %s, the last one in the folder",
        os.path.join(folder, "checkpoint"),
        os.path.basename(stored[-1]),
    )
    return stored[-1]


def repair(folder: str) -> None:
    """Lets the file `checkpoint` name the last checkpoint that can be read as a whole.

    Damaged ones are left behind, with a warning for each. Nothing is written if all is well.

    Args:
        folder: folder of a training run, which is to be resumed.

    Raises:
        InputError: if there are checkpoints, but none can be read; if TensorFlow would take the
            name of the folder for a pattern.
    """
    paths.check_no_pattern(folder, folder)
    named, stored = _named(folder), _stored(folder)
    if named:
        # Later ones were not finished, or are of another training.
        stored = [each for each in stored if _step(each) < _step(named)] + [named]
    good = next((each for each in reversed(stored) if _is_whole(each)), None)
    if good is None and stored:
        raise InputError(
            f"{folder}: its checkpoints cannot be read ({_names(stored)}); "
            "give another --model_dir to begin at step 0"
        )
    if good is None or good == named:
        return
    logging.warning("%s: continuing from %s", folder, os.path.basename(good))
    kept = [os.path.basename(each) for each in stored if _step(each) <= _step(good)]
    import tensorflow as tf

    tf.compat.v1.train.update_checkpoint_state(folder, os.path.basename(good), kept)


def _named(folder: str) -> str | None:
    """Returns the prefix that the file `checkpoint` names, if the checkpoint is there."""
    try:
        state = paths.read_bytes(os.path.join(folder, "checkpoint")).decode("utf-8")
        if (match := _NAMED.search(state)) is None:
            return None
        prefix = os.path.join(folder, text_encoding.CUnescape(match[1]).decode("utf-8"))
        files = {prefix, f"{prefix}.index"} & set(paths.beginning_with(prefix))
        return prefix if files else None
    except (OSError, ValueError):
        return None


def _stored(folder: str) -> list[str]:
    """Returns the prefixes of all checkpoints in a folder, by step."""
    names = filter(_INDEX.fullmatch, paths.names(folder))
    prefixes = [name.removesuffix(".index") for name in names]
    return sorted((os.path.join(folder, name) for name in prefixes), key=_step)


def _step(prefix: str) -> int:
    number = prefix.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _is_whole(prefix: str) -> bool:
    """Reads all tensors of a checkpoint, whose checksums TensorFlow compares."""
    import tensorflow as tf

    try:
        reader = tf.train.load_checkpoint(prefix)
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)
    # IndexError: a file ends too early.
    except (tf.errors.OpError, IndexError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        logging.warning("%s: is damaged and is not used: %s", prefix, reason)
        return False
    return True


def _names(prefixes) -> str:
    return ", ".join(map(os.path.basename, prefixes))
