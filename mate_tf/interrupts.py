"""Saving at a signal: what a run still has to do before it ends. Does not import TensorFlow.

The main thread may be inside TensorFlow for minutes, where no signal interrupts it. Whoever has
work to save there is asked, from another thread, to come to an end.
"""

import contextlib
from collections.abc import Callable, Iterator

SECONDS = 25.0
"""Time to save. Schedulers kill a program 30 seconds after SIGTERM, most of them."""

_asked: list[Callable[[], bool]] = []


@contextlib.contextmanager
def saving(ask: Callable[[], bool]) -> Iterator[None]:
    """Has a function called when a signal arrives in this block, from another thread.

    Args:
        ask: lets the main thread come out of TensorFlow soon, where KeyboardInterrupt is raised.
            Returns True if there is something to save, so that this block gets the time to.
    """
    _asked.append(ask)
    try:
        yield
    finally:
        _asked.remove(ask)


def seconds() -> float:
    """Asks those who may have something to save; returns the time that they get, in seconds."""
    answers = [ask() for ask in _asked]  # each is asked
    return SECONDS if any(answers) else 0.0
