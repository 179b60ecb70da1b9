"""Refuses models in processes that were forked after a model was loaded.

A fork copies one thread only. TensorFlow's own threads are missing in the child, so that its first
computation would wait for them for ever.
"""

import os

from mate_tf.errors import InputError

_loaded: list[str] = []  # names of the models of this process, since its start or its fork
_before: list[str] = []  # names of those that were loaded before the fork


def _forget() -> None:
    """Runs in the child of a fork."""
    _before.extend(_loaded)
    _loaded.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def check(name: str) -> None:
    """Raises InputError if a model was loaded before this process was forked.

    Models cannot be loaded in such a process either: TensorFlow was used already.

    Args:
        name: the model that is to be loaded or asked.
    """
    if not _before:
        return
    which = name if name in _before else _before[0]
    raise InputError(
        f"{which}: was loaded before the process was forked; load it in each process, or start "
        "processes by spawn"
    )


def note(name: str) -> None:
    """Notes that a model is loaded in this process."""
    _loaded.append(name)
